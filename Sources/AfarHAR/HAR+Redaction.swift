import AfarTransport
public import Foundation

extension HAR {
    /// The secrets that are removed from an archive.
    ///
    /// Text values become `***` and JSON numbers become 0. Other JSON values reveal nothing and stay unchanged.
    public struct Redaction: Sendable {
        /// Removes nothing.
        public static let none = Redaction(hidesCredentials: false)

        /// Removes credentials that are recognized by their names.
        ///
        /// This redaction removes the values of cookies and of header fields such as `Authorization` and `X-Api-Key`. It also
        /// removes user names and passwords in URLs. In URLs and bodies, it removes the values of names such as `access_token`
        /// and `password`, including all nested values. The names can belong to parameters, multipart parts, JSON keys, XML
        /// elements or XML attributes. Other text has no names, so it stays unchanged.
        public static let secrets = secrets()

        /// Returns a redaction that removes credentials and values with additional names. Names are case-insensitive.
        ///
        /// - Parameters:
        ///   - names: The names of additional header fields, parameters, parts and keys.
        ///   - harmless: The names of parameters, parts and keys whose values are kept. Use this for names that only resemble
        ///     those of credentials, such as `pageToken`.
        public static func secrets(and names: Set<String> = [], except harmless: Set<String> = []) -> Redaction {
            Redaction(names: names, harmless: harmless)
        }

        /// Whether credentials are removed by their names.
        private let hidesCredentials: Bool
        private let names: Set<String>
        private let harmless: Set<String>
        private let texts: AfarTransport.Redaction

        private init(hidesCredentials: Bool = true, names: Set<String> = [], harmless: Set<String> = []) {
            self.hidesCredentials = hidesCredentials
            self.names = Set(names.map { $0.lowercased() })
            self.harmless = Set(harmless.map { $0.lowercased() })
            texts = AfarTransport.Redaction(showsSecrets: !hidesCredentials, sensitiveHeaders: names)
        }
    }
}

extension HAR.Redaction {
    /// Returns a redaction that also removes values with these names.
    func adding(_ names: Set<String>) -> HAR.Redaction {
        HAR.Redaction(hidesCredentials: hidesCredentials, names: self.names.union(names), harmless: harmless)
    }

    /// Whether this is ``none``.
    var hidesNothing: Bool { !hidesCredentials && names.isEmpty }

    func redacted(_ entry: HAR.Entry) -> HAR.Entry {
        guard !hidesNothing else { return entry }
        var entry = entry
        entry.request.url = url(entry.request.url)
        entry.request.headers = entry.request.headers.map(redacted)
        entry.request.body = entry.request.body.map(redacted)
        entry.response.headers = entry.response.headers.map(redacted)
        entry.response.content = redacted(entry.response.content)
        return entry
    }

    func url(_ url: String) -> String {
        guard !hidesNothing else { return url }
        let redacted = texts.url(url)
        guard !names.isEmpty || !harmless.isEmpty, let question = redacted.firstIndex(of: "?") else { return redacted }
        let written = url.drop { $0 != "?" }.dropFirst().split(separator: "&", omittingEmptySubsequences: false)
        var parameters = redacted[question...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
        for (index, parameter) in written.enumerated() where written.count == parameters.count {
            if harmless.contains(Self.name(of: parameter).lowercased()) { parameters[index] = parameter }
        }
        return redacted[...question]
            + parameters.map { hidden($0) { names.contains($0.lowercased()) } }.joined(separator: "&")
    }

    /// Removes the secrets from a URL-encoded form, a multipart form, JSON or XML. Other bodies stay unchanged.
    ///
    /// - Parameters:
    ///   - data: The body, after content decoding.
    ///   - type: The value of `Content-Type`, or an empty string. If it is empty or `text/plain`, JSON and XML are recognized by
    ///     their first character.
    public func body(_ data: Data, type: String) -> Data {
        guard !hidesNothing, !data.isEmpty else { return data }
        if let boundary = MultipartBoundary(type) {
            return boundary.changed(data) { head, content in
                let field = { (name: String) in Self.field(name, in: head) }
                let name = field("content-disposition")?.firstMatch(of: /[; ]name=(?:"([^"]*)"|([^;\s]*))/)
                return isSecret(String(name?.1 ?? name?.2 ?? ""))
                    ? Data("***".utf8) : body(content, type: field("content-type") ?? "")
            }
        }
        let type = type.lowercased()
        let isUnspecified = type.isEmpty || type.hasPrefix("text/plain")
        let first = data.first { $0 > 0x20 }
        if type.contains("json") || type.hasPrefix("text/event-stream")
            || (isUnspecified && (first == UInt8(ascii: "{") || first == UInt8(ascii: "[")))
        {
            return JSONRedaction.redacted(data, hiding: isSecret)
        }
        if type.contains("xml") || (isUnspecified && first == UInt8(ascii: "<")) {
            return XMLRedaction.redacted(data, hiding: isSecret)
        }
        guard type.hasPrefix("application/x-www-form-urlencoded") else { return data }
        let parameters = String(decoding: data, as: UTF8.self).split(separator: "&", omittingEmptySubsequences: false)
        return Data(parameters.map { hidden($0, isSecretParameter) }.joined(separator: "&").utf8)
    }

    private func isSecret(_ name: String) -> Bool {
        let folded = name.lowercased()
        guard !names.contains(folded) else { return true }
        return hidesCredentials && !harmless.contains(folded) && AfarTransport.Redaction.isSensitive(name)
    }

    private func isSecretParameter(_ name: String) -> Bool {
        let isSensitive = hidesCredentials && !harmless.contains(name.lowercased())
        return isSecret(name) || isSensitive && AfarTransport.Redaction.isSensitiveParameter(name)
    }

    private func hidden(_ parameter: Substring, _ isSecret: (String) -> Bool) -> String {
        guard let sign = parameter.firstIndex(of: "="), isSecret(Self.name(of: parameter)) else {
            return String(parameter)
        }
        return "\(parameter[...sign])***"
    }

    private static func name(of parameter: Substring) -> String {
        let name = parameter.prefix { $0 != "=" }
        return name.removingPercentEncoding ?? String(name)
    }

    private static func field(_ name: String, in head: String) -> String? {
        let line = head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix(name + ":") }
        return line.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }

    private func redacted(_ field: HAR.Field) -> HAR.Field {
        switch field.name.lowercased() {
        case "cookie":
            let pairs = field.value.split(separator: ";").map(Self.cookie)
            return HAR.Field(name: field.name, value: pairs.joined(separator: ";"))
        case "set-cookie":
            let pair = field.value.prefix { $0 != ";" }
            return HAR.Field(name: field.name, value: Self.cookie(pair) + field.value.dropFirst(pair.count))
        default:
            return HAR.Field(name: field.name, value: texts.value(field.value, of: field.name))
        }
    }

    private func redacted(_ content: HAR.Content) -> HAR.Content {
        guard let data = content.data else { return content }
        let hidden = body(data, type: content.mimeType)
        return hidden == data ? content : HAR.Content(mimeType: content.mimeType, data: hidden)
    }

    private static func cookie(_ pair: Substring) -> String {
        pair.firstIndex(of: "=").map { "\(pair[...$0])***" } ?? "***"
    }
}

/// The boundary of a multipart body (RFC 2046, section 5.1.1). It differs for each request.
struct MultipartBoundary {
    private let text: Data

    /// Returns `nil` if the media type has no boundary.
    init?(_ type: String) {
        guard type.lowercased().hasPrefix("multipart/"),
            let range = type.range(of: "boundary=", options: .caseInsensitive)
        else { return nil }
        let value = type[range.upperBound...].prefix { $0 != ";" }.trimmingCharacters(in: [" ", "\""])
        guard !value.isEmpty else { return nil }
        text = Data(value.utf8)
    }

    func removed(from body: Data) -> Data { pieces(of: body).reduce(into: Data()) { $0 += $1 } }

    /// Returns the body with each part's content changed. The boundaries and part headers stay the same.
    func changed(_ body: Data, part: (_ head: String, _ content: Data) -> Data) -> Data {
        let end = Data("\r\n--".utf8)
        let pieces = pieces(of: body).map { piece -> Data in
            guard piece.starts(with: "\r\n".utf8), let head = piece.range(of: Data("\r\n\r\n".utf8)) else {
                return piece
            }
            let isTerminated = piece.suffix(end.count) == end
            let content = piece[head.upperBound...].dropLast(isTerminated ? end.count : 0)
            let changed = part(String(decoding: piece[..<head.lowerBound], as: UTF8.self), content)
            return piece[..<head.upperBound] + changed + (isTerminated ? end : Data())
        }
        return Data(pieces.joined(separator: text))
    }

    private func pieces(of body: Data) -> [Data] {
        var rest = body[...]
        var pieces: [Data] = []
        while let range = rest.range(of: text) {
            pieces.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return pieces + [rest]
    }
}

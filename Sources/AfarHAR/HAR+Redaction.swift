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
        /// and `password`, including all nested values. The names can belong to parameters, multipart parts, JSON keys, or
        /// elements and attributes of XML and HTML. Other text has no names, so it stays unchanged. `***` replaces multipart
        /// bodies that can't be split into parts, and text whose encoding is invalid.
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

    /// The bytes that replace a secret.
    static let mask = Data("***".utf8)

    /// Removes the secrets from a URL-encoded form, a multipart form, JSON, XML or HTML. Other bodies stay unchanged.
    ///
    /// If a multipart body can't be split into parts, or if the encoding of a text is invalid, `***` replaces the entire body.
    ///
    /// - Parameters:
    ///   - data: The body, after content decoding.
    ///   - type: The value of `Content-Type`, or an empty string. If it is empty or `text/plain`, JSON, XML and HTML are recognized
    ///     by their first character.
    public func body(_ data: Data, type: String) -> Data { body(data, type: type, depth: 0) }

    /// The highest number of multipart bodies around a body that isn't hidden entirely.
    private static let maximumDepth = 8

    private func body(_ data: Data, type: String, depth: Int) -> Data {
        guard !hidesNothing, !data.isEmpty else { return data }
        if Self.isMultipart(type) {
            guard depth < Self.maximumDepth, let boundary = MultipartBoundary(type) else { return hidden(data) }
            let isForm = type.lowercased().contains("form-data")
            var hasSecretField = false
            let changed = boundary.changed(data, around: hidden) { head, content in
                let head = MultipartHead(head)
                if head.fieldNames.contains(where: isSecret) { hasSecretField = true }
                if head.names.contains(where: isSecret) { return Self.mask }
                let isReadable = head.isReadable && !(isForm && head.names.isEmpty)
                return isReadable ? body(content, type: head.type, depth: depth + 1) : hidden(content)
            }
            return hasSecretField ? hidden(data) : changed ?? hidden(data)
        }
        let type = type.lowercased()
        guard let format = TextFormat(type: type) else { return data }
        guard TextFormat.isReadable(type) else { return hidden(data) }
        if let text = WideText(data, format) { return text.changed { redacted($0, format) } ?? hidden(data) }
        return redacted(data, format)
    }

    /// Returns the replacement for a body in which secrets can't be hidden individually.
    private func hidden(_ data: Data) -> Data { hidesCredentials ? Self.mask : data }

    static func isMultipart(_ type: String) -> Bool {
        type.trimmingCharacters(in: .whitespaces).lowercased().hasPrefix("multipart/")
    }

    private func redacted(_ text: Data, _ format: TextFormat) -> Data {
        switch format.resolved(for: text) {
        case .json: return JSONRedaction.redacted(text, hiding: isSecret)
        case .xml: return XMLRedaction.redacted(text, hiding: isSecret)
        case .html: return XMLRedaction.redacted(text, isHTML: true, hiding: isSecret)
        case .form:
            // Other text can have the type of a form by mistake.
            let parameters = String(decoding: redacted(text, .unspecified), as: UTF8.self).split(
                separator: "&", omittingEmptySubsequences: false)
            return Data(parameters.map { hidden($0, isSecretParameter) }.joined(separator: "&").utf8)
        case .unspecified: return text
        }
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

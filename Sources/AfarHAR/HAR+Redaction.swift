import AfarTransport
import Foundation

extension HAR {
    /// What is hidden behind `***` in an archive.
    public struct Redaction: Sendable {
        /// Nothing.
        public static let none = Redaction(names: nil)

        /// Credentials wherever their names tell them: the values of `Authorization`, `X-Api-Key` and other header fields,
        /// cookies' values, parameters of URLs and forms (`access_token`, `password`), such keys of JSON, user names and
        /// passwords in URLs.
        public static let secrets = secrets()

        /// The same, and the header fields, form fields and keys of JSON with these names. Case does not matter.
        public static func secrets(and names: Set<String> = []) -> Redaction {
            Redaction(names: names)
        }

        /// Nil when nothing is hidden.
        private let names: SensitiveHeaders?
        private let texts: AfarTransport.Redaction

        private init(names: Set<String>?) {
            self.names = names.map(SensitiveHeaders.init)
            texts = AfarTransport.Redaction(showsSecrets: names == nil, sensitiveHeaders: names ?? [])
        }
    }
}

extension HAR.Redaction {
    func redacted(_ entry: HAR.Entry) -> HAR.Entry {
        guard names != nil else { return entry }
        var entry = entry
        entry.request.url = url(entry.request.url)
        entry.request.headers = entry.request.headers.map(redacted)
        entry.request.body = entry.request.body.map(redacted)
        entry.response.headers = entry.response.headers.map(redacted)
        entry.response.content = redacted(entry.response.content)
        return entry
    }

    func url(_ url: String) -> String { texts.url(url) }

    func body(_ data: Data, type: String) -> Data {
        guard let names, !data.isEmpty else { return data }
        let type = type.lowercased()
        if type.contains("json") { return Self.json(data, hiding: names.contains) ?? data }
        guard type.hasPrefix("application/x-www-form-urlencoded") else { return data }
        let parameters = String(decoding: data, as: UTF8.self).split(separator: "&", omittingEmptySubsequences: false)
        return Data(
            parameters.map { parameter in
                let name = parameter.prefix { $0 != "=" }
                let isSecret = names.contains(name.removingPercentEncoding ?? String(name))
                return isSecret && name != parameter ? "\(name)=***" : String(parameter)
            }.joined(separator: "&").utf8)
    }

    private func redacted(_ field: HAR.Field) -> HAR.Field {
        let name = field.name.lowercased()
        switch name {
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

    /// JSON with its secrets hidden; nil when there are none, or it is no JSON.
    private static func json(_ data: Data, hiding isSecret: (String) -> Bool) -> Data? {
        guard let value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) else { return nil }
        var hasSecrets = false
        func hide(_ value: Any) -> Any {
            if let list = value as? [Any] { return list.map(hide) }
            guard let object = value as? [String: Any] else { return value }
            return Dictionary(
                uniqueKeysWithValues: object.map { key, value -> (String, Any) in
                    guard isSecret(key), !(value is [Any]), !(value is [String: Any]) else { return (key, hide(value)) }
                    hasSecrets = true
                    return (key, "***")
                })
        }
        let hidden = hide(value)
        guard hasSecrets else { return nil }
        return try? JSONSerialization.data(
            withJSONObject: hidden, options: [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
    }
}

import Afar
import Foundation

/// A header from the command line or from a session.
struct HeaderArgument: Equatable {
    /// What is sent.
    enum Content: Equatable {
        case text(String)
        /// The header without a value.
        case empty
        /// Nothing, not even the default header with this name.
        case removed
    }

    var name: String
    var content: Content

    init(name: String, content: Content) { (self.name, self.content) = (name, content) }

    /// Creates a header with a text, or a removed header if the text is blank.
    init(name: String, text: String) {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        self.init(name: name, content: text.isEmpty ? .removed : .text(text))
    }

    /// Parses "Name: value", "Name:" for a removed header, or "Name;" for an empty one.
    init(_ text: String) throws {
        if !text.contains(":"), text.last == ";", text.count > 1 {
            self.init(name: String(text.dropLast()), content: .empty)
            return
        }
        guard !MisplacedWords.isURL(text) else {
            throw Failure(
                .usage, "-H requires 'Name: value', not \"\(text)\".\(MisplacedWords.advice(for: text, option: "-H"))")
        }
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            // The message omits the value, which can be a secret.
            let name = text.prefix { $0.isLetter || $0.isNumber || "-_".contains($0) }
            throw Failure(.usage, "-H requires 'Name: value'\(name.isEmpty ? "" : ", as in '\(name): …'").")
        }
        self.init(
            name: text[..<colon].trimmingCharacters(in: .whitespaces), text: String(text[text.index(after: colon)...]))
    }

    /// Creates a header that a session contains.
    init(storedName name: String, value: String) {
        self.init(name: name, content: value.allSatisfy(\.isWhitespace) ? .empty : .text(value))
    }

    /// The value that is sent; nil if the header is removed.
    var value: String? {
        switch content {
        case .text(let text): text
        case .empty: ""
        case .removed: nil
        }
    }
}

extension [HeaderArgument] {
    /// Returns these headers followed by the others. Omits headers of this array whose names the others contain.
    func replaced(by others: [HeaderArgument]) -> [HeaderArgument] {
        let names = Set(others.map { $0.name.lowercased() })
        return filter { !names.contains($0.name.lowercased()) } + others
    }
}

extension HTTPHeaders {
    /// The fields that aren't lists, from RFC 9110, 9111, 6265, 6454 and the Fetch standard. Their values can't be joined.
    private static let singletons: Set = [
        "access-control-request-method", "age", "authorization", "content-disposition", "content-length",
        "content-location", "content-range", "content-type", "date", "etag", "expires", "from", "host",
        "if-modified-since", "if-range", "if-unmodified-since", "last-modified", "location", "max-forwards", "origin",
        "proxy-authorization", "range", "referer", "retry-after", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site",
        "sec-fetch-user", "sec-websocket-key", "sec-websocket-version", "server", "soapaction",
        "upgrade-insecure-requests", "user-agent",
    ]

    /// Combines headers with the same name.
    ///
    /// The values of a list are joined (RFC 9110, section 5.3; for cookies RFC 6265, section 5.4). For a field with a single value, the
    /// last value is sent.
    ///
    /// - Returns: The headers, and the names of headers that are removed and not added again.
    static func combining(_ fields: [HeaderArgument]) -> (HTTPHeaders, removed: [String]) {
        var headers = HTTPHeaders()
        for field in fields {
            guard let value = field.value else { continue }
            let name = field.name.lowercased()
            if let other = headers[field.name], !other.isEmpty, !singletons.contains(name) {
                guard !value.isEmpty else { continue }
                headers.add(name: field.name, value: other + (name == "cookie" ? "; " : ", ") + value)
            } else {
                headers.add(name: field.name, value: value)
            }
        }
        let removed = fields.filter { $0.content == .removed && headers[$0.name] == nil }.map(\.name)
        return (headers, removed)
    }
}

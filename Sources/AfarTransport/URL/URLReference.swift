public import Foundation

extension URL {
    /// The percent-encoded fragment, without `#`; nil if the URL has no fragment.
    package var fragmentAsWritten: String? {
        let text = absoluteString
        guard !text.allBytes({ $0 != UInt8(ascii: "#") }) else { return nil }
        return text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[text.utf8.index(after: $0)...]) }
    }
}

/// A URL or a relative reference, split into its components (RFC 3986, section 4.1 and appendix B).
///
/// Turning text into a `URL` takes two steps. First, this type percent-encodes spaces, control characters, backslashes and non-ASCII
/// characters, which are invalid in any request. RFC 3986 also forbids other characters (`[`, `|`, `"` …), but servers accept them
/// unencoded, and some servers compare or sign the unencoded form. The second step encodes these characters only for Foundation's `URL`,
/// which can't hold them.
package struct URLReference: Sendable {
    package var scheme: Substring?
    package var authority: Substring?
    package var path: Substring
    package var query: Substring?
    package var fragment: Substring?

    /// Splits text into its components, and percent-encodes the characters that are invalid in any request. The authority stays
    /// unchanged, because it either names a host as written or is invalid.
    package init(_ text: String) {
        self.init(asWritten: text)
        path = Self.escaped(path)
        query = query.map(Self.escaped)
        fragment = fragment.map(Self.escaped)
    }

    /// Splits text into its components without encoding anything.
    package init(asWritten text: String) {
        var rest = text[...]
        if let hash = rest.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[rest.utf8.index(after: hash)...]
            rest = rest[..<hash]
        }
        if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[rest.utf8.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let colon = rest.utf8.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }),
            rest.utf8[colon] == UInt8(ascii: ":"), Self.isScheme(rest[..<colon])
        {
            scheme = rest[..<colon]
            rest = rest[rest.utf8.index(after: colon)...]
        }
        if rest.utf8.starts(with: "//".utf8) {
            rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
            let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[..<slash]
            rest = rest[slash...]
        }
        path = rest
    }

    /// Resolves this reference against a base URL (RFC 3986, section 5.2.2).
    package func resolved(against base: URLReference) -> URLReference {
        var target = self
        if scheme != nil {
            target.path = Self.withoutDots(path)
            return target
        }
        target.scheme = base.scheme
        if authority != nil {
            target.path = Self.withoutDots(path)
            return target
        }
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else if path.hasPrefix("/") {
            target.path = Self.withoutDots(path)
        } else {
            let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? "/"
            target.path = Self.withoutDots(folder + path)
        }
        return target
    }

    /// The components joined into text (RFC 3986, section 5.3).
    package var text: String {
        var text = ""
        if let scheme { text += "\(scheme):" }
        if let authority { text += "//\(authority)" }
        text += path
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }

    /// The path and query in the form that a request uses (RFC 9112, section 3.2.1).
    var target: String { (path.isEmpty ? "/" : path) + (query.map { "?\($0)" } ?? "") }

    /// Removes dot segments (RFC 3986, section 5.2.4).
    private static func withoutDots(_ path: Substring) -> Substring {
        guard path.contains(".") else { return path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        for (number, segment) in segments.enumerated() {
            let isLast = number == segments.count - 1
            // Never remove the first segment, which is the empty text before the leading slash.
            if segment == "..", kept.count > 1 { kept.removeLast() }
            if segment != ".", segment != ".." { kept.append(segment) } else if isLast { kept.append("") }
        }
        return kept.joined(separator: "/")[...]
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, first.isLetter else { return false }
        return text.utf8.allSatisfy { byte in
            byte.isLetter || byte.isDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".")
        }
    }

    /// Percent-encodes non-ASCII characters, spaces, control characters and backslashes, and each `%` that doesn't begin an
    /// escape.
    private static func escaped(_ text: Substring) -> Substring {
        percentEncoded(text) { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
    }

    /// Percent-encodes all bytes for which the predicate returns false, and each `%` that doesn't begin an escape.
    fileprivate static func percentEncoded(_ text: Substring, except isAllowed: (UInt8) -> Bool) -> Substring {
        let bytes = text.utf8
        guard !bytes.allSatisfy({ isAllowed($0) && $0 != UInt8(ascii: "%") }) else { return text }
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for index in bytes.indices {
            let byte = bytes[index]
            let isEscape = byte == UInt8(ascii: "%") && bytes[index...].dropFirst().prefix { $0.isHexDigit }.count >= 2
            if isEscape || byte != UInt8(ascii: "%") && isAllowed(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)[...]
    }
}

extension URL {
    /// Creates a `URL` from text and keeps the text's escapes.
    ///
    /// If `URL(string:)` finds a character that it must percent-encode, it also encodes the `%` of each escape. This initializer prevents
    /// that by encoding these characters first. Returns nil if the text isn't a valid URL.
    public init?(keepingEscapesOf text: String) {
        if let url = URL(string: text, encodingInvalidCharacters: false) {
            self = url
        } else {
            self.init(URLReference(text))
        }
    }

    /// Creates a `URL` from a reference, which can be relative, and keeps its escapes (RFC 3986, section 5.2). The `URL` has no
    /// `baseURL`. Returns nil if the result isn't a valid URL.
    public init?(keepingEscapesOf reference: String, relativeTo base: URL) {
        self.init(URLReference(reference).resolved(against: URLReference(asWritten: base.absoluteString)))
    }

    /// Creates a `URL` from a reference. Returns nil if its authority is invalid.
    package init?(_ reference: URLReference) {
        var reference = reference
        if let authority = reference.authority, let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            reference.authority = authority[..<at].encodedForURL + authority[at...]
        }
        reference.path = reference.path.encodedForURL
        reference.query = reference.query?.encodedForURL
        reference.fragment = reference.fragment?.encodedForURL
        self.init(string: reference.text)
    }
}

extension Substring {
    /// The text after percent-encoding all characters that a component of a `URL` can't hold.
    var encodedForURL: Substring { URLReference.percentEncoded(self) { $0.isValidInURL } }
}

extension UInt8 {
    /// Whether the byte is valid in a path, query or fragment (RFC 3986, appendix A).
    fileprivate var isValidInURL: Bool {
        isLetter || isDigit || "-._~!$&'()*+,;=:@/?%".utf8.contains(self)
    }
}

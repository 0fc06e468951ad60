package import Foundation

extension URL {
    /// The fragment, percent-encoded, without `#`; nil for a URL without one.
    package var fragmentAsWritten: String? {
        let text = absoluteString
        return text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[text.utf8.index(after: $0)...]) }
    }
}

/// A URL, or a part of one that is to be completed, taken to pieces (RFC 3986, section 4.1 and appendix B).
///
/// Between a text and a `URL` there are two steps. Blanks, control characters, backslashes and characters beyond ASCII can be
/// in no request and are percent-encoded here. Servers take the others of RFC 3986's forbidden characters (`[`, `|`, `"` …)
/// as they are, and some compare or sign them that way. Only Foundation's `URL` cannot hold them.
package struct URLReference: Sendable {
    package var scheme: Substring?
    package var authority: Substring?
    package var path: Substring
    package var query: Substring?
    package var fragment: Substring?

    /// Takes a text to pieces. What can be in no request is percent-encoded in them. The authority stays as it is: it says
    /// itself which host it names, or none.
    package init(_ text: String) {
        self.init(asWritten: text)
        path = Self.escaped(path)
        query = query.map(Self.escaped)
        fragment = fragment.map(Self.escaped)
    }

    /// Takes a text to pieces as it is written.
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

    /// The URL that this means at a place (RFC 3986, section 5.2.2).
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

    /// The pieces put together again (RFC 3986, section 5.3).
    package var text: String {
        var text = ""
        if let scheme { text += "\(scheme):" }
        if let authority { text += "//\(authority)" }
        text += path
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }

    /// Path and query as a request has them (RFC 9112, section 3.2.1).
    var target: String { (path.isEmpty ? "/" : path) + (query.map { "?\($0)" } ?? "") }

    /// RFC 3986, section 5.2.4.
    private static func withoutDots(_ path: Substring) -> Substring {
        guard path.contains(".") else { return path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        for (number, segment) in segments.enumerated() {
            let isLast = number == segments.count - 1
            // The first is what stands before the slash that the path begins with.
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

    /// ASCII without spaces, control characters and backslashes, and with no `%` that begins nothing.
    private static func escaped(_ text: Substring) -> Substring {
        percentEncoded(text) { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
    }

    /// A text with all bytes percent-encoded that may not stay, and each `%` that begins no escape.
    fileprivate static func percentEncoded(_ text: Substring, except mayStay: (UInt8) -> Bool) -> Substring {
        let bytes = text.utf8
        guard !bytes.allSatisfy({ mayStay($0) && $0 != UInt8(ascii: "%") }) else { return text }
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for index in bytes.indices {
            let byte = bytes[index]
            let isEscape = byte == UInt8(ascii: "%") && bytes[index...].dropFirst().prefix { $0.isHexDigit }.count >= 2
            if isEscape || byte != UInt8(ascii: "%") && mayStay(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)[...]
    }
}

extension URL {
    /// The `URL` of a text in which the escapes stay as they are.
    ///
    /// As soon as `URL(string:)` finds a character that it has to percent-encode, it encodes the `%` of each escape again.
    /// Here such characters are encoded before.
    package init?(keepingEscapesOf text: String) {
        if let url = URL(string: text, encodingInvalidCharacters: false) {
            self = url
        } else {
            self.init(URLReference(text))
        }
    }

    /// The `URL` of a reference; nil when its authority is invalid.
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
    /// With all characters percent-encoded that a component of a `URL` cannot hold.
    var encodedForURL: Substring { URLReference.percentEncoded(self) { $0.mayStandInURL } }
}

extension UInt8 {
    /// Whether this may stand in a path, a query or a fragment (RFC 3986, appendix A), without `#`.
    fileprivate var mayStandInURL: Bool {
        isLetter || isDigit || "-._~!$&'()*+,;=:@/?%".utf8.contains(self)
    }
}

package import Foundation

extension URL {
    /// The fragment, percent-encoded, without `#`; nil for a URL without one.
    package var fragmentAsWritten: String? {
        let text = absoluteString
        return text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[text.utf8.index(after: $0)...]) }
    }
}

/// A URL, or a part of one that is to be completed, taken to pieces (RFC 3986, section 4.1 and appendix B).
package struct URLReference: Sendable {
    package var scheme: Substring?
    package var authority: Substring?
    package var path: Substring
    package var query: Substring?
    package var fragment: Substring?

    /// Takes a text to pieces. What can stand in no URL is percent-encoded before.
    package init(_ text: String) { self.init(asWritten: Self.escaped(text)) }

    /// Takes a text to pieces as it is written.
    package init(asWritten text: String) {
        var rest = text[...]
        if let hash = rest.firstIndex(of: "#") {
            fragment = rest[rest.index(after: hash)...]
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(where: { $0 == ":" || $0 == "/" }), rest[colon] == ":",
            Self.isScheme(rest[..<colon])
        {
            scheme = rest[..<colon]
            rest = rest[rest.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let slash = rest.firstIndex(of: "/") ?? rest.endIndex
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

    /// ASCII without spaces and control characters, and with no `%` that begins nothing.
    private static func escaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard !bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }) else { return text }
        let digits = Array("0123456789ABCDEF".utf8)
        var escaped: [UInt8] = []
        escaped.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            let beginsEscape = index + 2 < bytes.count && bytes[index + 1].isHexDigit && bytes[index + 2].isHexDigit
            let mayStay = byte == UInt8(ascii: "%") ? beginsEscape : byte > 0x20 && byte < 0x7F
            escaped += mayStay ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}

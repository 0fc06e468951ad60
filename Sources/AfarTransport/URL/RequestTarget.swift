package import Foundation

/// A URL as the transport dials it: scheme, authority and path, read in the one way in which Foundation, libcurl and a
/// server cannot disagree. Whatever leaves room for two readings is refused.
package struct RequestTarget: Sendable, Hashable {
    /// "http" or "https".
    package let scheme: String
    /// Host and, unless it was left out, port. No userinfo.
    package let authority: String
    /// Path and query; never empty, without the fragment.
    package private(set) var path: String
    /// The percent-decoded user and password that the URL carried.
    package let userinfo: (user: String, password: String)?

    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.scheme == rhs.scheme && lhs.authority == rhs.authority && lhs.path == rhs.path
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(authority)
        hasher.combine(path)
    }

    /// Why a URL cannot be dialled.
    package enum Fault: Error, CustomStringConvertible {
        /// It has no scheme or no host.
        case incomplete
        /// Its scheme is another one than HTTP's.
        case unsupportedScheme(String)
        /// It breaks the rules of URLs. The text names the rule.
        case malformed(String)
        /// It can be read in several ways; the text says why.
        case ambiguous(String)

        package var description: String {
            switch self {
            case .incomplete: "it has no scheme or no host"
            case .unsupportedScheme(let scheme): "its scheme, \(scheme), is not http or https"
            case .malformed(let reason), .ambiguous(let reason): reason
            }
        }
    }

    /// What is wrong with a text of which Foundation makes no URL; nil when there is more than one way to say it.
    package static func problem(with text: String) -> String? {
        if let first = text.utf8.first, let last = text.utf8.last, first <= 0x20 || last <= 0x20 {
            return "it begins or ends with white space"
        }
        var reference = URLReference(text)
        // Streams and WebSockets have other schemes.
        if reference.scheme != nil { reference.scheme = "http" }
        var written = reference.text
        do {
            _ = try written.withUTF8 { bytes in Result { () throws(Fault) in try RequestTarget(bytes) } }.get()
            return nil
        } catch {
            guard case .malformed(let problem) = error else { return nil }
            return problem
        }
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    package init(_ url: URL) throws(Fault) {
        var text = url.absoluteString
        self = try text.withUTF8 { bytes in Result { () throws(Fault) in try RequestTarget(bytes) } }.get()
    }

    /// Reads a URL that was made of a text. Path and query are as the text has them, as far as the URL still begins with
    /// what became of them.
    package init(_ url: URL, writtenAs reference: @autoclosure () -> URLReference?) throws(Fault) {
        try self.init(url)
        // What had to be encoded has a percent sign now.
        guard path.utf8.contains(UInt8(ascii: "%")), let written = reference()?.target else { return }
        let encoded = written[...].encodedForURL
        if path.hasPrefix(encoded) { path = written + path.dropFirst(encoded.utf8.count) }
    }

    private init(_ text: UnsafeBufferPointer<UInt8>) throws(Fault) {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { throw .incomplete }
        scheme = Self.lowercased(text[..<colon])
        guard scheme == "http" || scheme == "https" else { throw .unsupportedScheme(scheme) }
        guard text[(colon + 1)...].starts(with: "//".utf8) else { throw .incomplete }
        guard text.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .malformed("it has spaces, control characters or characters beyond ASCII")
        }
        guard !text.contains(UInt8(ascii: "\\")) else { throw .ambiguous("it has a backslash") }
        let rest = text[(colon + 3)...]
        let pathStart = rest.firstIndex(where: Self.endsAuthority) ?? rest.endIndex
        var hostAndPort = rest[..<pathStart]
        if let at = hostAndPort.lastIndex(of: UInt8(ascii: "@")) {
            guard !hostAndPort[..<at].contains(UInt8(ascii: "@")) else {
                throw .ambiguous("it has two @ before the path")
            }
            userinfo = at > hostAndPort.startIndex ? try Self.userinfo(hostAndPort[..<at]) : nil
            hostAndPort = hostAndPort[(at + 1)...]
        } else {
            userinfo = nil
        }
        authority = try Self.authority(hostAndPort)
        let target = String(decoding: rest[pathStart...].prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
        path = target.utf8.first == UInt8(ascii: "/") ? target : "/" + target
        guard !authority.isEmpty, !authority.hasPrefix(":") else { throw .incomplete }
    }

    private static func userinfo(
        _ text: Bytes
    ) throws(Fault) -> (user: String, password: String) {
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let user = String(decoding: text[..<colon], as: UTF8.self).removingPercentEncoding
        let password = String(decoding: text[colon...].dropFirst(), as: UTF8.self).removingPercentEncoding
        guard let user, let password else { throw .malformed("its user name or password is not UTF-8") }
        return (user, password)
    }

    /// Checks host and port, and gives them back in one spelling.
    private static func authority(_ text: Bytes) throws(Fault) -> String {
        if text.first == UInt8(ascii: "[") {
            guard let close = text.firstIndex(of: UInt8(ascii: "]")) else {
                throw .malformed("the bracket of its address is not closed")
            }
            let address = text[(text.startIndex + 1)..<close]
            guard address.contains(UInt8(ascii: ":")),
                address.allSatisfy({ $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
            else { throw .malformed("the text in brackets is not an IPv6 address") }
            return "[\(lowercased(address))]" + (try port(text[(close + 1)...]))
        }
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let host = text[..<colon]
        guard host.count <= 255, host.allSatisfy(isHostByte), host.first != UInt8(ascii: ".") else {
            throw .malformed("its host has characters that no host name has")
        }
        try checkNumericHost(host)
        return lowercased(host) + (try port(text[colon...]))
    }

    /// The colon and the port, as they are written shortest; nothing for an empty port.
    private static func port(_ text: Bytes) throws(Fault) -> String {
        guard let first = text.first else { return "" }
        guard first == UInt8(ascii: ":") else { throw .malformed("something other than a port follows its host") }
        let digits = text.dropFirst()
        guard !digits.isEmpty else { return "" }
        guard let number = number(digits, upTo: UInt16.max), number > 0 else {
            throw .malformed("its port is not a number from 1 to 65535")
        }
        return ":" + String(number)
    }

    /// "0x7f.1", "2130706433" and "127.1" are addresses to some and names to others.
    private static func checkNumericHost(_ host: Bytes) throws(Fault) {
        let dot = UInt8(ascii: ".")
        guard let end = host.lastIndex(where: { $0 != dot }) else { return }
        let start = host[...end].lastIndex(of: dot).map { $0 + 1 } ?? host.startIndex
        let last = host[start...end]
        guard host[start].isDigit else { return }
        let isHex =
            last.count > 1 && last[last.startIndex + 1] | 0x20 == UInt8(ascii: "x")
            && last.dropFirst(2).allSatisfy(\.isHexDigit)
        guard isHex || last.allSatisfy(\.isDigit) else { return }
        guard isQuad(host) else { throw .ambiguous("its host is a number that can be read as several addresses") }
    }

    /// Whether this is four numbers from 0 to 255, each written shortest.
    private static func isQuad(_ host: Bytes) -> Bool {
        var rest = host
        for part in 1...4 {
            let label = rest.prefix { $0 != UInt8(ascii: ".") }
            guard number(label, upTo: UInt8.max) != nil, label.count == 1 || label.first != UInt8(ascii: "0") else {
                return false
            }
            rest = rest[label.endIndex...]
            if part < 4 { guard rest.popFirst() != nil else { return false } }
        }
        return rest.isEmpty
    }

    // MARK: Bytes

    private static func lowercased(_ text: Bytes) -> String {
        guard text.contains(where: \.isCapital) else { return String(decoding: text, as: UTF8.self) }
        return String(decoding: text.map(\.asciiLowercased), as: UTF8.self)
    }

    /// The number that decimal digits stand for, nil when they are none or it is too large.
    private static func number<Number: FixedWidthInteger>(_ digits: Bytes, upTo limit: Number) -> Number? {
        guard !digits.isEmpty else { return nil }
        var number: UInt32 = 0
        for digit in digits {
            guard digit.isDigit else { return nil }
            number = number * 10 + UInt32(digit - 0x30)
            guard number <= limit else { return nil }
        }
        return Number(number)
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: byte.isLetter || byte.isDigit
        }
    }
}

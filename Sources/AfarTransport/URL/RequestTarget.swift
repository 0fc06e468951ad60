public import Foundation
package import HTTPTypes

/// The scheme, authority and path of a URL, parsed so strictly that Foundation, libcurl and servers can't disagree about them.
/// Ambiguous URLs are rejected.
package struct RequestTarget: Sendable, Hashable {
    /// "http" or "https".
    package let scheme: String
    /// The host and, if the URL has one, the port. Contains no user information.
    package let authority: String
    /// The path and query, without the fragment. Never empty.
    package private(set) var path: String
    /// The percent-decoded user name and password in the URL.
    package let userinfo: (user: String, password: String)?

    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.scheme == rhs.scheme && lhs.authority == rhs.authority && lhs.path == rhs.path
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(authority)
        hasher.combine(path)
    }

    /// The reason why a URL can't be used for a request.
    package enum Fault: Error, CustomStringConvertible {
        /// The URL has no scheme or no host.
        case incomplete
        /// The scheme isn't `http` or `https`.
        case unsupportedScheme(String)
        /// The URL violates the rules for URLs. The text names the rule.
        case malformed(String)
        /// Parsers can interpret the URL in different ways. The text explains why.
        case ambiguous(String)

        package var description: String {
            switch self {
            case .incomplete: "it has no scheme or no host"
            case .unsupportedScheme(let scheme): "its scheme, \(scheme), is not http or https"
            case .malformed(let reason), .ambiguous(let reason): reason
            }
        }
    }

    /// Returns the problem with text that Foundation can't parse as a URL, or nil if the text violates no specific rule.
    package static func problem(with text: String) -> String? {
        if let first = text.utf8.first, let last = text.utf8.last, first <= 0x20 || last <= 0x20 {
            return "it begins or ends with white space"
        }
        var reference = URLReference(text)
        // Other schemes are valid for streams and WebSockets.
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

    /// Parses a URL that was created from text. If the URL's path and query begin with the percent-encoded form of the text's
    /// path and query, this part is kept as written in the text. The remainder, such as parameters that were added later, is
    /// taken from the URL.
    package init(_ url: URL, writtenAs reference: @autoclosure () -> URLReference?) throws(Fault) {
        try self.init(url)
        // The URL differs from the text only where characters were percent-encoded.
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
            throw .malformed("it has spaces, control characters or non-ASCII characters")
        }
        guard !text.contains(UInt8(ascii: "\\")) else { throw .ambiguous("it has a backslash") }
        let rest = text[(colon + 3)...]
        let pathStart = rest.firstIndex(where: \.endsAuthority) ?? rest.endIndex
        var hostAndPort = rest[..<pathStart]
        if let at = hostAndPort.lastIndex(of: UInt8(ascii: "@")) {
            guard !hostAndPort[..<at].contains(UInt8(ascii: "@")) else {
                throw .ambiguous("it has two @ signs before the path")
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

    /// Checks the host and port, and returns them in normalized form.
    private static func authority(_ text: Bytes) throws(Fault) -> String {
        if text.first == UInt8(ascii: "[") {
            guard let close = text.firstIndex(of: UInt8(ascii: "]")) else {
                throw .malformed("the bracket of its address is not closed")
            }
            let inside = text[(text.startIndex + 1)..<close]
            let address = inside.prefix { $0 != UInt8(ascii: "%") }
            guard address.contains(UInt8(ascii: ":")),
                address.allSatisfy({ $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
            else { throw .malformed("the text in brackets is not an IPv6 address") }
            let zone = inside[address.endIndex...]
            try checkZone(zone)
            return "[\(lowercased(address))\(String(decoding: zone, as: UTF8.self))]" + (try port(text[(close + 1)...]))
        }
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let host = text[..<colon]
        guard host.count <= 255, host.allSatisfy(\.isHostCharacter), host.first != UInt8(ascii: ".") else {
            throw .malformed("its host has characters that are invalid in host names")
        }
        try checkNumericHost(host)
        return lowercased(host) + (try port(text[colon...]))
    }

    /// Checks the zone of an address: `%25` and the name or number of a network interface (RFC 6874, section 2).
    private static func checkZone(_ zone: Bytes) throws(Fault) {
        let name = zone.dropFirst(3)
        guard zone.isEmpty || zone.starts(with: "%25".utf8) && !name.isEmpty && name.allSatisfy(\.isHostCharacter)
        else {
            throw .malformed(
                "the zone of its address is not %25 and the name of a network interface, as in [fe80::1%25eth0]")
        }
    }

    /// Returns the colon and the port without leading zeros. Returns an empty string for an empty port.
    private static func port(_ text: Bytes) throws(Fault) -> String {
        guard let first = text.first else { return "" }
        guard first == UInt8(ascii: ":") else { throw .malformed("the text after its host is not a port") }
        let digits = text.dropFirst()
        guard !digits.isEmpty else { return "" }
        guard let number = number(digits, upTo: UInt16.max), number > 0 else {
            throw .malformed("its port is not a number from 1 to 65535")
        }
        return ":" + String(number)
    }

    /// Rejects hosts such as "0x7f.1", "2130706433" and "127.1", which some parsers read as addresses and others as names.
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

    /// Returns whether the host consists of four numbers from 0 to 255 without leading zeros.
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

    /// Parses a decimal number. Returns nil if the text isn't a number or the number exceeds the limit.
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
}

// MARK: - Host names

/// A host's name or address in normalized form, used to look up policies. The form is in lowercase and has no trailing dot. An IPv6 address
/// has no brackets and no zone.
package struct HostName: Hashable, Sendable {
    /// The normalized form.
    package let text: String

    package init(ofAuthority authority: String) { self.init(plain: Self.split(authority).name) }

    /// Returns the port of `host:port`; nil if it is missing.
    package static func port(ofAuthority authority: String) -> Int? { Self.split(authority).port }

    /// Splits `host:port`.
    package static func split(_ authority: String) -> (name: String, port: Int?) {
        let digits = authority.utf8.suffix(authority.utf8.reversed().prefix(while: \.isDigit).count)
        let name = authority.utf8.dropLast(digits.count)
        guard name.last == UInt8(ascii: ":") else { return (authority, nil) }
        return (String(decoding: name.dropLast(), as: UTF8.self), Int(String(decoding: digits, as: UTF8.self)))
    }

    /// Returns a host and port as they appear in a URL, with an IPv6 address in brackets.
    package static func authority(_ host: String, port: Int) -> String {
        "\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(port)"
    }

    /// Creates a host name from user input. Removes a port, and converts a non-ASCII name to the form that is used to connect (RFC 5891),
    /// so that policies match.
    package init(_ host: String) {
        if !host.utf8.allSatisfy({ $0 < 0x80 }), let url = URL(string: "https://\(host)/"),
            let target = try? RequestTarget(url)
        {
            self.init(ofAuthority: target.authority)
            return
        }
        let isAddress = host.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 && !host.hasPrefix("[")
        if isAddress { self.init(plain: host) } else { self.init(ofAuthority: host) }
    }

    private init(plain: String) {
        var name = plain.withoutZone.asciiLowercased
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if name.hasSuffix(".") { name.removeLast() }
        text = name
    }
}

// MARK: - Origins

/// A scheme, host and port (RFC 6454, section 4). Credentials apply to a single origin.
public struct Origin: Hashable, Sendable {
    /// The origin as text, such as "https://example.com:8443". The scheme's default port is omitted.
    public let text: String

    package init(_ request: HTTPRequest) {
        self.init(scheme: request.scheme ?? "", authority: request.authority ?? "")
    }

    /// Creates the origin of a URL. Returns nil if no request can be sent to the URL.
    public init?(_ url: URL) {
        guard let target = try? RequestTarget(url) else { return nil }
        self.init(scheme: target.scheme, authority: target.authority)
    }

    private init(scheme: String, authority: String) {
        let scheme = scheme.lowercased()
        // Interface names are case-sensitive.
        let zone = authority.zone
        var authority = zone.isEmpty ? authority.lowercased() : authority.withoutZone.lowercased() + zone
        let standardPort = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(standardPort) { authority.removeLast(standardPort.count) }
        text = "\(scheme)://\(authority)"
    }
}

// MARK: - Zones

extension String {
    /// The host without the zone of a link-local IPv6 address. A zone is meaningful only on this machine, so it is never sent (RFC 6874,
    /// section 4).
    package var withoutZone: String {
        guard let range = zoneRange else { return self }
        return String(self[..<range.lowerBound] + self[range.upperBound...])
    }

    /// The zone of the host's IPv6 address in the form that system functions accept, such as `%eth0`; empty without a zone. The form in a
    /// URL is `%25eth0`.
    package var zone: String {
        guard let range = zoneRange else { return "" }
        return "%" + self[range].dropFirst(self[range].hasPrefix("%25") ? 3 : 1)
    }

    /// The range from the percent sign after an IPv6 address to the end of the host.
    private var zoneRange: Range<Index>? {
        guard let percent = utf8.firstIndex(of: UInt8(ascii: "%")) else { return nil }
        let address = utf8[..<percent]
        let isAddress = address.count { $0 == UInt8(ascii: ":") } > 1 && !address.contains(UInt8(ascii: "]"))
        return isAddress ? percent..<(utf8[percent...].firstIndex(of: UInt8(ascii: "]")) ?? endIndex) : nil
    }
}

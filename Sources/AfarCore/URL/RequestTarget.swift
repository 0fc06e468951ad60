package import Foundation

/// A URL as the transport dials it: scheme, authority and path, read in the one way in which Foundation, libcurl and a
/// server cannot disagree. Whatever leaves room for two readings is refused.
package struct RequestTarget: Sendable, Hashable {
    /// "http" or "https".
    package let scheme: String
    /// Host and, unless it was left out, port. No userinfo.
    package let authority: String
    /// Path and query; never empty, without the fragment.
    package let path: String
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

    package init(_ url: URL) throws {
        let text = url.absoluteString
        guard let schemeEnd = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw AFError.invalidURL(url: url) }
        scheme = text[..<schemeEnd].lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw AFError.urlRequestValidationFailed(reason: .unsupportedScheme(scheme))
        }
        func refuse(_ reason: String) -> AFError {
            AFError.urlRequestValidationFailed(reason: .ambiguousURL(url, reason: reason))
        }
        let afterScheme = text.utf8[text.utf8.index(after: schemeEnd)...]
        guard afterScheme.starts(with: "//".utf8) else { throw AFError.invalidURL(url: url) }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else {
            throw refuse("it holds spaces, control characters, backslashes or characters beyond ASCII")
        }
        let rest = afterScheme.dropFirst(2)
        let authorityEnd =
            rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
            ?? rest.endIndex
        var hostAndPort = rest[..<authorityEnd]
        if let at = hostAndPort.lastIndex(of: UInt8(ascii: "@")) {
            let credentials = hostAndPort[..<at]
            guard !credentials.contains(UInt8(ascii: "@")) else { throw refuse("it has two @ before the path") }
            userinfo = Self.userinfo(Substring(credentials))
            hostAndPort = hostAndPort[hostAndPort.index(after: at)...]
        } else {
            userinfo = nil
        }
        authority = try Self.authority(Substring(hostAndPort), refuse: refuse)
        guard !authority.isEmpty else { throw AFError.invalidURL(url: url) }
        let target = Substring(rest[authorityEnd...].prefix { $0 != UInt8(ascii: "#") })
        path = target.first == "/" ? String(target) : "/" + target
    }

    private static func userinfo(_ text: Substring) -> (user: String, password: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = parts.map { String($0).removingPercentEncoding ?? String($0) }
        return (decoded[0], decoded.count > 1 ? decoded[1] : "")
    }

    /// Checks host and port, and gives them back in one spelling.
    private static func authority(_ text: Substring, refuse: (String) -> AFError) throws -> String {
        if text.first == "[" {
            guard let close = text.firstIndex(of: "]") else { throw refuse("the bracket of its address is not closed") }
            let address = text[text.index(after: text.startIndex)..<close]
            guard address.contains(":"), address.utf8.allSatisfy({ isHexDigit($0) || $0 == 0x3A || $0 == 0x2E }) else {
                throw refuse("what stands in brackets is no IPv6 address")
            }
            return "[\(address.lowercased())]" + (try port(text[text.index(after: close)...], refuse: refuse))
        }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        let host = text[..<colon]
        guard host.utf8.count <= 255, host.utf8.allSatisfy(isHostByte), host.first != "." else {
            throw refuse("its host has characters that no host name has")
        }
        try checkNumericHost(host, refuse: refuse)
        return host.lowercased() + (try port(text[colon...], refuse: refuse))
    }

    private static func port(_ text: Substring, refuse: (String) -> AFError) throws -> String {
        guard text.count > 1 else {
            if text.isEmpty || text == ":" { return "" }
            throw refuse("something other than a port follows its host")
        }
        guard text.first == ":", text.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt16(text.dropFirst()), number > 0
        else { throw refuse("its port is no number from 1 to 65535") }
        return ":\(number)"
    }

    /// "0x7f.1", "2130706433" and "127.1" are addresses to some and names to others.
    private static func checkNumericHost(_ host: Substring, refuse: (String) -> AFError) throws {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = labels.last(where: { !$0.isEmpty }), let first = last.utf8.first,
            (0x30...0x39).contains(first)
        else { return }
        let isDecimal = last.utf8.allSatisfy { (0x30...0x39).contains($0) }
        let isHex = last.lowercased().hasPrefix("0x") && last.dropFirst(2).utf8.allSatisfy(isHexDigit)
        guard isDecimal || isHex else { return }
        let isQuad =
            labels.count == 4
            && labels.allSatisfy { label in
                UInt8(label) != nil && (label.count == 1 || label.first != "0") && label.first != "+"
            }
        guard isQuad else { throw refuse("its host is a number that can be read as several addresses") }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}

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
        let text = Array(url.absoluteString.utf8)
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { throw AFError.invalidURL(url: url) }
        scheme = Self.lowercased(text[..<colon])
        guard scheme == "http" || scheme == "https" else {
            throw AFError.urlRequestValidationFailed(reason: .unsupportedScheme(scheme))
        }
        guard text[(colon + 1)...].starts(with: "//".utf8) else { throw AFError.invalidURL(url: url) }
        do throws(Ambiguity) {
            guard text.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else {
                throw Ambiguity("it holds spaces, control characters, backslashes or characters beyond ASCII")
            }
            let rest = text[(colon + 3)...]
            let pathStart = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
            var hostAndPort = rest[..<pathStart]
            if let at = hostAndPort.lastIndex(of: UInt8(ascii: "@")) {
                guard !hostAndPort[..<at].contains(UInt8(ascii: "@")) else {
                    throw Ambiguity("it has two @ before the path")
                }
                userinfo = at > hostAndPort.startIndex ? Self.userinfo(hostAndPort[..<at]) : nil
                hostAndPort = hostAndPort[(at + 1)...]
            } else {
                userinfo = nil
            }
            authority = try Self.authority(hostAndPort)
            let target = String(decoding: rest[pathStart...].prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
            path = target.utf8.first == UInt8(ascii: "/") ? target : "/" + target
        } catch {
            throw AFError.urlRequestValidationFailed(reason: .ambiguousURL(url, reason: error.reason))
        }
        guard !authority.isEmpty, !authority.hasPrefix(":") else { throw AFError.invalidURL(url: url) }
    }

    /// Why a URL can be read in several ways.
    private struct Ambiguity: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private static func userinfo(_ text: ArraySlice<UInt8>) -> (user: String, password: String) {
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        func decoded(_ part: ArraySlice<UInt8>) -> String {
            let encoded = String(decoding: part, as: UTF8.self)
            return encoded.removingPercentEncoding ?? encoded
        }
        return (decoded(text[..<colon]), decoded(text[colon...].dropFirst()))
    }

    /// Checks host and port, and gives them back in one spelling.
    private static func authority(_ text: ArraySlice<UInt8>) throws(Ambiguity) -> String {
        if text.first == UInt8(ascii: "[") {
            guard let close = text.firstIndex(of: UInt8(ascii: "]")) else {
                throw Ambiguity("the bracket of its address is not closed")
            }
            let address = text[(text.startIndex + 1)..<close]
            guard address.contains(UInt8(ascii: ":")),
                address.allSatisfy({ isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
            else { throw Ambiguity("what stands in brackets is no IPv6 address") }
            return "[\(lowercased(address))]" + (try port(text[(close + 1)...]))
        }
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let host = text[..<colon]
        guard host.count <= 255, host.allSatisfy(isHostByte), host.first != UInt8(ascii: ".") else {
            throw Ambiguity("its host has characters that no host name has")
        }
        try checkNumericHost(host)
        return lowercased(host) + (try port(text[colon...]))
    }

    /// The colon and the port, as they are written shortest; nothing for an empty port.
    private static func port(_ text: ArraySlice<UInt8>) throws(Ambiguity) -> String {
        guard let first = text.first else { return "" }
        guard first == UInt8(ascii: ":") else { throw Ambiguity("something other than a port follows its host") }
        let digits = text.dropFirst()
        guard !digits.isEmpty else { return "" }
        guard digits.allSatisfy(isDigit), let number = UInt16(String(decoding: digits, as: UTF8.self)), number > 0
        else {
            throw Ambiguity("its port is no number from 1 to 65535")
        }
        return ":\(number)"
    }

    /// "0x7f.1", "2130706433" and "127.1" are addresses to some and names to others.
    private static func checkNumericHost(_ host: ArraySlice<UInt8>) throws(Ambiguity) {
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let last = labels.last(where: { !$0.isEmpty }), let first = last.first, isDigit(first) else { return }
        let isHex =
            last.count > 1 && last[last.startIndex + 1] | 0x20 == UInt8(ascii: "x")
            && last.dropFirst(2).allSatisfy(isHexDigit)
        guard isHex || last.allSatisfy(isDigit) else { return }
        let isQuad =
            labels.count == 4
            && labels.allSatisfy { label in
                label.allSatisfy(isDigit) && (label.count == 1 || label.first != UInt8(ascii: "0"))
                    && UInt8(String(decoding: label, as: UTF8.self)) != nil
            }
        guard isQuad else { throw Ambiguity("its host is a number that can be read as several addresses") }
    }

    // MARK: Bytes

    private static func lowercased(_ text: ArraySlice<UInt8>) -> String {
        String(decoding: text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x7A).contains(byte | 0x20) || "-._".utf8.contains(byte)
    }
}

import Foundation

/// A host's name or address in normalized form, used to look up policies: in lower case, without a trailing dot, and without
/// brackets around an IPv6 address.
package struct HostName: Hashable, Sendable {
    /// The normalized form.
    package let text: String

    /// The host of `host:port`.
    package init(ofAuthority authority: String) { self.init(plain: Self.split(authority).name) }

    /// The port of `host:port`; nil if it is missing.
    package static func port(ofAuthority authority: String) -> Int? { Self.split(authority).port }

    private static func split(_ authority: String) -> (name: String, port: Int?) {
        let digits = authority.utf8.suffix(authority.utf8.reversed().prefix(while: \.isDigit).count)
        let name = authority.utf8.dropLast(digits.count)
        guard name.last == UInt8(ascii: ":") else { return (authority, nil) }
        return (String(decoding: name.dropLast(), as: UTF8.self), Int(String(decoding: digits, as: UTF8.self)))
    }

    /// Returns a host and port as they appear in a URL, with an IPv6 address in brackets.
    package static func authority(_ host: String, port: Int) -> String {
        "\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(port)"
    }

    /// Creates a host name from user input. A port is removed, and a non-ASCII name is converted to the form that is used to
    /// connect (RFC 5891). Otherwise a policy for it would never match.
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
        var name = plain.asciiLowercased
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if name.hasSuffix(".") { name.removeLast() }
        text = name
    }
}

import Foundation

/// A host's name or address in the one spelling that policies are found by: lower case, without a dot at the end, an
/// address of IPv6 without brackets.
package struct HostName: Hashable, Sendable {
    /// The spelling.
    package let text: String

    /// The host of `host:port`.
    package init(ofAuthority authority: String) { self.init(plain: Self.split(authority).name) }

    /// The port of `host:port`; nil when there is none.
    package static func port(ofAuthority authority: String) -> Int? { Self.split(authority).port }

    private static func split(_ authority: String) -> (name: String, port: Int?) {
        let digits = authority.utf8.suffix(authority.utf8.reversed().prefix(while: \.isDigit).count)
        let name = authority.utf8.dropLast(digits.count)
        guard name.last == UInt8(ascii: ":") else { return (authority, nil) }
        return (String(decoding: name.dropLast(), as: UTF8.self), Int(String(decoding: digits, as: UTF8.self)))
    }

    /// A host and a port as they stand in a URL, an address of IPv6 in brackets.
    package static func authority(_ host: String, port: Int) -> String {
        "\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(port)"
    }

    /// A host as somebody wrote it, a port after it included, a name beyond ASCII in the form that is dialled (RFC 5891): a
    /// policy that never fits would be none.
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

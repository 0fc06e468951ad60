/// A host's name or address in the one spelling that policies are found by: lower case, without a dot at the end, an
/// address of IPv6 without brackets.
package struct HostName: Hashable, Sendable {
    /// The spelling.
    package let text: String

    /// The host of `host:port`.
    package init(ofAuthority authority: String) {
        let port = authority.utf8.reversed().prefix(while: \.isDigit).count
        let name = authority.utf8.dropLast(port)
        let hasPort = name.last == UInt8(ascii: ":")
        self.init(plain: hasPort ? String(decoding: name.dropLast(), as: UTF8.self) : authority)
    }

    /// A host as somebody wrote it, a port after it included: a policy that never fits would be none.
    package init(_ host: String) {
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

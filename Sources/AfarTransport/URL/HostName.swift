import Foundation

/// A host's name or address in the one spelling that policies are found by: lower case, without a dot at the end, an
/// international name in its ASCII form, an address of IPv6 without brackets.
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

    /// A host as somebody wrote it.
    package init(_ host: String) {
        let isASCII = host.allBytes { $0 < 0x80 }
        self.init(plain: isASCII ? host : URL(string: "https://\(host)/")?.host() ?? host)
    }

    private init(plain: String) {
        var name = plain.asciiLowercased
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if name.hasSuffix(".") { name.removeLast() }
        text = name
    }
}

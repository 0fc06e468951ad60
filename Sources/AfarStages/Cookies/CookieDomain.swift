public import Foundation
import HTTPTypes

/// The host of a URL or the domain of a cookie, in the spelling that the rules compare (RFC 6265bis, sections 5.1.2 and 5.1.3).
package struct CookieDomain: Hashable, Sendable {
    /// In lower case, ASCII; without port. An address of IPv6 has its brackets.
    package let text: String
    /// Whether this is an address, which has nothing below it.
    package let isAddress: Bool

    /// - Returns: Nil for what is no host: it is empty, ends or begins with a dot, has a port, or bytes that no host has.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard let first = bytes.first, let last = bytes.last else { return nil }
        if first == UInt8(ascii: "[") {
            guard last == UInt8(ascii: "]"), bytes.count > 2,
                bytes.dropFirst().dropLast().allSatisfy({
                    $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
                })
            else { return nil }
        } else {
            let dot = UInt8(ascii: ".")
            guard first != dot, last != dot, text.allBytes(Self.isNameByte) else { return nil }
        }
        self.init(host: text.asciiLowercased)
    }

    /// The host of a request, which has been checked and is in lower case. It may end with a dot: then it is another host.
    init(host: String) {
        text = host
        isAddress = host.utf8.first == UInt8(ascii: "[") || Self.isQuad(host)
    }

    /// The host that a request is sent to.
    init(authority: String) {
        let bytes = authority.utf8
        let digits = bytes.reversed().prefix(while: \.isDigit).count
        let name = bytes.dropLast(digits)
        let hasPort = digits > 0 && name.last == UInt8(ascii: ":")
        self.init(host: hasPort ? String(Substring(name.dropLast())) : authority)
    }

    /// Whether a cookie of a domain is for this host: it is the same, or one below it (section 5.1.3).
    package func matches(_ domain: String) -> Bool {
        let (host, domain) = (text.utf8, domain.utf8)
        guard host.count > domain.count else { return host.elementsEqual(domain) }
        return !isAddress && !domain.isEmpty && host.suffix(domain.count).elementsEqual(domain)
            && host.dropLast(domain.count).last == UInt8(ascii: ".")
    }

    /// The domains whose cookies are for this host: it, and all above it.
    var matchingDomains: some Sequence<Substring> {
        sequence(first: text[...]) { [isAddress] domain in
            guard !isAddress, let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
            let parent = domain[domain.utf8.index(after: dot)...]
            return parent.isEmpty ? nil : parent
        }
    }

    /// The last two labels of a name: about who it belongs to, where only numbers depend on that.
    static func site(of name: String) -> Substring {
        let labels = name.utf8.split(separator: UInt8(ascii: "."))
        return labels.count > 2 ? name[labels[labels.count - 2].startIndex...] : name[...]
    }

    /// Whether there is a dot between other characters.
    var hasInnerDot: Bool { text.utf8.dropFirst().dropLast().contains(UInt8(ascii: ".")) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: byte.isLetter || byte.isDigit
        }
    }

    /// Whether this is an address of IPv4. What else could be taken for one is in no request.
    private static func isQuad(_ host: String) -> Bool {
        let bytes = host.utf8
        return bytes.count(where: { $0 == UInt8(ascii: ".") }) == 3 && bytes.last?.isDigit == true
            && host.allBytes { $0.isDigit || $0 == UInt8(ascii: ".") }
    }
}

/// What the rules about cookies look at in a URL: its host, its path, and whether it is secure.
public struct CookieURL: Sendable, Hashable {
    package let domain: CookieDomain
    /// The path without the query, `/` at least.
    public let path: String
    /// Whether it is of https.
    public let isSecure: Bool

    /// The host in lower case, without port.
    public var host: String { domain.text }

    /// Takes what is needed of a URL; nil for one that no request can be sent to.
    public init?(_ url: URL) {
        guard let target = try? RequestTarget(url) else { return nil }
        self.init(scheme: target.scheme, authority: target.authority, path: target.path)
    }

    /// The URL that a request is for: its host is that of the caller's `Host` field, if there is one.
    package init(_ exchange: Exchange) {
        let request = exchange.request
        self.init(
            scheme: request.scheme ?? "", authority: exchange.otherHost ?? request.authority ?? "",
            path: request.path ?? "/")
    }

    private init(scheme: String, authority: String, path: String) {
        domain = CookieDomain(authority: authority)
        isSecure = scheme == "https"
        let end = path.utf8.firstIndex(of: UInt8(ascii: "?")) ?? path.endIndex
        self.path = path.utf8.first == UInt8(ascii: "/") ? String(path[..<end]) : "/"
    }

    /// The path of a cookie that names none (RFC 6265bis, section 5.1.4).
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Whether a cookie of a path is for this URL (RFC 6265bis, section 5.1.4).
    func matches(path cookiePath: String) -> Bool { Self.path(path, matches: cookiePath) }

    static func path(_ path: String, matches cookiePath: String) -> Bool {
        let (path, cookiePath, slash) = (path.utf8, cookiePath.utf8, UInt8(ascii: "/"))
        guard path.starts(with: cookiePath) else { return false }
        return path.count == cookiePath.count || cookiePath.last == slash
            || path.dropFirst(cookiePath.count).first == slash
    }
}

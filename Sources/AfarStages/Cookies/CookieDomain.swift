public import Foundation
import HTTPTypes

/// The host of a URL or the domain of a cookie, normalized for comparison (RFC 6265bis, sections 5.1.2 and 5.1.3).
package struct CookieDomain: Hashable, Sendable {
    /// The host in lowercase ASCII, without a port. An IPv6 address is in brackets.
    package let text: String
    /// Whether the host is an IP address, which has no hosts below it.
    package let isAddress: Bool

    /// - Returns: Nil if the text isn't a host: it is empty, begins or ends with a dot, has a port, or contains bytes that hosts
    ///   can't contain.
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

    /// Wraps the host of a request, which is already validated and in lowercase. A trailing dot makes it a different host.
    init(host: String) {
        text = host
        isAddress = host.utf8.first == UInt8(ascii: "[") || Self.isQuad(host)
    }

    /// Extracts the host from a request's authority.
    init(authority: String) {
        let bytes = authority.utf8
        let digits = bytes.reversed().prefix(while: \.isDigit).count
        let name = bytes.dropLast(digits)
        let hasPort = digits > 0 && name.last == UInt8(ascii: ":")
        self.init(host: hasPort ? String(Substring(name.dropLast())) : authority)
    }

    /// Returns whether this host receives the cookies of a domain: the host is the domain or is below it (section 5.1.3).
    package func matches(_ domain: String) -> Bool {
        let (host, domain) = (text.utf8, domain.utf8)
        guard host.count > domain.count else { return host.elementsEqual(domain) }
        return !isAddress && !domain.isEmpty && host.suffix(domain.count).elementsEqual(domain)
            && host.dropLast(domain.count).last == UInt8(ascii: ".")
    }

    /// The domains whose cookies this host receives: the host itself and every domain above it.
    var matchingDomains: some Sequence<Substring> {
        sequence(first: text[...]) { [isAddress] domain in
            guard !isAddress, let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
            let parent = domain[domain.utf8.index(after: dot)...]
            return parent.isEmpty ? nil : parent
        }
    }

    /// Returns the last two labels of a name. They approximate its site, and are used only for limits on the number of entries.
    static func site(of name: String) -> Substring {
        let labels = name.utf8.split(separator: UInt8(ascii: "."))
        return labels.count > 2 ? name[labels[labels.count - 2].startIndex...] : name[...]
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: byte.isLetter || byte.isDigit
        }
    }

    /// Returns whether the host is an IPv4 address. Requests never contain the other spellings of IPv4 addresses.
    private static func isQuad(_ host: String) -> Bool {
        let bytes = host.utf8
        return bytes.count(where: { $0 == UInt8(ascii: ".") }) == 3 && bytes.last?.isDigit == true
            && host.allBytes { $0.isDigit || $0 == UInt8(ascii: ".") }
    }
}

/// The properties of a URL that determine which cookies apply to it: its host, its path, and whether it is secure.
public struct CookieURL: Sendable, Hashable {
    package let domain: CookieDomain
    /// The path without the query. It is never empty; the shortest path is `/`.
    public let path: String
    /// A Boolean value that indicates whether the URL's scheme is https.
    public let isSecure: Bool

    /// The host in lowercase, without a port.
    public var host: String { domain.text }

    /// Creates a value from a URL. Returns nil if no request can be sent to the URL.
    public init?(_ url: URL) {
        guard let target = try? RequestTarget(url) else { return nil }
        self.init(scheme: target.scheme, authority: target.authority, path: target.path)
    }

    /// Creates a value from a request. If the caller set a `Host` field, its host replaces the URL's.
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

    /// The path of a cookie that doesn't specify one (RFC 6265bis, section 5.1.4).
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Returns whether a cookie's path matches this URL (RFC 6265bis, section 5.1.4).
    func matches(path cookiePath: String) -> Bool { Self.path(path, matches: cookiePath) }

    static func path(_ path: String, matches cookiePath: String) -> Bool {
        let (path, cookiePath, slash) = (path.utf8, cookiePath.utf8, UInt8(ascii: "/"))
        guard path.starts(with: cookiePath) else { return false }
        return path.count == cookiePath.count || cookiePath.last == slash
            || path.dropFirst(cookiePath.count).first == slash
    }
}

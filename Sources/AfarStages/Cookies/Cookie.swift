public import Foundation
import HTTPTypes

/// A cookie (RFC 6265bis, section 5.7): a name and a value that are sent back to the server that set them.
///
/// Every cookie can be sent unchanged: it contains neither line breaks nor semicolons, and its domain is in lowercase.
public struct Cookie: Sendable, Hashable {
    /// A rule that determines which requests from other sites carry a cookie (RFC 6265bis, section 5.6.7).
    ///
    /// Afar stores the value but doesn't enforce it, because a library can't determine which site a request is made for.
    public enum SameSite: String, Sendable, Hashable, CaseIterable {
        /// Requests from any site carry the cookie: `None`.
        case unrestricted = "None"
        /// Requests from the same site, and navigations to it, carry the cookie.
        case lax = "Lax"
        /// Only requests from the same site carry the cookie.
        case strict = "Strict"
    }

    /// The name. It is empty for a cookie that consists of a value only.
    public let name: String
    /// The value, exactly as the server sent it.
    public let value: String
    /// The host that receives the cookie, in lowercase and without a leading dot. Hosts below it also receive the cookie, unless
    /// ``isHostOnly`` is true.
    public let domain: String
    /// A Boolean value that indicates whether only the host itself receives the cookie, and not the hosts below it.
    public let isHostOnly: Bool
    /// The path that the cookie applies to, including everything below it.
    public let path: String
    /// The date when the cookie expires; nil for a session cookie.
    public let expires: Date?
    /// A Boolean value that indicates whether the cookie is sent over https only.
    public let isSecure: Bool
    /// A Boolean value that indicates whether the server hides the cookie from scripts.
    public let isHTTPOnly: Bool
    /// The server's rule for requests from other sites; nil if the server didn't specify one.
    public let sameSite: SameSite?
    /// Whether each character of the name and the value represents one byte, as in ISO-8859-1. If false, both are sent as UTF-8.
    var isLatin1 = false
    /// The date when the cookie was first set.
    public internal(set) var creationDate: Date
    /// The date when the cookie was last set or sent.
    public internal(set) var lastAccessDate: Date

    /// Creates a cookie.
    ///
    /// - Parameters:
    ///   - name: The name. It can be empty.
    ///   - value: The value.
    ///   - domain: The host that receives the cookie, without a port: a name or an IP address. IPv6 addresses are in brackets.
    ///   - isHostOnly: Whether the cookie is for this host only, and not for the hosts below it. The default is true.
    ///   - path: The path that the cookie applies to. The default is `/`, which matches every path.
    ///   - expires: The date when the cookie expires. The default is nil, which creates a session cookie.
    ///   - isSecure: Whether the cookie is sent over https only. The default is false.
    ///   - isHTTPOnly: Whether the cookie is hidden from scripts. The default is false.
    ///   - sameSite: Which requests from other sites carry the cookie. The default is nil.
    ///   - creationDate: The date when the cookie was first set. The default is the current date.
    /// - Returns: Nil if the cookie can't be sent. The domain must be valid, and the path must begin with `/`. The name and the value can't
    ///   both be empty. The name, value, and path can't contain semicolons or control characters other than tabs. The name can't contain
    ///   `=`. If the name is empty, the value can't contain `=` either.
    public init?(
        name: String, value: String, domain: String, isHostOnly: Bool = true, path: String = "/", expires: Date? = nil,
        isSecure: Bool = false, isHTTPOnly: Bool = false, sameSite: SameSite? = nil, creationDate: Date = Date()
    ) {
        guard !name.isEmpty || !value.isEmpty, Self.isSendable(name), Self.isSendable(value), Self.isSendable(path),
            !(name.isEmpty ? value : name).utf8.contains(UInt8(ascii: "=")), path.utf8.first == UInt8(ascii: "/"),
            let domain = CookieDomain(domain)
        else { return nil }
        self.init(
            sendableName: name, value: value, domain: domain.text, isHostOnly: isHostOnly || domain.isAddress,
            path: path, expires: expires, isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite,
            creationDate: creationDate)
    }

    init(
        sendableName name: String, value: String, domain: String, isHostOnly: Bool, path: String, expires: Date?,
        isSecure: Bool, isHTTPOnly: Bool, sameSite: SameSite?, creationDate: Date
    ) {
        (self.name, self.value, self.domain, self.isHostOnly, self.path) = (name, value, domain, isHostOnly, path)
        (self.expires, self.isSecure, self.isHTTPOnly, self.sameSite) = (expires, isSecure, isHTTPOnly, sameSite)
        (self.creationDate, lastAccessDate) = (creationDate, creationDate)
    }

    private static func isSendable(_ text: String) -> Bool {
        text.allBytes { !$0.isCookieControl && $0 != UInt8(ascii: ";") }
    }

    /// Returns a Boolean value that indicates whether the cookie has expired.
    ///
    /// - Parameter date: The date to compare with. The default is the current date.
    public func isExpired(at date: Date = Date()) -> Bool { expires.map { $0 <= date } ?? false }

    /// The cookie as it appears in a `Cookie` field: `name=value`, or only the value if there is no name (section 5.8.3).
    package var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// The properties that identify a cookie in a store (section 5.7).
    package struct Identity: Hashable, Sendable {
        package let name: String
        package let domain: String
        package let isHostOnly: Bool
        package let path: String
    }

    package var identity: Identity { Identity(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }
}

extension UInt8 {
    /// Whether the byte is one of the control characters that no cookie can contain: all except the tab (RFC 6265bis, section
    /// 5.6).
    var isCookieControl: Bool { self < 0x20 && self != 0x09 || self == 0x7F }
}

extension [Cookie] {
    /// The value of a `Cookie` field with these cookies, in this order (RFC 6265bis, section 5.8.3).
    package var header: String { map(\.pair).joined(separator: "; ") }

    /// The bytes of the `Cookie` field's value, in the encodings that the servers used.
    var headerBytes: [UInt8] {
        [UInt8](map { $0.pair.bytes(isLatin1: $0.isLatin1) }.joined(separator: "; ".utf8))
    }
}

extension String {
    /// The bytes of the text in ISO-8859-1 or in UTF-8.
    func bytes(isLatin1: Bool) -> [UInt8] {
        isLatin1 ? unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(utf8)
    }
}

/// The host of a URL or the domain of a cookie, normalized for comparison (RFC 6265bis, sections 5.1.2 and 5.1.3).
package struct CookieDomain: Hashable, Sendable {
    /// The host in lowercase ASCII, without a port. An IPv6 address is in brackets.
    package let text: String
    /// Whether the host is an IP address, which has no hosts below it.
    package let isAddress: Bool

    /// - Returns: Nil if the text isn't a host: it is empty, begins or ends with a dot, has a port, or contains invalid bytes.
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
            guard first != dot, last != dot, text.allBytes(\.isHostCharacter) else { return nil }
        }
        self.init(host: text.asciiLowercased)
    }

    /// Creates a domain from the host of a request, which is valid and in lowercase. A host with a trailing dot is a different
    /// host.
    init(host: String) {
        text = host
        isAddress = host.utf8.first == UInt8(ascii: "[") || Self.isQuad(host)
    }

    /// Extracts the host from a request's authority.
    init(authority: String) { self.init(host: HostName.split(authority).name) }

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

    /// Returns the last two labels of a name. These approximate the name's site, and are used only to limit the number of entries.
    static func site(of name: String) -> Substring {
        let labels = name.utf8.split(separator: UInt8(ascii: "."))
        return labels.count > 2 ? name[labels[labels.count - 2].startIndex...] : name[...]
    }

    /// Returns whether the host is an IPv4 address in dotted decimal notation. Requests contain no other notation of IPv4
    /// addresses.
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

    /// Creates a value from a request. If the caller set a `Host` field, the host in the field replaces the URL's host.
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

public import Foundation

/// A cookie (RFC 6265bis, section 5.7): a name and a value that are sent back to the server that set them.
///
/// Every cookie can be sent as it is: it contains no line breaks and no semicolons, and its domain is in lowercase.
public struct Cookie: Sendable, Hashable {
    /// The requests from other sites that carry a cookie (RFC 6265bis, section 5.6.7).
    ///
    /// The value is stored, but it restricts nothing: a library can't determine on behalf of which site a request is made.
    public enum SameSite: String, Sendable, Hashable, CaseIterable {
        /// Requests from any site carry the cookie: `None`.
        case unrestricted = "None"
        /// Requests from the same site carry the cookie, and so do navigations to it.
        case lax = "Lax"
        /// Only requests from the same site carry the cookie.
        case strict = "Strict"
    }

    /// The name. It is empty for a cookie that consists of a value only.
    public let name: String
    /// The value, exactly as the server sent it.
    public let value: String
    /// The host that receives the cookie, in lowercase and without a leading dot. Hosts below it receive the cookie, too, unless
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
    /// Whether each character of the name and the value represents one byte, as in ISO-8859-1. Otherwise they are sent as UTF-8.
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
    /// - Returns: Nil if the cookie can't be sent: the name and the value are both empty; the name, value, or path contains a
    ///   semicolon or a control character other than a tab; the name, or the value of a cookie without a name, contains `=`; the
    ///   domain is invalid; or the path doesn't begin with `/`.
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

    /// Returns whether the cookie has expired.
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
    /// Whether the byte is a control character other than the tab, which no cookie can contain (RFC 6265bis, section 5.6).
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

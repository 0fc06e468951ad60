public import Foundation

/// A cookie (RFC 6265bis, section 5.7): a name and a value that go back to the server that has set them.
///
/// Whatever it is made of can be sent: it has no line breaks and no semicolons, and its domain is in lower case.
public struct Cookie: Sendable, Hashable {
    /// Whether requests from other sites carry a cookie (RFC 6265bis, section 5.6.7). It is kept, and restricts nothing: a
    /// library does not know on behalf of which site a request is made.
    public enum SameSite: String, Sendable, Hashable, CaseIterable {
        /// Requests from any site do: `None`.
        case unrestricted = "None"
        /// Those from the same site do, and those that lead there.
        case lax = "Lax"
        /// Only those from the same site do.
        case strict = "Strict"
    }

    /// The name; empty for a cookie that is a value only.
    public let name: String
    /// The value, as the server has written it.
    public let value: String
    /// The host that gets the cookie, and the hosts below it unless ``isHostOnly``. In lower case, without a dot in front.
    public let domain: String
    /// Whether only the host itself gets the cookie, not those below it.
    public let isHostOnly: Bool
    /// The path that the cookie is for, and all below it.
    public let path: String
    /// When the cookie is over; nil for a session cookie, which has no date.
    public let expires: Date?
    /// Whether the cookie is sent over https only.
    public let isSecure: Bool
    /// Whether the server wants to keep the cookie from scripts.
    public let isHTTPOnly: Bool
    /// What the server says of requests from other sites; nil if nothing.
    public let sameSite: SameSite?
    /// Whether each character of the name and the value stands for one byte, as in ISO-8859-1. Otherwise they are sent as UTF-8.
    var isLatin1 = false
    /// When the cookie was first set.
    public internal(set) var creationDate: Date
    /// When the cookie was last set or sent.
    public internal(set) var lastAccessDate: Date

    /// Makes a cookie.
    ///
    /// - Parameters:
    ///   - name: The name, which may be empty.
    ///   - value: The value.
    ///   - domain: The host that gets the cookie, without port: a name, or an address, of IPv6 in brackets.
    ///   - isHostOnly: Whether the hosts below it do not get the cookie. The default is true.
    ///   - path: The path that the cookie is for. The default is `/`: all.
    ///   - expires: When the cookie is over. The default is nil: it has no date.
    ///   - isSecure: Whether it is sent over https only. The default is false.
    ///   - isHTTPOnly: Whether scripts are not to see it. The default is false.
    ///   - sameSite: Whether requests from other sites carry it. The default is nil.
    ///   - creationDate: When it was first set. The default is now.
    /// - Returns: Nil when it could not be sent: name and value are both empty; a control character other than a tab, or a
    ///   semicolon, stands in one of them or in the path, or `=` in the name, or in the value where there is no name; the
    ///   domain is none, or the path does not begin with `/`.
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

    /// Whether the cookie is over.
    ///
    /// - Parameter date: The time to look at. The default is now.
    public func isExpired(at date: Date = Date()) -> Bool { expires.map { $0 <= date } ?? false }

    /// What stands for it in a `Cookie` field: `name=value`, and the value alone without a name (section 5.8.3).
    package var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// By what a store tells cookies apart (section 5.7).
    package struct Identity: Hashable, Sendable {
        package let name: String
        package let domain: String
        package let isHostOnly: Bool
        package let path: String
    }

    package var identity: Identity { Identity(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }
}

extension UInt8 {
    /// What no cookie may contain: control characters other than the tab (RFC 6265bis, section 5.6).
    var isCookieControl: Bool { self < 0x20 && self != 0x09 || self == 0x7F }
}

extension [Cookie] {
    /// The value of the `Cookie` field that carries them, in this order (RFC 6265bis, section 5.8.3).
    package var header: String { map(\.pair).joined(separator: "; ") }

    /// The bytes of that value, as the servers have set them.
    var headerBytes: [UInt8] {
        [UInt8](map { $0.pair.bytes(isLatin1: $0.isLatin1) }.joined(separator: "; ".utf8))
    }
}

extension String {
    /// The bytes that the text stands for, in ISO-8859-1 or in UTF-8.
    func bytes(isLatin1: Bool) -> [UInt8] {
        isLatin1 ? unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(utf8)
    }
}

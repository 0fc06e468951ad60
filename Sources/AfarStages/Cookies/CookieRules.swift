public import Foundation

/// The rules for the cookies that a server can set (RFC 6265bis, sections 5.3 to 5.7), except those that depend on stored
/// cookies.
public struct CookieRules: Sendable {
    private let publicSuffixes: any PublicSuffixList

    /// - Parameter publicSuffixes: The domains that no cookie can be set for. The default is nil, which treats each name without
    ///   a dot as a public suffix.
    public init(publicSuffixes: (any PublicSuffixList)? = nil) {
        self.publicSuffixes = publicSuffixes ?? TopLevelSuffixes()
    }

    /// Creates the cookie that a `Set-Cookie` field describes.
    ///
    /// - Parameters:
    ///   - field: The field's value.
    ///   - url: The URL that the response came from.
    ///   - now: The current date.
    /// - Returns: Nil if the field is ignored: it is malformed, too long, or sets a cookie that the URL isn't allowed to set. An
    ///   expired cookie instructs a store to remove its cookie with the same identity.
    public func cookie(from field: String, of url: CookieURL, now: Date = Date()) -> Cookie? {
        cookie(from: field, isLatin1: false, of: url, now: now)
    }

    func cookie(from field: String, isLatin1: Bool, of url: CookieURL, now: Date) -> Cookie? {
        guard let field = SetCookie(field, now: now), let scope = scope(of: field, from: url) else { return nil }
        guard url.isSecure || !field.isSecure, field.sameSite != .unrestricted || field.isSecure else {
            return nil
        }
        var cookie = Cookie(
            sendableName: field.name, value: field.value, domain: scope.domain, isHostOnly: scope.isHostOnly,
            path: field.path ?? url.defaultPath, expires: field.expires, isSecure: field.isSecure,
            isHTTPOnly: field.isHTTPOnly, sameSite: field.sameSite, creationDate: now)
        cookie.isLatin1 = isLatin1
        return Self.satisfiesNamePrefix(cookie, hasPath: field.path != nil) ? cookie : nil
    }

    /// Returns the hosts that receive the cookie, or nil if the server isn't allowed to set cookies for them.
    private func scope(of field: SetCookie, from url: CookieURL) -> (domain: String, isHostOnly: Bool)? {
        guard let wanted = field.domain else { return (url.host, true) }
        guard let domain = CookieDomain(wanted) else { return nil }
        if publicSuffixes.isPublicSuffix(domain.text) || domain.isAddress {
            return domain == url.domain ? (url.host, true) : nil
        }
        return url.domain.matches(domain.text) ? (domain.text, false) : nil
    }

    /// Verifies the guarantees of name prefixes (section 5.4): `__Secure-` and `__Host-` require the attributes that they
    /// promise.
    private static func satisfiesNamePrefix(_ cookie: Cookie, hasPath: Bool) -> Bool {
        func begins(_ text: String, _ prefix: String) -> Bool {
            text.utf8.prefix(prefix.utf8.count).map(\.asciiLowercased).elementsEqual(prefix.utf8)
        }
        let (host, secure) = ("__host-", "__secure-")
        // A server would parse the value of a nameless cookie as its name, up to a "=".
        if cookie.name.isEmpty {
            return !begins(cookie.value, host) && !begins(cookie.value, secure) && !cookie.value.utf8.contains(0x3D)
        }
        if begins(cookie.name, host) { return cookie.isSecure && cookie.isHostOnly && hasPath && cookie.path == "/" }
        return !begins(cookie.name, secure) || cookie.isSecure
    }

    /// Returns whether two hosts belong to the same site.
    package func areSameSite(_ host: CookieURL, _ other: CookieURL) -> Bool {
        publicSuffixes.areSameSite(host.domain, other.domain)
    }
}

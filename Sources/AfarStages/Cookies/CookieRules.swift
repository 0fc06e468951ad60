public import Foundation

/// What a server may set (RFC 6265bis, sections 5.3 to 5.7), as far as no store has to be asked.
public struct CookieRules: Sendable {
    private let publicSuffixes: any PublicSuffixList

    /// - Parameter publicSuffixes: The names that no cookie is for. The default is nil: those without a dot in them.
    public init(publicSuffixes: (any PublicSuffixList)? = nil) {
        self.publicSuffixes = publicSuffixes ?? TopLevelSuffixes()
    }

    /// The cookie that a `Set-Cookie` field stands for.
    ///
    /// - Parameters:
    ///   - field: The field's value.
    ///   - url: The URL that the response came from.
    ///   - now: The time.
    /// - Returns: Nil for a field that is ignored: it cannot be read, is too long, or wants what that URL has no right to. A
    ///   cookie whose time is over takes away the one that a store has.
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
        return Self.hasRightToName(cookie, hasPath: field.path != nil) ? cookie : nil
    }

    /// Whom the cookie is for; nil when that is none of the server's.
    private func scope(of field: SetCookie, from url: CookieURL) -> (domain: String, isHostOnly: Bool)? {
        guard let wanted = field.domain else { return (url.host, true) }
        guard let domain = CookieDomain(wanted) else { return nil }
        if publicSuffixes.isPublicSuffix(domain.text) || domain.isAddress {
            return domain == url.domain ? (url.host, true) : nil
        }
        return url.domain.matches(domain.text) ? (domain.text, false) : nil
    }

    /// What names promise (section 5.4): a cookie whose name begins so was set in that way.
    private static func hasRightToName(_ cookie: Cookie, hasPath: Bool) -> Bool {
        func begins(_ text: String, _ prefix: String) -> Bool {
            text.utf8.prefix(prefix.utf8.count).map(\.asciiLowercased).elementsEqual(prefix.utf8)
        }
        let (host, secure) = ("__host-", "__secure-")
        // A server would read the value of a cookie without a name as its name, up to a "=".
        if cookie.name.isEmpty {
            return !begins(cookie.value, host) && !begins(cookie.value, secure) && !cookie.value.utf8.contains(0x3D)
        }
        if begins(cookie.name, host) { return cookie.isSecure && cookie.isHostOnly && hasPath && cookie.path == "/" }
        return !begins(cookie.name, secure) || cookie.isSecure
    }

    /// Whether a host is of the site of another.
    package func areSameSite(_ host: CookieURL, _ other: CookieURL) -> Bool {
        publicSuffixes.areSameSite(host.domain, other.domain)
    }
}

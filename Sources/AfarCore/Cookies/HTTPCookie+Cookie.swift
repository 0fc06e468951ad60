#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension HTTPCookie {
    private static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
    private static let sameSite = HTTPCookiePropertyKey("SameSite")

    /// Foundation's form of a cookie; nil where Foundation cannot have it. It is for all hosts below its domain when that begins
    /// with a dot.
    public convenience init?(_ cookie: Cookie) {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: cookie.name, .value: cookie.value, .domain: (cookie.isHostOnly ? "" : ".") + cookie.domain,
            .path: cookie.path,
        ]
        if let expires = cookie.expires { properties[.expires] = expires }
        if cookie.isSecure { properties[.secure] = "TRUE" }
        if cookie.isHTTPOnly { properties[Self.httpOnly] = "TRUE" }
        if let sameSite = cookie.sameSite { properties[Self.sameSite] = sameSite.rawValue.lowercased() }
        self.init(properties: properties)
    }
}

extension Cookie {
    /// The form of Foundation's cookie; nil for one that cannot be sent.
    public init?(_ cookie: HTTPCookie) {
        let isHostOnly = !cookie.domain.hasPrefix(".")
        let properties = cookie.properties ?? [:]
        let created = (properties[HTTPCookiePropertyKey("Created")] as? Double).map(
            Date.init(timeIntervalSinceReferenceDate:))
        let sameSite = properties[HTTPCookiePropertyKey("SameSite")] as? String
        self.init(
            name: cookie.name, value: cookie.value,
            domain: isHostOnly ? cookie.domain : String(cookie.domain.dropFirst()),
            isHostOnly: isHostOnly, path: cookie.path, expires: cookie.expiresDate, isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            sameSite: SameSite.allCases.first { $0.rawValue.lowercased() == sameSite?.lowercased() },
            creationDate: created ?? Date())
    }
}

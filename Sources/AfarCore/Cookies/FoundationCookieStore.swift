#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Keeps cookies in Foundation's storage, for all who use that. The rules are Afar's, not the storage's: it only keeps what
/// they let in.
///
/// All cookies of the storage are looked through for each request, so it is for few.
public struct FoundationCookieStore: CookieStore {
    /// Where the cookies are.
    public let storage: HTTPCookieStorage

    /// Makes a store.
    ///
    /// - Parameter storage: Where the cookies are. The default is the one that all of the process shares.
    public init(_ storage: HTTPCookieStorage = .shared) { self.storage = storage }

    /// Whether there are no cookies.
    public var isEmpty: Bool { storage.cookies?.isEmpty ?? true }

    /// All cookies whose time is not over, in no particular order.
    public var all: [Cookie] { jar.all() }

    /// The cookies for a request, in the order in which they are sent.
    public func cookies(for url: CookieURL) -> [Cookie] {
        var jar = jar
        return jar.cookies(for: url)
    }

    /// Takes cookies; one whose time is over removes the one that is there. A domain that has 50 loses another for each new one.
    public func store(_ cookies: [Cookie], from url: CookieURL?) {
        var jar = jar
        for cookie in cookies where jar.store(cookie, from: url) {
            if !cookie.isExpired(), let other = HTTPCookie(cookie) {
                storage.setCookie(other)
                makeRoom(for: cookie, in: &jar)
            } else {
                remove { $0.identity == cookie.identity }
            }
        }
    }

    private func makeRoom(for cookie: Cookie, in jar: inout CookieJar) {
        let others = jar.all().filter { $0.domain == cookie.domain && $0.identity != cookie.identity }
        guard others.count >= CookieJar.Limits().perDomain,
            let victim = others.min(by: { $0.creationDate < $1.creationDate })
        else { return }
        jar.remove { $0.identity == victim.identity }
        remove { $0.identity == victim.identity }
    }

    /// Removes the cookies for which the closure returns true.
    public func remove(where shouldRemove: (Cookie) -> Bool) {
        for cookie in storage.cookies ?? [] {
            if let known = Cookie(cookie), shouldRemove(known) { storage.deleteCookie(cookie) }
        }
    }

    /// Removes all cookies.
    public func removeAll() { for cookie in storage.cookies ?? [] { storage.deleteCookie(cookie) } }

    private var jar: CookieJar {
        // What others have put into the storage is not limited.
        var jar = CookieJar(limits: .init(perDomain: .max, total: .max))
        for cookie in storage.cookies ?? [] {
            if let cookie = Cookie(cookie) { jar.store(cookie) }
        }
        return jar
    }
}

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

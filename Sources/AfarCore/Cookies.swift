public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A cookie store that keeps cookies in a Foundation storage. All code that uses the storage shares the cookies. Afar's cookie
/// rules determine which cookies a session stores.
///
/// Each request reads all cookies in the storage, so use this store only for a small number of cookies.
public struct FoundationCookieStore: CookieStore {
    /// The storage that contains the cookies.
    public let storage: HTTPCookieStorage

    /// Creates a store.
    ///
    /// - Parameter storage: The storage that contains the cookies. The default is the shared storage.
    public init(_ storage: HTTPCookieStorage = .shared) { self.storage = storage }

    /// A Boolean value that indicates whether there are no cookies.
    public var isEmpty: Bool { storage.cookies?.isEmpty ?? true }

    /// All unexpired cookies, in no particular order.
    public var all: [Cookie] { jar.all() }

    /// Returns the cookies for a request, in the order in which they are sent.
    public func cookies(for url: CookieURL, now: Date) -> [Cookie] {
        var jar = jar
        return jar.cookies(for: url, now: now)
    }

    /// Stores cookies. An expired cookie removes the stored cookie with the same name, domain and path. If a domain already has 50
    /// cookies, each new cookie replaces the oldest.
    public func store(_ cookies: [Cookie], from url: CookieURL?, now: Date) {
        var jar = jar
        for cookie in cookies where jar.store(cookie, from: url, now: now) {
            if !cookie.isExpired(at: now), let other = HTTPCookie(cookie) {
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
        // Don't limit the number, because other code might have stored more cookies.
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

    /// Creates a Foundation cookie. Returns nil if Foundation can't represent the cookie. If the domain begins with a dot, the
    /// cookie applies to all of its subdomains.
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
    /// Creates a cookie from a Foundation cookie. Returns nil if the cookie can't be sent.
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

extension SessionConfiguration {
    /// The session's cookies as a Foundation storage, or nil if the session has no cookie store.
    ///
    /// If you set a storage, it becomes the session's ``cookieStore``. All code that uses the storage shares the cookies. On
    /// Linux, `HTTPCookieStorage.shared` writes a file for each cookie. If you set no storage, the property returns a copy of
    /// the store's cookies. Changes to the copy don't affect the session.
    public var httpCookieStorage: HTTPCookieStorage? {
        get { cookieStore.flatMap { ($0 as? FoundationCookieStore)?.storage ?? Self.storage(copying: $0) } }
        set { cookieStore = newValue.map(FoundationCookieStore.init) }
    }

    /// Returns an in-memory storage with a store's cookies. Foundation creates such a storage only for a
    /// `URLSessionConfiguration`.
    private static func storage(copying store: any CookieStore) -> HTTPCookieStorage? {
        let storage = URLSessionConfiguration.ephemeral.httpCookieStorage
        for cookie in store.all { HTTPCookie(cookie).map { storage?.setCookie($0) } }
        return storage
    }

    /// Returns the stage that sends and stores the cookies of each exchange, or nil if it would do neither.
    func cookieStage(sends: Bool = true, accepts: Bool = true) -> CookieStage? {
        let sends = sends && httpShouldSetCookies
        let policy = accepts ? httpCookieAcceptPolicy : .never
        guard let cookieStore, sends || policy != .never else { return nil }
        return CookieStage(
            cookieStore, rules: CookieRules(publicSuffixes: publicSuffixList), sends: sends, joins: joinsCookies,
            accepts: CookieStage.AcceptPolicy(policy))
    }
}

extension CookieStage.AcceptPolicy {
    fileprivate init(_ policy: HTTPCookie.AcceptPolicy) {
        self =
            switch policy {
            case .always: .always
            case .never: .never
            case .onlyFromMainDocumentDomain: .onlyFromMainDocumentDomain
            @unknown default: .onlyFromMainDocumentDomain
            }
    }
}

extension CookieHandling {
    /// Creates the cookie handling that a request specifies. Returns nil if the request uses the default.
    init?(_ urlRequest: URLRequest) {
        let document = urlRequest.mainDocumentURL
        guard !urlRequest.httpShouldHandleCookies || document != nil else { return nil }
        self.init(isEnabled: urlRequest.httpShouldHandleCookies, document: document.flatMap(CookieURL.init))
    }
}

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension SessionConfiguration {
    /// The session's cookies as a Foundation storage; nil if the session has no cookie store.
    ///
    /// Setting a storage makes it the session's ``cookieStore``, shared with all code that uses the storage. On Linux,
    /// `HTTPCookieStorage.shared` writes a file for each cookie. Reading returns that storage if one was set. Otherwise it
    /// returns a copy of the store's cookies; changes to the copy don't affect the session.
    public var httpCookieStorage: HTTPCookieStorage? {
        get { cookieStore.flatMap { ($0 as? FoundationCookieStore)?.storage ?? Self.storage(copying: $0) } }
        set { cookieStore = newValue.map(FoundationCookieStore.init) }
    }

    /// Returns an in-memory storage. Foundation has no other way to create one.
    private static func storage(copying store: any CookieStore) -> HTTPCookieStorage? {
        let storage = URLSessionConfiguration.ephemeral.httpCookieStorage
        for cookie in store.all { HTTPCookie(cookie).map { storage?.setCookie($0) } }
        return storage
    }

    /// Returns the stage that handles the cookies of each exchange; nil if cookies are neither sent nor stored.
    ///
    /// - Parameters:
    ///   - sends: Whether cookies can be sent.
    ///   - accepts: Whether cookies can be stored.
    func cookieStage(sends: Bool = true, accepts: Bool = true) -> CookieStage? {
        let sends = sends && httpShouldSetCookies
        let policy = accepts ? httpCookieAcceptPolicy : .never
        guard let cookieStore, sends || policy != .never else { return nil }
        return CookieStage(
            cookieStore, rules: CookieRules(publicSuffixes: publicSuffixList), sends: sends,
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
    /// Creates the cookie handling that a request specifies. Returns nil if it uses the default.
    init?(_ urlRequest: URLRequest) {
        let document = urlRequest.mainDocumentURL
        guard !urlRequest.httpShouldHandleCookies || document != nil else { return nil }
        self.init(isWanted: urlRequest.httpShouldHandleCookies, document: document.flatMap(CookieURL.init))
    }
}

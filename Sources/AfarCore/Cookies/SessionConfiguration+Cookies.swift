#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension SessionConfiguration {
    /// The session's cookies as Foundation's storage has them; nil when the session keeps none.
    ///
    /// A storage that is set becomes the session's ``cookieStore``, shared with all who use it; on Linux
    /// `HTTPCookieStorage.shared` writes a file with each cookie. What is read is that storage again, if there is one, and else a
    /// copy of the cookies of the store: what is changed in it changes nothing in the session.
    public var httpCookieStorage: HTTPCookieStorage? {
        get { cookieStore.flatMap { ($0 as? FoundationCookieStore)?.storage ?? Self.storage(copying: $0) } }
        set { cookieStore = newValue.map(FoundationCookieStore.init) }
    }

    /// A storage in memory. Foundation has no other way to make one.
    private static func storage(copying store: any CookieStore) -> HTTPCookieStorage? {
        let storage = URLSessionConfiguration.ephemeral.httpCookieStorage
        for cookie in store.all { HTTPCookie(cookie).map { storage?.setCookie($0) } }
        return storage
    }

    /// What is done about the cookies of each exchange; nil when nothing is.
    ///
    /// - Parameters:
    ///   - sends: Whether cookies may be sent.
    ///   - accepts: Whether cookies may be stored.
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
    /// What a request says about cookies; nil when it says nothing.
    init?(_ urlRequest: URLRequest) {
        let document = urlRequest.mainDocumentURL
        guard !urlRequest.httpShouldHandleCookies || document != nil else { return nil }
        self.init(isWanted: urlRequest.httpShouldHandleCookies, document: document.flatMap(CookieURL.init))
    }
}

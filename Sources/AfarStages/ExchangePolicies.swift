/// What the built-in stages need to know about a request. Other stages define an ``ExchangeContextKey`` instead.
///
/// Closures here often hold the request, so the stage that uses one removes it from the exchange that it passes on.
package struct ExchangePolicies: Sendable {
    /// What is done about redirects.
    package var redirects = RedirectPolicy.follow
    /// The schemes in redirects that stand for others, such as `ws` for `http` when the exchange opens a WebSocket.
    package var redirectSchemes: [String: String] = [:]
    /// Answers challenges; nil if there is no credential.
    package var credential: Credential?
    /// Called for each challenge, before the credential is used.
    package var challengeHandler: ChallengeHandler?
    /// The challenge that this request answers; nil if it answers none.
    var answeredChallenge: AnsweredChallenge?
    /// Whether cookies are sent and stored.
    package var cookies = CookieHandling()
    /// How the request uses the cache.
    package var cache = CachePolicy.standard
    /// Called before the cache stores a response.
    package var cacheHandler: CacheHandler?
    /// Called for a server's certificates, before they are evaluated.
    package var serverTrustHandler: ServerTrustHandler?

    package init() {}

    fileprivate static let standard = ExchangePolicies()

    fileprivate enum Key: ExchangeContextKey {
        static var defaultValue: ExchangePolicies { .standard }
    }
}

extension Exchange {
    /// What the built-in stages need to know about the request. Reading is free while nothing was set.
    package var policies: ExchangePolicies {
        get { hasPolicies ? context[ExchangePolicies.Key.self] : .standard }
        set { context[ExchangePolicies.Key.self] = newValue }
    }

    /// Whether a policy may have been set.
    var hasPolicies: Bool { !context.isEmpty }
}

/// The settings of a request for the built-in stages. Other stages define an ``ExchangeContextKey`` instead.
///
/// The closures often retain the request, so a stage that uses one removes it from the exchange that it passes on.
package struct ExchangePolicies: Sendable {
    /// How redirects are handled.
    package var redirects = RedirectPolicy.follow
    /// Replacements for the schemes of redirects, such as `http` for `ws` when the exchange opens a WebSocket.
    package var redirectSchemes: [String: String] = [:]
    /// The credential for challenges, if any.
    package var credential: Credential?
    /// Called for each challenge, before the credential is used.
    package var challengeHandler: ChallengeHandler?
    /// The challenge that this request answers, if any.
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
    /// The request's settings for the built-in stages. Reading them is free if none were set.
    package var policies: ExchangePolicies {
        get { hasPolicies ? context[ExchangePolicies.Key.self] : .standard }
        set { context[ExchangePolicies.Key.self] = newValue }
    }

    /// Whether settings may have been set.
    var hasPolicies: Bool { !context.isEmpty }
}

/// The settings of a request for the built-in stages. Other stages define an ``ExchangeContextKey`` instead.
///
/// The closures often retain the request. The redirect and authentication stages therefore remove their closures before they pass
/// the exchange to the next stage.
package struct ExchangePolicies: Sendable {
    package var redirects = RedirectPolicy.follow
    /// Replacements for the schemes of redirects, such as `http` for `ws` when the exchange opens a WebSocket.
    package var redirectSchemes: [String: String] = [:]
    /// The credential for challenges, if any.
    package var credential: Credential?
    /// Called for each challenge, before the credential is used.
    package var challengeHandler: ChallengeHandler?
    /// The challenge that this request answers, if any.
    var answeredChallenge: AnsweredChallenge?
    package var cookies = CookieHandling()
    package var cache = CachePolicy.standard
    /// Called before the cache stores a response.
    package var cacheHandler: CacheHandler?

    package init() {}

    fileprivate static let standard = Box(ExchangePolicies())

    /// A class, so that reading one policy doesn't cast a large value.
    fileprivate final class Box: Sendable {
        let policies: ExchangePolicies

        init(_ policies: ExchangePolicies) { self.policies = policies }
    }

    fileprivate enum Key: ExchangeContextKey {
        static var defaultValue: Box { ExchangePolicies.standard }
    }
}

extension ExchangeContext {
    /// The request's settings for the built-in stages.
    fileprivate var policies: ExchangePolicies {
        get { (isEmpty ? ExchangePolicies.standard : self[ExchangePolicies.Key.self]).policies }
        set { self[ExchangePolicies.Key.self] = ExchangePolicies.Box(newValue) }
    }
}

extension Exchange {
    /// The request's settings for the built-in stages. Reading them is free if none were set.
    package var policies: ExchangePolicies {
        get { context.policies }
        set { context.policies = newValue }
    }

    /// Whether settings may have been set.
    var hasPolicies: Bool { !context.isEmpty }

    /// A copy that can be stored, because it doesn't retain the session's request. It lacks the observer, the head decision, and
    /// the settings for built-in stages, such as the credential and the handlers for redirects and challenges.
    public var withoutHandlers: Exchange {
        var copy = self
        (copy.observer, copy.decide) = (nil, nil)
        if hasPolicies { copy.policies = ExchangePolicies() }
        return copy
    }
}

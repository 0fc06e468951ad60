/// How a request uses a cache; Foundation's `URLRequest.CachePolicy` in other words.
package enum CachePolicy: Sendable {
    /// As RFC 9111 says.
    case standard
    /// What is kept is not used. What comes is kept.
    case reload
    /// What is kept is used, however old it is.
    case cacheElseLoad
    /// The same, and nothing goes over the network.
    case cacheOnly
    /// The server is asked whether what is kept still holds.
    case revalidate
}

/// Where an exchange's policy stands in its context.
package enum CachePolicyKey: ExchangeContextKey {
    package static let defaultValue = CachePolicy.standard
}

/// Where stands who is asked before a response is kept; nil when nobody is.
package enum CacheHandlerKey: ExchangeContextKey {
    /// Gives the response that is to be kept in the place of another, or nil for none.
    package typealias Handler = @Sendable (CachedResponse) -> Reply<CachedResponse?>

    package static let defaultValue: Handler? = nil
}

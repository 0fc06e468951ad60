import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    /// Sets the handler that decides whether this request's response is cached, in place of the session's handler. A later call
    /// replaces it. Set it before the response arrives.
    ///
    /// - Parameter handler: Called when the response is complete. See ``CachedResponseHandler``.
    @discardableResult
    public func cacheResponse(using handler: any CachedResponseHandler) -> Self {
        mutable.release { Swift.exchange(&$0.settings.cachedResponseHandler, with: handler) }
        return self
    }

    /// The request's own handler for caching decisions; nil if the session's handler decides.
    public var cachedResponseHandler: (any CachedResponseHandler)? {
        mutable.withLock { $0.settings.cachedResponseHandler }
    }

    /// Configures how an exchange uses the session's cache.
    func useCache(for urlRequest: URLRequest, in exchange: inout Exchange) throws {
        let own = urlRequest.cachePolicy
        let policy = own == .useProtocolCachePolicy ? session.configuration.requestCachePolicy : own
        if policy == .reloadIgnoringLocalAndRemoteCacheData,
            exchange.request.headerFields[.cacheControl] == nil
        {
            exchange.request.headerFields[.cacheControl] = "no-cache"
        }
        guard stack.configuration.cacheStore != nil else {
            guard policy == .returnCacheDataDontLoad else { return }
            throw TransportError(
                .notCached, phase: .queued, url: exchange.url,
                message:
                    "the request wants only what a cache has, and the session has none (SessionConfiguration.cacheStore)"
            )
        }
        var policies = exchange.policies
        policies.cache = CachePolicy(policy)
        // Read late, because a handler can be set until the response arrives.
        policies.cacheHandler = { [self] response in keepable(response) }
        exchange.policies = policies
    }

    /// Returns what to store of a response; nil to store nothing.
    private func keepable(_ response: CachedResponse) -> Reply<CachedResponse?> {
        let handler = cachedResponseHandler ?? session.cachedResponseHandler
        let task = lastTask as? URLSessionDataTask
        let proposal = task == nil || handler == nil && events == nil ? nil : response.cachedURLResponse
        if let task, let proposal { events?.urlSession(.shared, dataTask: task, willCacheResponse: proposal) }
        switch (handler as? ResponseCacher)?.behavior {
        case .cache: return .now(response)
        case .doNotCache: return .now(nil)
        case .modify, nil: break
        }
        guard let handler else { return .now(response) }
        // A handler that can't be called, for example for a download, hasn't agreed.
        guard let task, let proposal else { return .now(nil) }
        return .wait {
            let decision: CachedURLResponse? = await withCancellableCallback(ifCancelled: nil) { answer in
                handler.dataTask(task, willCacheResponse: proposal, completion: answer)
            }
            return decision.flatMap { $0 === proposal ? response : response.changed(to: $0) }
        }
    }
}

extension CachePolicy {
    fileprivate init(_ policy: URLRequest.CachePolicy) {
        switch policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: self = .reload
        case .returnCacheDataElseLoad: self = .cacheElseLoad
        case .returnCacheDataDontLoad: self = .cacheOnly
        case .reloadRevalidatingCacheData: self = .revalidate
        default: self = .standard
        }
    }
}

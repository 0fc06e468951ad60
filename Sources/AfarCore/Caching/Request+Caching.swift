import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    /// Sets who decides what a cache keeps of this request's response, in place of the session's handler. Only the last one
    /// set counts. Set it before the response is there.
    ///
    /// - Parameter handler: Asked when the response is there; see ``CachedResponseHandler``.
    @discardableResult
    public func cacheResponse(using handler: any CachedResponseHandler) -> Self {
        mutable.release { Swift.exchange(&$0.settings.cachedResponseHandler, with: handler) }
        return self
    }

    /// Who was set to decide what a cache keeps of this request's response; nil when that is left to the session.
    public var cachedResponseHandler: (any CachedResponseHandler)? {
        mutable.withLock { $0.settings.cachedResponseHandler }
    }

    /// Tells an exchange how it uses the session's cache.
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
        if policy != .useProtocolCachePolicy { exchange.policies.cache = CachePolicy(policy) }
        // A handler may be set until the response is there.
        exchange.policies.cacheHandler = { [self] response in keepable(response) }
    }

    /// What is kept of a response, nil for nothing.
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
        // Who cannot be asked, about a download say, has not agreed.
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

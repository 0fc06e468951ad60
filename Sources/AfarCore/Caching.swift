import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A type that decides what a session's cache stores. Pass one to a session, or to a request with
/// ``Request/cacheResponse(using:)``.
///
/// The handler is called for complete responses that HTTP's rules allow to be stored; without a handler, all of them are stored.
/// It can be called for several requests at once. Downloads aren't data tasks, so a handler isn't called for them: they are
/// stored only without a handler or with ``ResponseCacher/cache``. A 304 response renews the stored response without calling the
/// handler. Without ``SessionConfiguration/cacheStore``, the handler isn't called. ``ResponseCacher`` covers the common cases.
public protocol CachedResponseHandler: Sendable {
    /// Called when a response can be stored.
    ///
    /// The method is called on an unspecified thread. The completion can be called from any thread; a second call has no effect.
    /// If it is never called, nothing is stored.
    ///
    /// - Parameters:
    ///   - task: The request's attempt. See ``Request/tasks``.
    ///   - response: The response to store.
    ///   - completion: Receives the response to store, or nil to store nothing.
    @preconcurrency
    func dataTask(
        _ task: URLSessionDataTask,
        willCacheResponse response: CachedURLResponse,
        completion: @escaping @Sendable (CachedURLResponse?) -> Void
    )
}

/// A ``CachedResponseHandler`` that stores responses, stores none, or modifies what is stored.
public struct ResponseCacher: Sendable {
    /// What a ``ResponseCacher`` does with a response.
    public enum Behavior: Sendable {
        /// Stores the response.
        case cache
        /// Stores nothing.
        case doNotCache
        /// Stores the response that the closure returns; nothing if it returns nil.
        @preconcurrency case modify(
            @Sendable (_ task: URLSessionDataTask, _ response: CachedURLResponse) -> CachedURLResponse?)
    }

    /// Stores responses.
    public static let cache = ResponseCacher(behavior: .cache)
    /// Stores no responses.
    public static let doNotCache = ResponseCacher(behavior: .doNotCache)

    /// What the cacher does with a response.
    public let behavior: Behavior

    /// Creates a cacher.
    public init(behavior: Behavior) {
        self.behavior = behavior
    }
}

extension ResponseCacher: CachedResponseHandler {
    /// Applies the behavior to a response.
    @preconcurrency
    public func dataTask(
        _ task: URLSessionDataTask,
        willCacheResponse response: CachedURLResponse,
        completion: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        switch behavior {
        case .cache: completion(response)
        case .doNotCache: completion(nil)
        case .modify(let closure): completion(closure(task, response))
        }
    }
}

extension CachedResponseHandler where Self == ResponseCacher {
    /// Stores responses.
    public static var cache: ResponseCacher { .init(behavior: .cache) }
    /// Stores no responses.
    public static var doNotCache: ResponseCacher { .init(behavior: .doNotCache) }

    /// Stores the response that a closure returns; nothing if it returns nil.
    @preconcurrency
    public static func modify(
        using closure: @escaping @Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
    ) -> ResponseCacher {
        .init(behavior: .modify(closure))
    }
}

// MARK: - Requests

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

// MARK: - URLCache

/// A cache store that keeps responses in the memory of a `URLCache`, one per URL. On Linux, URLs that differ only in scheme or
/// query share one entry, because Foundation doesn't distinguish them.
public final class URLCacheStore: CacheStore, @unchecked Sendable {
    // Sendable because the cache can be used from any thread.

    private let storing = Locked(())

    /// The cache that holds the responses.
    public let cache: URLCache

    /// Creates a store on top of a cache.
    public init(_ cache: URLCache) {
        self.cache = cache
    }

    private static let key = "afar.response"

    /// Returns the responses to a URL, the newest first.
    public func responses(for url: String) -> [CachedResponse] {
        guard let request = Self.request(for: url), let entry = cache.cachedResponse(for: request) else { return [] }
        // Ignores entries of other code that uses the same cache: they don't record which requests may receive them.
        guard let response = entry.userInfo?[Self.key] as? CachedResponse, response.url == url else { return [] }
        return [response]
    }

    /// Stores a response, replacing the one of its variant.
    public func store(_ response: CachedResponse) {
        guard let request = Self.request(for: response.url), let entry = response.cachedURLResponse else { return }
        let keyed = CachedURLResponse(
            response: entry.response, data: entry.data, userInfo: [Self.key: response],
            storagePolicy: .allowedInMemoryOnly)
        storing.withLock { [cache] _ in
            // On Linux, a replaced entry is counted twice, which crashes the process when it is evicted.
            cache.removeCachedResponse(for: request)
            cache.storeCachedResponse(keyed, for: request)
        }
    }

    /// Removes the responses to a URL.
    public func removeResponses(for url: String) {
        if let request = Self.request(for: url) { cache.removeCachedResponse(for: request) }
    }

    /// Removes all responses.
    public func removeAll() { cache.removeAllCachedResponses() }

    private static func request(for url: String) -> URLRequest? {
        URL(keepingEscapesOf: url).map { URLRequest(url: $0) }
    }
}

extension CachedResponse {
    /// Foundation's form of the response; nil if the URL is invalid.
    var cachedURLResponse: CachedURLResponse? {
        let head = ResponseHead(status: status, fields: fields, url: url)
        return head.httpURLResponse.map { CachedURLResponse(response: $0, data: body) }
    }

    /// Returns the response as a handler modified it in Foundation's form; nil if the handler doesn't allow it to be stored.
    func changed(to other: CachedURLResponse) -> CachedResponse? {
        guard other.storagePolicy != .notAllowed else { return nil }
        var (status, fields) = (status, fields)
        if let head = other.response as? HTTPURLResponse {
            status = head.statusCode
            fields = HTTPFields(head, inPlaceOf: fields)
        }
        return CachedResponse(
            url: url, variant: variant, status: status, fields: fields, body: other.data, requestDate: requestDate,
            responseDate: responseDate, isForMemoryOnly: other.storagePolicy == .allowedInMemoryOnly)
    }
}

extension HTTPFields {
    /// Creates the fields of Foundation's form of a head. Unchanged fields with several values stay separate.
    fileprivate init(_ head: HTTPURLResponse, inPlaceOf old: HTTPFields) {
        self.init()
        for case (let text as String, let value as String) in head.allHeaderFields {
            guard let name = HTTPField.Name(text) else { continue }
            let values = old[values: name]
            if values.joined(separator: ", ") == value { self[values: name] = values } else { self[name] = value }
        }
    }
}

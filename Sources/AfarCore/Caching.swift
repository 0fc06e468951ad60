import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A type that decides what a session's cache stores. Pass a handler to a session, or to a request with
/// ``Request/cacheResponse(using:)``.
///
/// The handler is called for each complete response that HTTP's caching rules allow to be stored. It can be called for several
/// requests at once. Without a handler, all of these responses are stored. ``ResponseCacher`` covers the common cases.
///
/// The handler isn't called:
/// - for a download, because it has no data task. A download's response is stored only if there is no handler, or if the
///   handler is ``ResponseCacher/cache``.
/// - for a 304 response, which renews the stored response.
/// - if the session has no ``SessionConfiguration/cacheStore``.
public protocol CachedResponseHandler: Sendable {
    /// Called when a response can be stored.
    ///
    /// The method is called on an unspecified thread. The completion can be called from any thread; a second call has no
    /// effect. If the completion is never called, nothing is stored.
    ///
    /// - `completion`: Receives the response to store, or nil to store nothing.
    @preconcurrency
    func dataTask(
        _ task: URLSessionDataTask,
        willCacheResponse response: CachedURLResponse,
        completion: @escaping @Sendable (CachedURLResponse?) -> Void
    )
}

/// A ``CachedResponseHandler`` that stores responses, doesn't store them, or modifies them before they are stored.
public struct ResponseCacher: Sendable {
    /// The action that a ``ResponseCacher`` performs on a response.
    public enum Behavior: Sendable {
        /// Stores the response.
        case cache
        /// Stores nothing.
        case doNotCache
        /// Stores the response that the closure returns. If the closure returns nil, nothing is stored.
        @preconcurrency case modify(
            @Sendable (_ task: URLSessionDataTask, _ response: CachedURLResponse) -> CachedURLResponse?)
    }

    /// Stores responses.
    public static let cache = ResponseCacher(behavior: .cache)
    /// Stores no responses.
    public static let doNotCache = ResponseCacher(behavior: .doNotCache)

    /// The action that the cacher performs on a response.
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

    /// Stores the response that a closure returns. If the closure returns nil, nothing is stored.
    @preconcurrency
    public static func modify(
        using closure: @escaping @Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
    ) -> ResponseCacher {
        .init(behavior: .modify(closure))
    }
}

extension Request {
    /// Sets the handler that decides whether this request's response is cached.
    ///
    /// The session's handler isn't called for this request. Call this method before the response arrives. A later call replaces
    /// the handler.
    ///
    /// - Parameter handler: Called when the response is complete. See ``CachedResponseHandler``.
    @discardableResult
    public func cacheResponse(using handler: any CachedResponseHandler) -> Self {
        mutable.release { Swift.exchange(&$0.settings.cachedResponseHandler, with: handler) }
        return self
    }

    /// The request's own handler for caching decisions, or nil if the session's handler decides.
    public var cachedResponseHandler: (any CachedResponseHandler)? {
        mutable.withLock { $0.settings.cachedResponseHandler }
    }

    func useCache(for urlRequest: URLRequest, in exchange: inout Exchange) throws {
        let requestPolicy = urlRequest.cachePolicy
        let policy = requestPolicy == .useProtocolCachePolicy ? session.configuration.requestCachePolicy : requestPolicy
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
                    "the request can only be answered from a cache, but SessionConfiguration.cacheStore is nil"
            )
        }
        var policies = exchange.policies
        policies.cache = CachePolicy(policy)
        // A handler can be set until the response arrives.
        policies.cacheHandler = { [self] response in responseToStore(response) }
        exchange.policies = policies
    }

    /// Returns the response to store, or nil to store nothing.
    private func responseToStore(_ response: CachedResponse) -> Reply<CachedResponse?> {
        let handler = cachedResponseHandler ?? session.cachedResponseHandler
        let task = lastTask as? URLSessionDataTask
        let proposal = task == nil || handler == nil && events == nil ? nil : response.cachedURLResponse
        if let task, let proposal { events?.receive(.dataTaskWillCacheResponse(task, proposal)) }
        switch (handler as? ResponseCacher)?.behavior {
        case .cache: return .now(response)
        case .doNotCache: return .now(nil)
        case .modify, nil: break
        }
        guard let handler else { return .now(response) }
        // Stores nothing if the handler can't be called, for example for a download.
        guard let task, let proposal else { return .now(nil) }
        return .wait {
            let decision: CachedURLResponse? = await withCancellableCallback(ifCancelled: nil) { answer in
                handler.dataTask(task, willCacheResponse: proposal, completion: answer)
            }
            return decision.flatMap { $0 === proposal ? response : response.applying($0) }
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

/// A cache store that keeps one response for each URL in the memory of a `URLCache`. On Linux, URLs that differ only in scheme or
/// query share one entry, because Foundation doesn't distinguish them.
public final class URLCacheStore: CacheStore, @unchecked Sendable {
    // @unchecked because `URLCache` is thread-safe.

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
        // Ignore entries from other code, because they don't record the requests for which they are valid.
        guard let response = entry.userInfo?[Self.key] as? CachedResponse, response.url == url else { return [] }
        return [response]
    }

    /// Stores a response, replacing the previous response to the same URL.
    public func store(_ response: CachedResponse) {
        guard let request = Self.request(for: response.url), let entry = response.cachedURLResponse else { return }
        let keyed = CachedURLResponse(
            response: entry.response, data: entry.data, userInfo: [Self.key: response],
            storagePolicy: .allowedInMemoryOnly)
        storing.withLock { [cache] _ in
            // Remove the old entry first: on Linux, a replaced entry counts twice, and evicting it crashes.
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
    /// The response as a Foundation type, or nil if the URL is invalid.
    var cachedURLResponse: CachedURLResponse? {
        let head = ResponseHead(status: status, fields: fields, url: url)
        return head.httpURLResponse.map { CachedURLResponse(response: $0, data: body) }
    }

    /// Returns this response with the changes that a handler made to its Foundation form. Returns nil if the handler's storage
    /// policy doesn't allow storing the response.
    func applying(_ other: CachedURLResponse) -> CachedResponse? {
        guard other.storagePolicy != .notAllowed else { return nil }
        var (status, fields) = (status, fields)
        if let head = other.response as? HTTPURLResponse {
            status = head.statusCode
            fields = HTTPFields(head, replacing: fields)
        }
        return CachedResponse(
            url: url, variant: variant, status: status, fields: fields, body: other.data, requestDate: requestDate,
            responseDate: responseDate, isForMemoryOnly: other.storagePolicy == .allowedInMemoryOnly)
    }
}

extension HTTPFields {
    /// Creates the fields of a Foundation response. Foundation joins all values of a field into one. If a handler hasn't
    /// changed a field, its separate values are taken from `old`.
    fileprivate init(_ head: HTTPURLResponse, replacing old: HTTPFields) {
        self.init()
        for case (let text as String, let value as String) in head.allHeaderFields {
            guard let name = HTTPField.Name(text) else { continue }
            let values = old[values: name]
            if values.joined(separator: ", ") == value { self[values: name] = values } else { self[name] = value }
        }
    }
}

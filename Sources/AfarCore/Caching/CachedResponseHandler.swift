#if canImport(FoundationNetworking)
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

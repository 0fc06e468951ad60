#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Decides what a session's cache keeps. Give one to a session, or to a request by ``Request/cacheResponse(using:)``.
///
/// It is asked about what the rules of HTTP allow to be kept, when the whole of it is there; without one, all of that is
/// kept. It may be asked for several requests at once. Of downloads, which are no data tasks, nothing is kept where there is one
/// other than ``ResponseCacher/cache``. A 304 renews what is kept without a question. A session without
/// ``SessionConfiguration/cacheStore`` asks nobody. ``ResponseCacher`` is one for the common cases.
public protocol CachedResponseHandler: Sendable {
    /// Decides about one response.
    ///
    /// It is called on an unspecified thread. The completion may be called from any thread; a second call does nothing, and
    /// if it is never called, nothing is kept.
    ///
    /// - Parameters:
    ///   - task: The request's attempt; see ``Request/tasks``.
    ///   - response: What would be kept.
    ///   - completion: Takes what is to be kept, or nil for nothing.
    @preconcurrency
    func dataTask(
        _ task: URLSessionDataTask,
        willCacheResponse response: CachedURLResponse,
        completion: @escaping @Sendable (CachedURLResponse?) -> Void
    )
}

/// A ``CachedResponseHandler`` that keeps responses, keeps none, or changes what is kept.
public struct ResponseCacher: Sendable {
    /// What is kept of a response.
    public enum Behavior: Sendable {
        /// All of it.
        case cache
        /// Nothing.
        case doNotCache
        /// What the closure makes of it; with nil nothing.
        @preconcurrency case modify(
            @Sendable (_ task: URLSessionDataTask, _ response: CachedURLResponse) -> CachedURLResponse?)
    }

    /// Keeps responses.
    public static let cache = ResponseCacher(behavior: .cache)
    /// Keeps no response.
    public static let doNotCache = ResponseCacher(behavior: .doNotCache)

    /// What is kept.
    public let behavior: Behavior

    /// Makes a cacher.
    public init(behavior: Behavior) {
        self.behavior = behavior
    }
}

extension ResponseCacher: CachedResponseHandler {
    /// Does what the behaviour says.
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
    /// Keeps responses.
    public static var cache: ResponseCacher { .init(behavior: .cache) }
    /// Keeps no response.
    public static var doNotCache: ResponseCacher { .init(behavior: .doNotCache) }

    /// Keeps what a closure makes of a response; with nil nothing.
    @preconcurrency
    public static func modify(
        using closure: @escaping @Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
    ) -> ResponseCacher {
        .init(behavior: .modify(closure))
    }
}

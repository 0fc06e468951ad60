#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

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

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

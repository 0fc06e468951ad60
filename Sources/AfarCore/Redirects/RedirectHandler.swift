#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Decides what becomes of a redirect. Give one to a session, or to a request by ``Request/redirect(using:)``.
///
/// Without one, redirects are followed. ``Redirector`` is one for the common cases.
public protocol RedirectHandler: Sendable {
    /// Decides about one redirect: each hop of a chain is asked about.
    ///
    /// It is called on an unspecified thread. The completion may be called from any thread; a second call does nothing,
    /// and if it is never called, the request waits until it is cancelled.
    ///
    /// Whatever is answered has to keep the rules about redirects: when it leads to another scheme, host or port,
    /// credentials, cookies and the session's sensitive headers are taken out afterwards.
    ///
    /// - Parameters:
    ///   - task: The request's attempt; see ``Request/tasks``.
    ///   - request: What would be sent, without the headers that must not go there. A body is in it where the request has
    ///     it in memory.
    ///   - response: The response that leads elsewhere.
    ///   - completion: Takes what is to be sent, or nil: then the response at hand is the final one, with its body.
    @preconcurrency
    func task(
        _ task: URLSessionTask,
        willBeRedirectedTo request: URLRequest,
        for response: HTTPURLResponse,
        completion: @escaping @Sendable (URLRequest?) -> Void
    )
}

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

/// A ``RedirectHandler`` that follows redirects, leaves them alone, or changes where they lead.
public struct Redirector: Sendable {
    /// What is done about a redirect.
    public enum Behavior: Sendable {
        /// It is followed.
        case follow
        /// It is not followed: the response that leads elsewhere is the final one.
        case doNotFollow
        /// What the closure makes of the request is sent; with nil it is not followed.
        @preconcurrency case modify(
            @Sendable (_ task: URLSessionTask, _ request: URLRequest, _ response: HTTPURLResponse) -> URLRequest?)
    }

    /// Follows redirects.
    public static let follow = Redirector(behavior: .follow)
    /// Follows no redirect.
    public static let doNotFollow = Redirector(behavior: .doNotFollow)

    /// What is done about redirects.
    public let behavior: Behavior

    /// Makes a redirector.
    public init(behavior: Behavior) {
        self.behavior = behavior
    }
}

extension Redirector: RedirectHandler {
    /// Does what the behaviour says.
    @preconcurrency
    public func task(
        _ task: URLSessionTask,
        willBeRedirectedTo request: URLRequest,
        for response: HTTPURLResponse,
        completion: @escaping @Sendable (URLRequest?) -> Void
    ) {
        switch behavior {
        case .follow: completion(request)
        case .doNotFollow: completion(nil)
        case .modify(let closure): completion(closure(task, request, response))
        }
    }
}

extension RedirectHandler where Self == Redirector {
    /// Follows redirects.
    public static var follow: Redirector { .follow }

    /// Follows no redirect.
    public static var doNotFollow: Redirector { .doNotFollow }

    /// Sends what a closure makes of the request, or follows no redirect when that is nil.
    ///
    /// - Parameter closure: Called for each redirect, on an unspecified thread.
    @preconcurrency
    public static func modify(
        using closure: @escaping @Sendable (URLSessionTask, URLRequest, HTTPURLResponse) -> URLRequest?
    ) -> Redirector {
        Redirector(behavior: .modify(closure))
    }
}

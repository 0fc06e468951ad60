#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A type that decides how to handle redirects. Pass one to a session, or to a request with ``Request/redirect(using:)``.
///
/// Without a handler, redirects are followed. ``Redirector`` covers the common cases.
public protocol RedirectHandler: Sendable {
    /// Decides how to handle a redirect. Called for each hop of a chain.
    ///
    /// The method is called on an unspecified thread. The completion can be called from any thread; a second call has no effect.
    /// If it is never called, the request waits until it is cancelled.
    ///
    /// The rules for redirects also apply to the request that the handler returns: if it leads to another scheme, host or port,
    /// credentials, cookies and the session's sensitive headers are removed from it.
    ///
    /// - Parameters:
    ///   - task: The request's attempt. See ``Request/tasks``.
    ///   - request: The proposed request, without the headers that would leak to the new URL. It includes the body only if
    ///     that is in memory.
    ///   - response: The redirect response.
    ///   - completion: Receives the request to send. If nil, the redirect response with its body is the final response.
    @preconcurrency
    func task(
        _ task: URLSessionTask,
        willBeRedirectedTo request: URLRequest,
        for response: HTTPURLResponse,
        completion: @escaping @Sendable (URLRequest?) -> Void
    )
}

/// A ``RedirectHandler`` that follows redirects, doesn't follow them, or modifies the requests.
public struct Redirector: Sendable {
    /// How a redirect is handled.
    public enum Behavior: Sendable {
        /// The redirect is followed.
        case follow
        /// The redirect isn't followed: the redirect response is the final response.
        case doNotFollow
        /// The request that the closure returns is sent. If it returns nil, the redirect isn't followed.
        @preconcurrency case modify(
            @Sendable (_ task: URLSessionTask, _ request: URLRequest, _ response: HTTPURLResponse) -> URLRequest?)
    }

    /// Follows redirects.
    public static let follow = Redirector(behavior: .follow)
    /// Doesn't follow redirects.
    public static let doNotFollow = Redirector(behavior: .doNotFollow)

    /// How redirects are handled.
    public let behavior: Behavior

    /// Creates a redirector.
    public init(behavior: Behavior) {
        self.behavior = behavior
    }
}

extension Redirector: RedirectHandler {
    /// Applies the behavior to a redirect.
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

    /// Doesn't follow redirects.
    public static var doNotFollow: Redirector { .doNotFollow }

    /// Sends the request that a closure returns. If it returns nil, the redirect isn't followed.
    ///
    /// - Parameter closure: Called for each redirect, on an unspecified thread.
    @preconcurrency
    public static func modify(
        using closure: @escaping @Sendable (URLSessionTask, URLRequest, HTTPURLResponse) -> URLRequest?
    ) -> Redirector {
        Redirector(behavior: .modify(closure))
    }
}

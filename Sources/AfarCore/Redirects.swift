import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A type that decides whether and how redirects are followed. Pass a handler to a session, or to a request with
/// ``Request/redirect(using:)``.
///
/// Without a handler, redirects are followed. ``Redirector`` covers the common cases.
public protocol RedirectHandler: Sendable {
    /// Decides whether and how a redirect is followed. Called for each redirect of a chain.
    ///
    /// The method is called on an unspecified thread. The completion can be called from any thread; a second call has no effect.
    /// If the completion is never called, the request waits until the request is canceled.
    ///
    /// The rules for redirects also apply to the request that the handler returns. If that request has another scheme, host or port
    /// than the previous request, its credentials, its cookies and the session's sensitive headers are removed.
    ///
    /// - Parameters:
    ///   - task: The request's attempt. See ``Request/tasks``.
    ///   - request: The proposed request, without the headers that would leak to the new URL. The request includes the body only
    ///     if the body is in memory.
    ///   - response: The redirect response.
    ///   - completion: Receives the request to send. If nil, the redirect response and its body are the final response.
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
        /// The request that the closure returns is sent. If the closure returns nil, the redirect isn't followed.
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

    /// Sends the request that a closure returns. If the closure returns nil, the redirect isn't followed.
    ///
    /// - Parameter closure: Called for each redirect, on an unspecified thread.
    @preconcurrency
    public static func modify(
        using closure: @escaping @Sendable (URLSessionTask, URLRequest, HTTPURLResponse) -> URLRequest?
    ) -> Redirector {
        Redirector(behavior: .modify(closure))
    }
}

extension Request {
    /// Sets the handler for this request's redirects. The session's handler isn't called for this request.
    ///
    /// Call this method before the request starts. A later call replaces the handler, but an attempt that is already running
    /// continues with the previous handler.
    @discardableResult
    public func redirect(using handler: any RedirectHandler) -> Self {
        mutable.release { Swift.exchange(&$0.settings.redirectHandler, with: handler) }
        return self
    }

    /// The request's own redirect handler, or nil if the session's handler is used.
    public var redirectHandler: (any RedirectHandler)? { mutable.withLock { $0.settings.redirectHandler } }

    /// Returns the handler for redirects, or nil if all redirects are followed.
    private func effectiveRedirectHandler(requestHandler: (any RedirectHandler)?) -> (any RedirectHandler)? {
        requestHandler ?? session.redirectHandler ?? session.delegate.redirectHandler(on: session.queues.root)
    }

    var canFollowRedirects: Bool {
        effectiveRedirectHandler(requestHandler: redirectHandler).map { !$0.preventsRedirects } ?? true
    }

    /// Returns the redirect policy of an attempt, or nil if all redirects are followed.
    ///
    /// - Parameter requestHandler: The request's own handler.
    func redirectPolicy(for urlRequest: URLRequest, by requestHandler: (any RedirectHandler)?) -> RedirectPolicy? {
        guard let handler = effectiveRedirectHandler(requestHandler: requestHandler) else { return nil }
        if handler.preventsRedirects { return .doNotFollow }
        return .custom { [self] proposal in try await decide(about: proposal, of: urlRequest, with: handler) }
    }

    func didFollow(_ redirect: Redirect) { mutable.withLock { $0.attempt.redirect = redirect } }

    private func decide(
        about proposal: RedirectProposal, of urlRequest: URLRequest, with handler: any RedirectHandler
    ) async throws -> RedirectProposal? {
        let suggestion = urlRequest.redirected(
            to: proposal.url, method: proposal.method, fields: proposal.fields, body: proposal.body)
        guard let task, let response = proposal.response.httpURLResponse else { return proposal }
        let decision: URLRequest? = await withCancellableCallback(ifCancelled: nil) { answer in
            handler.task(task, willBeRedirectedTo: suggestion, for: response, completion: answer)
        }
        return try decision.map { try self.proposal($0, replacing: proposal) }
    }

    private func proposal(
        _ urlRequest: URLRequest, replacing proposal: RedirectProposal
    ) throws -> RedirectProposal {
        try urlRequest.validate()
        var body = proposal.body
        if let data = urlRequest.httpBody {
            body = .data(data)
        } else if let stream = urlRequest.httpBodyStream {
            body = self.body(from: stream, for: urlRequest)
        } else if urlRequest.httpMethod == proposal.originalMethod.rawValue, !proposal.originalBody.isInURLRequest {
            body = proposal.originalBody
        } else if urlRequest.httpMethod != proposal.method.rawValue || proposal.body.isInURLRequest {
            body = .none
        }
        let request = try HTTPRequest(urlRequest, bodyLength: body.length)
        guard let url = urlRequest.url else { throw AFError.invalidURL(url: "") }
        var decided = proposal
        decided.url = url
        decided.method = request.method
        decided.fields = request.headerFields
        decided.body = body
        return decided
    }
}

extension RedirectHandler {
    /// Whether the handler never follows a redirect.
    fileprivate var preventsRedirects: Bool {
        if case .doNotFollow = (self as? Redirector)?.behavior { true } else { false }
    }
}

extension RequestBody {
    fileprivate var isInURLRequest: Bool {
        switch self {
        case .none, .data: true
        case .file, .stream: false
        }
    }
}

extension URLRequest {
    func redirected(
        to url: URL, method: HTTPTypes.HTTPRequest.Method, fields: HTTPFields, body: RequestBody
    ) -> URLRequest {
        var request = self
        request.url = url
        request.httpMethod = method.rawValue
        request.headers = HTTPHeaders(fields)
        switch body {
        case .data(let data): request.httpBody = data
        case .stream where request.httpBodyStream != nil: break
        case .none, .file, .stream:
            request.httpBody = nil
            request.httpBodyStream = nil
        }
        return request
    }

    /// Returns this request as changed by the last redirect of its attempt.
    func following(_ redirect: Redirect) -> URLRequest {
        redirected(
            to: redirect.url, method: redirect.request.method, fields: redirect.request.headerFields,
            body: redirect.body)
    }
}

import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    /// Sets the handler for this request's redirects, in place of the session's handler. A later call replaces it.
    ///
    /// Set it before the request starts. An attempt that is already running continues with the previous handler.
    ///
    /// - Parameter handler: Called for each redirect. See ``RedirectHandler``.
    @discardableResult
    public func redirect(using handler: any RedirectHandler) -> Self {
        mutable.release { Swift.exchange(&$0.settings.redirectHandler, with: handler) }
        return self
    }

    /// The request's own redirect handler; nil if the session's handler is used.
    public var redirectHandler: (any RedirectHandler)? { mutable.withLock { $0.settings.redirectHandler } }

    /// Returns the handler for redirects; nil if all redirects are followed.
    private func effectiveRedirectHandler(over own: (any RedirectHandler)?) -> (any RedirectHandler)? {
        own ?? session.redirectHandler ?? session.delegate.redirectHandler(on: session.queues.root)
    }

    /// Whether redirects can be followed.
    var mayFollowRedirects: Bool { effectiveRedirectHandler(over: redirectHandler).map { !$0.isRefusal } ?? true }

    /// Returns the redirect policy of an attempt; nil if all redirects are followed.
    ///
    /// - Parameter own: The request's own handler.
    func redirectPolicy(for urlRequest: URLRequest, by own: (any RedirectHandler)?) -> RedirectPolicy? {
        guard let handler = effectiveRedirectHandler(over: own) else { return nil }
        if handler.isRefusal { return .doNotFollow }
        return .ask { [self] proposal in try await decide(about: proposal, of: urlRequest, with: handler) }
    }

    /// Records a redirect that the current attempt followed.
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
        return try decision.map { try self.proposal($0, inPlaceOf: proposal) }
    }

    /// Returns the proposal with the request that a handler returned.
    private func proposal(
        _ urlRequest: URLRequest, inPlaceOf proposal: RedirectProposal
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
    fileprivate var isRefusal: Bool {
        if case .doNotFollow = (self as? Redirector)?.behavior { true } else { false }
    }
}

extension RequestBody {
    /// Whether a `URLRequest` can contain this body.
    fileprivate var isInURLRequest: Bool {
        switch self {
        case .none, .data: true
        case .file, .stream: false
        }
    }
}

extension URLRequest {
    /// Returns this request with a redirect's changes.
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

    /// Returns this request after the last redirect of its attempt.
    func following(_ redirect: Redirect) -> URLRequest {
        redirected(
            to: redirect.url, method: redirect.request.method, fields: redirect.request.headerFields,
            body: redirect.body)
    }
}

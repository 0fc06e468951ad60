import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    /// Sets who decides about this request's redirects, in place of the session's handler. Only the last one set counts.
    ///
    /// Set it before the request starts; an attempt that runs already goes by what it began with.
    ///
    /// - Parameter handler: Asked about each redirect; see ``RedirectHandler``.
    @discardableResult
    public func redirect(using handler: any RedirectHandler) -> Self {
        mutable.release { Swift.exchange(&$0.settings.redirectHandler, with: handler) }
        return self
    }

    /// Who was set to decide about this request's redirects; nil when that is left to the session.
    public var redirectHandler: (any RedirectHandler)? { mutable.withLock { $0.settings.redirectHandler } }

    /// Who decides about redirects; nil when they are just followed.
    private func effectiveRedirectHandler(over own: (any RedirectHandler)?) -> (any RedirectHandler)? {
        own ?? session.redirectHandler ?? session.delegate.redirectHandler(on: session.queues.root)
    }

    /// Whether redirects are followed, or may be.
    var mayFollowRedirects: Bool { effectiveRedirectHandler(over: redirectHandler).map { !$0.isRefusal } ?? true }

    /// What is done about the redirects of an attempt; nil when they are just followed.
    ///
    /// - Parameter own: The request's own handler.
    func redirectPolicy(for urlRequest: URLRequest, by own: (any RedirectHandler)?) -> RedirectPolicy? {
        guard let handler = effectiveRedirectHandler(over: own) else { return nil }
        if handler.isRefusal { return .doNotFollow }
        return .ask { [self] proposal in try await decide(about: proposal, of: urlRequest, with: handler) }
    }

    /// Notes where the attempt that runs has been led.
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

    /// What a handler wants to have sent.
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
    /// Whether it is known beforehand that no redirect is followed.
    fileprivate var isRefusal: Bool {
        if case .doNotFollow = (self as? Redirector)?.behavior { true } else { false }
    }
}

extension RequestBody {
    /// Whether a `URLRequest` with this body shows it.
    fileprivate var isInURLRequest: Bool {
        switch self {
        case .none, .data: true
        case .file, .stream: false
        }
    }
}

extension URLRequest {
    /// This request as a redirect changes it.
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

    /// This request as the last redirect of its attempt left it.
    func following(_ redirect: Redirect) -> URLRequest {
        redirected(
            to: redirect.url, method: redirect.request.method, fields: redirect.request.headerFields,
            body: redirect.body)
    }
}

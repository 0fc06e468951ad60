import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    /// Creates the `URLRequest` from the caller's values, before the adapters run.
    func makeURLRequest() throws(AFError) -> URLRequest {
        do {
            var urlRequest = try convertible.asURLRequest()
            if let base = session.configuration.baseURL { urlRequest.resolve(against: base) }
            try sink.prepare(&urlRequest, of: self)
            mutable.withLock { $0.history.requests.append(urlRequest) }
            try urlRequest.validate()
            events?.receive(.requestDidCreateInitialURLRequest(self, urlRequest))
            return urlRequest
        } catch {
            let failure = fail(with: error.asAFError(or: .createURLRequestFailed(error: error)))
            events?.receive(.requestDidFailToCreateURLRequest(self, failure))
            throw failure
        }
    }

    /// Returns the original text of a request's URL, or nil if it is unknown. Also returns nil if an adapter has changed the
    /// request, because the adapter might have signed the `URL`. A `URL` can differ from the original text.
    func writtenURL(of urlRequest: URLRequest) -> String? {
        guard let firstRequest, urlRequest == firstRequest,
            urlRequest.allHTTPHeaderFields == firstRequest.allHTTPHeaderFields
        else { return nil }
        guard let base = session.configuration.baseURL else { return convertible.writtenURL }
        return convertible.writtenURL.map { URLReference(asWritten: $0).resolved(against: base) }
    }

    func body(for urlRequest: URLRequest) throws -> RequestBody {
        if let uploadBody { return try uploadBody.body(for: urlRequest, of: self) }
        if let data = urlRequest.httpBody { return .data(data) }
        guard let stream = urlRequest.httpBodyStream else { return .none }
        return body(from: stream, for: urlRequest)
    }

    /// Returns the body for an input stream. All attempts share this body, so that its `isSpent` applies to all of them.
    func body(from stream: InputStream, for urlRequest: URLRequest) -> RequestBody {
        mutable.withLock { state in
            if let (source, body) = state.streamedBody, source === stream { return .stream(body) }
            let body = RequestBodyStream(stream, length: urlRequest.declaredLength)
            state.streamedBody = (stream, body)
            return .stream(body)
        }
    }

    /// Whether the body was a stream that has been read and can't be created again.
    var isBodyConsumed: Bool {
        let stream: InputStream?
        switch uploadBody?.uploadable {
        case .stream(let input as ChunkedInputStream): return input.chunks.isSpent
        case .stream(let input): stream = input
        case .data, .file: return false
        case nil: stream = (convertible as? URLRequest)?.httpBodyStream
        }
        guard let stream else { return false }
        return mutable.withLock { $0.streamedBody.map { $0.source === stream && $0.body.isSpent } ?? false }
    }

    /// Creates the exchange from the adapted `URLRequest`.
    func makeExchange(for urlRequest: URLRequest, after previous: AFError?) throws -> Exchange {
        let body = try body(for: urlRequest)
        if let previous, case .stream(let stream) = body, stream.isSpent {
            throw AFError.requestRetryFailed(retryError: TransportError.bodyIsSpent, originalError: previous)
        }
        var exchange = Exchange(
            request: try HTTPRequest(
                sink.httpForm(of: urlRequest), bodyLength: body.length, writtenURL: writtenURL(of: urlRequest)),
            body: body,
            delivery: try sink.openDelivery(for: self),
            options: try stack.options.get())
        exchange.fragment = urlRequest.url?.fragmentAsWritten
        if let idleTimeout = urlRequest.idleTimeout { exchange.options.idleTimeout = idleTimeout }
        if let handling = CookieHandling(urlRequest) { exchange.policies.cookies = handling }
        try sink.prepare(&exchange)
        return exchange
    }

    /// Adds the request's options, policies and observers to an exchange and returns its driver. Called immediately before
    /// sending, because the request's owner can change these values until then.
    func makeDriver(_ exchange: consuming Exchange, for urlRequest: URLRequest) throws -> HopDriver {
        let (end, handler, credential, options, deadline) = mutable.withLock {
            ($0.end, $0.settings.redirectHandler, $0.settings.credential, $0.settings.options, $0.deadline?.time)
        }
        if let end { throw end }
        options?.options.apply(to: &exchange.options)
        if let deadline { exchange.context[RequestDeadline.self] = deadline }
        try stack.capabilities.check(exchange)
        exchange.observer = ExchangeEvents.make(of: self)
        if let serverTrustHandler { exchange.context[ServerTrustHandlerKey.self] = serverTrustHandler }
        let (redirects, challenges) = (redirectPolicy(for: urlRequest, by: handler), challengeHandler)
        if redirects != nil || credential != nil || challenges != nil {
            var policies = exchange.policies
            if let redirects { policies.redirects = redirects }
            policies.credential = credential.flatMap { Credential($0, for: exchange.request) }
            policies.challengeHandler = challenges
            exchange.policies = policies
        }
        try useCache(for: urlRequest, in: &exchange)
        let control = exchange.control
        exchange.limitBandwidth()
        let driver = HopDriver(Hop(exchange), through: sink.stages(of: stack), over: stack.sender) { [self] head in
            decide(on: head, in: control)
        }
        let isEnded = mutable.withLock { state in
            state.attempt.driver = driver
            return state.end != nil
        }
        if isEnded { driver.cancel() }
        return driver
    }
}

extension URLRequest {
    /// The idle timeout in seconds, or nil if the request has Foundation's default.
    var idleTimeout: TimeInterval? { timeoutInterval > 0 && timeoutInterval != 60 ? timeoutInterval : nil }
}

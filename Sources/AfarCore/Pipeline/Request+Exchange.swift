import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// What is sent.
extension Request {
    /// Makes what is to be sent of the adapted `URLRequest`.
    ///
    /// - Parameter previous: Why the attempt before failed.
    func makeExchange(for urlRequest: URLRequest, after previous: AFError?) throws -> Exchange {
        let body = try body(for: urlRequest)
        if let previous, case .stream(let stream) = body, stream.isSpent {
            throw AFError.requestRetryFailed(retryError: TransportError.bodyIsSpent, originalError: previous)
        }
        var exchange = Exchange(
            request: try HTTPRequest(
                httpForm(of: urlRequest), bodyLength: body.length, writtenURL: writtenURL(of: urlRequest)),
            body: body,
            delivery: try openDelivery(),
            options: try stack.options.get())
        exchange.fragment = urlRequest.url?.fragmentAsWritten
        // 60 is what Foundation gives a request that says nothing.
        if urlRequest.timeoutInterval > 0, urlRequest.timeoutInterval != 60 {
            exchange.options.idleTimeout = urlRequest.timeoutInterval
        }
        if let handling = CookieHandling(urlRequest) { exchange.context[CookieHandlingKey.self] = handling }
        try complete(&exchange)
        return exchange
    }

    /// Gets an exchange ready to be sent, with what the stages are to know of the request, and who watches it: all that its
    /// owner may have said while it waited.
    func makeDriver(_ exchange: Exchange, for urlRequest: URLRequest) throws -> HopDriver {
        let (end, handler, credential, options) = mutable.withLock {
            ($0.end, $0.settings.redirectHandler, $0.settings.credential, $0.settings.options)
        }
        if let end { throw end }
        var exchange = exchange
        options?.options.apply(to: &exchange.options)
        try stack.capabilities.check(exchange)
        exchange.observer = ExchangeEvents.make(of: self)
        if let policy = redirectPolicy(for: urlRequest, by: handler) { exchange.context[RedirectPolicyKey.self] = policy }
        if let credential = credential.flatMap({ Credential($0, for: exchange.request) }) {
            exchange.context[CredentialKey.self] = credential
        }
        if let handler = challengeHandler { exchange.context[ChallengeHandlerKey.self] = handler }
        if let handler = serverTrustHandler { exchange.context[ServerTrustHandlerKey.self] = handler }
        try useCache(for: urlRequest, in: &exchange)
        let driver = HopDriver(Hop(exchange), through: stages, over: stack.sender, judge: judge)
        let isEnded = mutable.withLock { state in
            state.attempt.driver = driver
            return state.end != nil
        }
        if isEnded { driver.cancel() }
        return driver
    }
}

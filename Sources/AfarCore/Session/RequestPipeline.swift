import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What happens to a request, in order. One task runs it, one turn of the loop for each attempt.
struct RequestPipeline {
    let request: Request
    let context: SessionContext

    func run() async {
        var next = await attempt(after: nil)
        while case .again(let failure) = next { next = await attempt(after: failure) }
        context.delegate.running.remove(request)
    }

    /// Runs the handlers that were added when everything was over.
    func runLateHandlers() async {
        _ = await serialize(mayRetry: false)
    }

    private enum Next {
        case again(after: AFError)
        case done
    }

    /// - Parameter previous: Why the attempt before failed.
    private func attempt(after previous: AFError?) async -> Next {
        request.prepareForAttempt()
        var failure: AFError?
        do {
            try checkEnd()
            let urlRequest = try await makeURLRequest()
            try await request.onQueue(context.requestQueue ?? request.queueForBody) { [request] in
                Result { try request.prepareBody() }
            }.get()
            var exchange = try announcing(urlRequest) { try makeExchange(for: urlRequest, after: previous) }
            try checkEnd()
            request.willPerform(urlRequest, control: exchange.control)
            await request.waitUntilResumed()
            prepareContext(of: &exchange, for: urlRequest)
            let start = Date()
            let result = await send(exchange, since: start)
            await request.waitForHeadAnswer()
            try settle(result, since: start)
            await request.showResponse()
            try request.runValidators()
            try await request.onQueue(request.queueForKeeping) { [request] in
                Result { try request.keepResponse() }
            }.get()
        } catch {
            failure = fail(with: error)
        }
        request.didCompleteAttempt()
        await request.waitForProgress()
        if let failure {
            if request.mustGoAgain { return .again(after: failure) }
            switch await retryDecision(about: failure) {
            case .again: return .again(after: failure)
            case .giveUp(let error): request.mutable.withLock { $0.failure = error }
            }
        }
        request.events?.requestDidFinish(request)
        return await serialize(mayRetry: failure == nil)
    }

    // MARK: Making the request

    private func makeURLRequest() async throws -> URLRequest {
        var urlRequest = try await request.onQueue(context.requestQueue) { [request] in
            Result { try request.makeURLRequest() }
        }.get()
        guard request.isIntercepted else { return urlRequest }
        let initial = urlRequest
        do {
            for interceptor in request.interceptors { urlRequest = try await adapt(urlRequest, with: interceptor) }
            do { try urlRequest.validate() } catch { throw AFError.requestAdaptationFailed(error: error) }
        } catch {
            let failure = error.asAFError(or: .requestAdaptationFailed(error: error))
            request.events?.request(request, didFailToAdaptURLRequest: initial, withError: failure)
            throw failure
        }
        request.didMake(urlRequest, isFinal: true)
        request.events?.request(request, didAdaptInitialRequest: initial, to: urlRequest)
        return urlRequest
    }

    private func adapt(_ urlRequest: URLRequest, with adapter: any RequestAdapter) async throws -> URLRequest {
        typealias Adapted = Result<URLRequest, any Error>
        let adapted: Adapted? = await askInterceptor(ifCancelled: nil) { [request] session, answer in
            let state = RequestAdapterState(request: request, session: session)
            adapter.adapt(urlRequest, using: state) { answer($0) }
        }
        // When it was cancelled, the request's own error says so and outranks this one.
        guard let adapted else { throw AFError.sessionDeinitialized }
        return try adapted.mapError { AFError.requestAdaptationFailed(error: $0) }.get()
    }

    /// Asks an adapter or a retrier. Those of a session are called one at a time, on its request queue if it has one: people
    /// keep flags in them without a lock. The answer may come at any time.
    private func askInterceptor<Answer: Sendable>(
        ifCancelled cancelled: Answer,
        _ ask: @escaping @Sendable (Session, @escaping @Sendable (Answer) -> Void) -> Void
    ) async -> Answer {
        await oneAnswer(ifCancelled: cancelled) { [request, context] answer in
            await context.interceptors.withLock {
                await request.onQueue(context.requestQueue) {
                    // Only the interceptor may hold the session, or a session would live as long as its answer takes.
                    guard !request.hasEnded, let session = context.session else { return answer(cancelled) }
                    ask(session, answer)
                }
            }
        }
    }

    func makeExchange(for urlRequest: URLRequest, after previous: AFError? = nil) throws -> Exchange {
        let body = try request.body(for: urlRequest)
        if let previous, case .stream(let stream) = body, stream.isSpent {
            throw AFError.requestRetryFailed(retryError: TransportError.bodyIsSpent, originalError: previous)
        }
        var exchange = Exchange(
            request: try HTTPRequest(urlRequest, bodyLength: body.length),
            body: body,
            delivery: try request.openDelivery(),
            options: try context.options.get(),
            onHead: request.headHook())
        // 60 is what Foundation gives a request that says nothing.
        let timeout = urlRequest.timeoutInterval
        if timeout > 0, timeout != 60 { exchange.options.idleTimeout = timeout }
        return exchange
    }

    /// Tells whether a final `URLRequest` is fit to be sent.
    func announcing(_ urlRequest: URLRequest, _ makeExchange: () throws -> Exchange) throws -> Exchange {
        do {
            let exchange = try makeExchange()
            request.events?.request(request, didCreateURLRequest: urlRequest)
            return exchange
        } catch {
            let failure = error.asAFError(or: .createURLRequestFailed(error: error))
            request.events?.request(request, didFailToCreateURLRequestWithError: failure)
            throw failure
        }
    }

    /// Puts there what the transports around the transport are to know of the request, and who watches it: all that its
    /// owner may have said while it waited. The short way does without: it is not for requests that wait, nor for those of
    /// which the transports have to know something.
    private func prepareContext(of exchange: inout Exchange, for urlRequest: URLRequest) {
        exchange.observer = ExchangeEvents.make(of: request)
        if let policy = request.redirectPolicy(for: urlRequest) { exchange.context[RedirectPolicyKey.self] = policy }
        if let credential = request.credential(for: Origin(exchange.request)) {
            exchange.context[CredentialKey.self] = credential
        }
        if let handler = request.challengeHandler { exchange.context[ChallengeHandlerKey.self] = handler }
    }

    // MARK: Sending it

    private func send(_ exchange: Exchange, since start: Date) async -> Result<TransportResponse, any Error> {
        do {
            try checkEnd()
            try context.capabilities.check(exchange)
            let response = try await context.transport.send(exchange)
            guard case .stream(let body) = response.body else { return .success(response) }
            return .success(try await read(body, of: response, since: start))
        } catch {
            return .failure(error)
        }
    }

    /// Hands a streamed body to the request, and waits for the end and what was measured up to it.
    private func read(
        _ body: ResponseBodyStream, of response: TransportResponse, since start: Date
    ) async throws -> TransportResponse {
        var response = response
        try request.receive(response)
        do {
            await request.waitForHeadAnswer()
            try checkEnd()
            // A handler may take its time; what it does not want any more need not arrive meanwhile.
            try await withTaskCancellationHandler {
                try await request.read(body, after: response.head)
            } onCancel: {
                body.cancel()
            }
        } catch {
            body.cancel()
            let report = await body.report()
            guard var error = error as? TransportError else {
                note(report, since: start)
                throw error
            }
            error.report = report
            throw error
        }
        response.report = await body.report()
        return response
    }

    /// Takes what the exchange came to.
    func settle(_ result: Result<TransportResponse, any Error>, since start: Date) throws {
        let attempt = result.report.map { Request.Attempt(start: start, end: Date(), report: $0) }
        let end = request.mutable.withLock { state in
            state.control = nil
            state.exchange = nil
            if let attempt { state.attempts.append(attempt) }
            return state.end
        }
        var isNetworkError = true
        do {
            switch result {
            case .success(let response): try request.receive(response)
            case .failure(let error as TransportError): throw request.failure(after: error)
            case .failure(let error):
                isNetworkError = false
                throw error.asAFError(or: .sessionTaskFailed(error: error))
            }
        } catch {
            let failure = error.asAFError(or: .sessionTaskFailed(error: error))
            request.didEndExchange(error: failure, isNetworkError: isNetworkError)
            throw failure
        }
        request.didEndExchange(error: nil, isNetworkError: true)
        if let end { throw end }
    }

    private func note(_ report: TransportReport, since start: Date) {
        request.mutable.withLock { $0.attempts.append(.init(start: start, end: Date(), report: report)) }
    }

    // MARK: Failing, and trying again

    /// Notes what went wrong. Returns what explains it: perhaps a cancel, or the session's end.
    @discardableResult
    func fail(with error: any Error) -> AFError {
        request.abandonDelivery()
        let failure = error.asAFError(or: .responseValidationFailed(reason: .customValidationFailed(error: error)))
        return request.mutable.withLock { state in
            state.failure = failure
            return state.end ?? failure
        }
    }

    func checkEnd() throws {
        if let end = request.mutable.withLock({ $0.end }) { throw end }
    }

    private enum RetryDecision {
        case again
        case giveUp(AFError)
    }

    private func retryDecision(about failure: AFError) async -> RetryDecision {
        for retrier in request.interceptors {
            // A retry that could not even begin would not fare better the next time.
            if case .requestRetryFailed = failure { break }
            guard request.mutable.withLock({ $0.mayGoOn }) else { break }
            let answer: RetryResult = await askInterceptor(ifCancelled: .doNotRetry) { [request] session, answer in
                retrier.retry(request, for: session, dueTo: failure, completion: answer)
            }
            switch answer {
            case .doNotRetry: continue
            case .retry: break
            case .retryWithDelay(let seconds): try? await Task.sleep(for: .seconds(max(0, min(seconds, 1e9))))
            case .doNotRetryWithError(let error):
                return .giveUp(.requestRetryFailed(retryError: error, originalError: failure))
            }
            if let dropped = request.mutable.withLock({ $0.beginRetry() }) {
                withExtendedLifetime(dropped) {}
                request.events?.requestIsRetrying(request)
                return .again
            }
        }
        return .giveUp(request.mutable.withLock { $0.end } ?? failure)
    }

    // MARK: Handing over

    /// Runs the serializers, then releases the completions. A cancel during serialization still decides what they get.
    private func serialize(mayRetry: Bool) async -> Next {
        let hadEnded = openHandlers()
        while true {
            let (step, end) = nextStep()
            switch step {
            case .serialize(let handler):
                let outcome = await request.onQueue(context.serializationQueue) { [request] in handler(request) }
                var failure: AFError?
                if mayRetry, let error = outcome.error {
                    switch await retryDecision(about: error) {
                    case .again: return .again(after: error)
                    case .giveUp(let error): failure = error
                    }
                }
                request.mutable.withLock { [failure] in $0.handlers.keep { outcome.release($0 ?? failure) } }
            case .release(let releases):
                request.cleanUp()
                for release in releases { release(hadEnded ? nil : end) }
            case .done:
                request.cleanUp()
                return .done
            }
        }
    }

    /// Returns whether the request was ended before its handlers' turn came.
    func openHandlers() -> Bool {
        request.mutable.withLock { state in
            state.handlers.open()
            return state.end != nil
        }
    }

    func nextStep() -> (HandlerQueue<Request>.Step, end: AFError?) {
        request.mutable.withLock { ($0.nextStep(), $0.end) }
    }
}

extension Result<TransportResponse, any Error> {
    /// What was measured; nil when nothing was.
    fileprivate var report: TransportReport? {
        switch self {
        case .success(let response): response.report
        case .failure(let error): (error as? TransportError)?.report
        }
    }
}

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// The steps whose end is waited for. Each answers once, sooner or later; soon, when the request is ended from outside.
extension RequestPipeline {
    /// The answer that nobody has to be asked for; nil when there is none.
    func knownAnswer(to question: Attempt.Question) -> Attempt.Event? {
        switch question {
        case .resumption: request.mustWait ? nil : .done
        case .headDisposition: request.mutable.withLock { $0.attempt.headAnswer == nil } ? .done : nil
        case .progress: request.owesProgress ? nil : .done
        case .adapter, .response, .body, .retrier, .delay: nil
        }
    }

    func ask(_ question: Attempt.Question, _ wait: Int) {
        switch question {
        case .adapter(let number): adapt(with: number, wait)
        case .resumption: request.whenResumed { [self] in answer(wait) }
        case .response: awaitResponse(wait)
        case .body: awaitBody(wait)
        case .headDisposition:
            answer(wait) { [request] in
                await request.waitForHeadAnswer()
                return Answer()
            }
        case .progress:
            answer(wait) { [request] in
                await request.waitForProgress()
                return Answer()
            }
        case .retrier(let number): retry(with: number, wait)
        case .delay(let seconds):
            answer(wait) {
                await pause(for: .seconds(max(0, min(seconds, 1e9))))
                return Answer()
            }
        }
    }

    // MARK: Interceptors

    private func adapt(with number: Int, _ wait: Int) {
        guard let urlRequest else { return }
        // When it was cancelled, the request's own error says so and outranks this one.
        askInterceptor(
            number, wait, ifEnded: Answer(event: .failed, content: .adaptationFailure(.sessionDeinitialized))
        ) {
            [self] adapter, session in
            let state = RequestAdapterState(request: request, session: session)
            adapter.adapt(urlRequest, using: state) { [weak self] result in
                switch result {
                case .success(let adapted): self?.answer(wait, with: Answer(content: .urlRequest(adapted)))
                case .failure(let error):
                    let failure = AFError.requestAdaptationFailed(error: error)
                    self?.answer(wait, with: Answer(event: .failed, content: .adaptationFailure(failure)))
                }
            }
        }
    }

    private func retry(with number: Int, _ wait: Int) {
        guard let failure else { return }
        askInterceptor(number, wait, ifEnded: Answer()) { [self] retrier, session in
            retrier.retry(request, for: session, dueTo: failure) { [weak self] result in
                self?.answer(wait, with: Answer(result, to: failure))
            }
        }
    }

    /// Asks an adapter or a retrier, while nobody else of the session does: people keep flags in them without a lock. What
    /// it is given to answer with does not hold the request, since it may be kept for ever.
    private func askInterceptor(
        _ number: Int, _ wait: Int, ifEnded ending: Answer,
        _ ask: @escaping @Sendable (any RequestInterceptor, Session) -> Void
    ) {
        guard hasTurn else {
            return context.interceptorLock.lock { [self] in
                hasTurn = true
                answer(wait, with: Answer(event: .turn))
            }
        }
        hasTurn = false
        willAnswer(wait, with: ending)
        let work: @Sendable () -> Void = { [self] in
            // Only the interceptor may hold the session, or a session would live as long as its answer takes.
            let isActive = request.mutable.withLock { $0.isActive }
            if isActive, let session = context.owner, let interceptor = request.interceptors.dropFirst(number).first {
                ask(interceptor, session)
            } else {
                answer(wait, with: ending)
            }
            context.interceptorLock.unlock()
        }
        if let queue = context.queues.request { run(on: queue, work) } else { work() }
    }

    // MARK: Sending

    private func awaitResponse(_ wait: Int) {
        driverWait = wait
        if let driver { return driver.next { [self] event in take(event) } }
        guard let urlRequest else { return }
        sendDate = Date()
        let hop: Hop
        do {
            hop = try makeHop(for: urlRequest)
        } catch {
            return take(.ended(.failure(error)))
        }
        let driver = HopDriver(hop, through: request.stages, over: request.stack.sender, judge: request.judge)
        self.driver = driver
        willRun(driver)
        driver.start { [self] event in take(event) }
    }

    /// Takes what the driver tells, while the task waits for that.
    private func take(_ event: HopDriver.Event) {
        var answer = Answer()
        switch event {
        case .waits(let work): (stageWork, answer.event) = (work, .stageWaits)
        case .ended(let result):
            if result.streams { answer.event = .streams }
            (driver, self.result) = (nil, result)
        }
        self.answer(driverWait, with: answer)
    }

    /// The first hop, with what the stages are to know of the request, and who watches it: all that its owner may have said
    /// while it waited.
    private func makeHop(for urlRequest: URLRequest) throws -> Hop {
        let (end, handler, credential, options) = request.mutable.withLock {
            ($0.end, $0.redirectHandler, $0.credential, $0.options)
        }
        guard end == nil, var exchange = exchange.take() else { throw end ?? .explicitlyCancelled }
        options?.options.apply(to: &exchange.options)
        try request.stack.capabilities.check(exchange)
        exchange.observer = ExchangeEvents.make(of: request)
        if let policy = request.redirectPolicy(for: urlRequest, by: handler) {
            exchange.context[RedirectPolicyKey.self] = policy
        }
        if let credential = credential.flatMap({ Credential($0, for: exchange.request) }) {
            exchange.context[CredentialKey.self] = credential
        }
        if let handler = request.challengeHandler { exchange.context[ChallengeHandlerKey.self] = handler }
        if let handler = request.serverTrustHandler {
            exchange.context[ServerTrustHandlerKey.self] = handler
        }
        try request.useCache(for: urlRequest, in: &exchange)
        return Hop(exchange)
    }

    private func awaitBody(_ wait: Int) {
        guard case .success(let response) = result, result?.streams == true else { return answer(wait) }
        request.run { [self] in
            do {
                result = .success(try await read(response))
            } catch {
                result = .failure(error)
            }
            answer(wait)
        }
    }

    /// Hands a streamed body or a connection to the request, and waits for the end and what was measured up to it.
    private func read(_ response: TransportResponse) async throws -> TransportResponse {
        var response = response
        try request.receive(response)
        do {
            await request.waitForHeadAnswer()
            try checkEnd()
            // A handler may take its time; what it does not want any more need not arrive meanwhile.
            try await withTaskCancellationHandler {
                switch response.body {
                case .data, .file: break
                case .stream(let body): try await request.read(body, after: response.head)
                case .connection(let connection): try await request.use(connection, after: response.head)
                }
            } onCancel: { [body = response.body] in
                body.abandon()
            }
        } catch {
            response.body.abandon()
            let report = await response.finalReport
            guard var error = error as? TransportError else {
                let attempt = AttemptReport(
                    start: sendDate, end: Date(), report: report, request: urlRequest, response: response.head)
                request.mutable.withLock { $0.attempts.append(attempt) }
                throw error
            }
            error.report = report
            throw error
        }
        response.report = await response.finalReport
        return response
    }
}

extension Result<TransportResponse, any Error> {
    /// Whether there is more to come than what was returned.
    fileprivate var streams: Bool {
        guard case .success(let response) = self else { return false }
        return switch response.body {
        case .data, .file: false
        case .stream, .connection: true
        }
    }
}

extension TransportResponse {
    /// What was measured up to the end of the body.
    fileprivate var finalReport: TransportReport {
        get async { if case .stream(let stream) = body { await stream.report() } else { report } }
    }
}

extension RequestPipeline.Answer {
    /// What a retrier said to a failure.
    fileprivate init(_ result: RetryResult, to failure: AFError) {
        switch result {
        case .retry: event = .retry(after: nil)
        case .retryWithDelay(let seconds): event = .retry(after: seconds)
        case .doNotRetry: event = .done
        case .doNotRetryWithError(let error):
            event = .giveUp
            content = .failure(.requestRetryFailed(retryError: error, originalError: failure))
        }
    }
}

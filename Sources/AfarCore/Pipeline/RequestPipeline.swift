import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Runs a request in one task, from its first attempt to its last handler.
///
/// Each step receives its input from the previous one. If the request is canceled or ended by its session, the task is
/// canceled. The cancellation also ends a step that waits for user code.
///
/// The pipeline is also the executor of its task. If a thread awaits the response, the steps run on that thread to save a
/// wake-up. Otherwise, the steps run on Dispatch's threads, because programs can block the few threads of Swift's task pool.
final class RequestPipeline: TaskExecutor, @unchecked Sendable {
    // Sendable: only the task uses mutable state.

    let request: Request
    let session: SessionState
    /// Whether the task runs on the thread that resumed the request. The caller on this thread might hold locks.
    @exclusivity(unchecked) private var isOnCallersThread = false

    init(_ request: Request) {
        self.request = request
        session = request.session
    }

    /// Starts the task. Called only once.
    ///
    /// - Parameter isImmediate: Whether the task can begin on the calling thread. True if no user code runs before the response
    ///   arrives.
    func start(immediately isImmediate: Bool) {
        let task: Task<Void, Never>
        if isImmediate, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            isOnCallersThread = true
            task = Task.immediate(executorPreference: self) { await self.run() }
        } else {
            task = Task(executorPreference: self) { await self.run() }
        }
        let isEnded = request.mutable.withLock { state in
            state.task = task
            return state.end != nil
        }
        if isEnded { task.cancel() }
    }

    func callLateHandlers() {
        Task(executorPreference: self) { _ = await self.callHandlers(canRetry: false, hadEnded: false) }
    }

    nonisolated(nonsending) private func run() async {
        var failure = await attempt(after: nil)
        while true {
            if let cause = failure {
                failure = await failureUnlessRetried(cause)
                guard failure != nil else {
                    failure = await attempt(after: cause)
                    continue
                }
            }
            let hadEnded = finish(with: failure)
            guard let cause = await callHandlers(canRetry: failure == nil, hadEnded: hadEnded) else { return }
            failure = await attempt(after: cause)
        }
    }

    // MARK: An attempt

    nonisolated(nonsending) private func attempt(after previous: AFError?) async -> AFError? {
        request.prepareForAttempt()
        var failure: AFError?
        do throws(AFError) {
            let urlRequest = try await makeURLRequest()
            if let body = request.uploadBody { try await body.make(for: request) }
            let driver = try await makeDriver(for: urlRequest, after: previous)
            try await perform(driver, for: urlRequest)
            if isOnCallersThread { await leaveCallersThread() }
            try await request.sink.commit(for: request)
        } catch {
            request.sink.abandon(for: request)
            failure = request.fail(with: error)
        }
        request.didCompleteAttempt()
        if request.hasPendingProgress { await request.waitForProgress() }
        if isOnCallersThread { await leaveCallersThread() }
        return failure
    }

    // MARK: Creating the request

    /// Creates the `URLRequest` from the caller's values and runs the adapters.
    nonisolated(nonsending) private func makeURLRequest() async throws(AFError) -> URLRequest {
        let initial = try await request.onQueue(session.queues.request) { [self] () throws(AFError) in
            try request.checkEnd()
            return try request.makeURLRequest()
        }
        return request.isIntercepted ? try await adapted(initial) : initial
    }

    private func adapted(_ initial: URLRequest) async throws(AFError) -> URLRequest {
        do throws(AFError) {
            var adapted = initial
            for adapter in request.interceptors { adapted = try await adapt(adapted, with: adapter) }
            do { try adapted.validate() } catch { throw AFError.requestAdaptationFailed(error: error) }
            request.mutable.withLock { [adapted] in $0.history.requests.append(adapted) }
            request.events?.receive(.requestDidAdaptInitialRequest(request, initial, to: adapted))
            return adapted
        } catch {
            let failure = request.fail(with: error)
            request.events?.receive(.requestDidFailToAdaptURLRequest(request, initial, failure))
            throw failure
        }
    }

    private func adapt(
        _ urlRequest: URLRequest, with adapter: any RequestInterceptor
    ) async throws(AFError) -> URLRequest {
        // The error of a canceled request replaces this error.
        let ending = Result<URLRequest, AFError>.failure(.sessionDeinitialized)
        return try await callInterceptor(ifEnded: ending) { [request] session, answer in
            adapter.adapt(urlRequest, using: RequestAdapterState(request: request, session: session)) { result in
                answer(result.mapError { .requestAdaptationFailed(error: $0) })
            }
        }.get()
    }

    /// Calls an adapter or a retrier. A session calls its adapters and retriers one at a time, because many of them have state
    /// that no lock protects. The completion handler doesn't retain the request, because user code can keep the handler forever.
    private func callInterceptor<Answer: Sendable>(
        ifEnded ending: Answer, _ call: @escaping @Sendable (Session, @escaping @Sendable (Answer) -> Void) -> Void
    ) async -> Answer {
        await session.interceptorLock.acquire()
        return await withCancellableCallback(ifCancelled: ending) { [request, session] answer in
            let work: @Sendable () -> Void = {
                // A variable outside this closure would retain the session until the interceptor answers.
                if request.mutable.withLock({ $0.isActive }), let owner = session.owner {
                    call(owner, answer)
                } else {
                    answer(ending)
                }
                session.interceptorLock.unlock()
            }
            // Uses a task, so that a cancellation doesn't wait for the queue.
            if let queue = session.queues.request {
                Task(executorPreference: QueueExecutor(queue)) { work() }
            } else {
                work()
            }
        }
    }

    /// Creates the exchange and waits until the request is resumed.
    @inline(never) nonisolated(nonsending) private func makeDriver(
        for urlRequest: URLRequest, after previous: AFError?
    ) async throws(AFError) -> Result<HopDriver, any Error> {
        let exchange = try makeExchange(for: urlRequest, after: previous)
        if request.mustWait { await request.waitUntilResumed() }
        return Result { try request.makeDriver(exchange, for: urlRequest) }
    }

    private func makeExchange(for urlRequest: URLRequest, after previous: AFError?) throws(AFError) -> Exchange {
        request.broadcastLastRequest()
        let exchange: Exchange
        do {
            exchange = try request.makeExchange(for: urlRequest, after: previous)
            request.events?.receive(.requestDidCreateURLRequest(request, urlRequest))
        } catch {
            let failure = request.fail(with: error.asAFError(or: .createURLRequestFailed(error: error)))
            request.events?.receive(.requestDidFailToCreateURLRequest(request, failure))
            throw failure
        }
        try request.checkEnd()
        request.willPerform(urlRequest, control: exchange.control)
        return exchange
    }

    // MARK: The response

    /// The result and the report of an exchange.
    private struct Outcome {
        let urlRequest: URLRequest
        let start = Date()
        var response: TransportResponse?
        /// The error that occurred before the response or in its body.
        var error: (any Error)?

        /// The transport's report, if it provided one.
        var report: TransportReport? { response?.report ?? (error as? TransportError)?.report }
    }

    /// Sends an exchange and receives its result.
    nonisolated(nonsending) private func perform(
        _ driver: Result<HopDriver, any Error>, for urlRequest: URLRequest
    ) async throws(AFError) {
        var outcome = Outcome(urlRequest: urlRequest)
        do {
            outcome.response = try await driver.get().response { [request] work in request.run(work) }
        } catch {
            outcome.error = error
        }
        if let response = outcome.response, response.isOpen {
            if isOnCallersThread { await leaveCallersThread() }
            await deliver(response, &outcome)
        } else if let answer = request.headDecided {
            _ = await answer.value
        }
        try receive(outcome)
    }

    /// Passes a streamed body or a connection to the request and waits until the body or the connection has ended.
    private func deliver(_ response: TransportResponse, _ outcome: inout Outcome) async {
        request.receiveHead(of: response)
        do {
            _ = await request.headDecided?.value
            try request.checkEnd()
            // Cancellation abandons the body even while a handler is busy.
            try await withTaskCancellationHandler { [request] in
                // Slow user code must not occupy the thread that awaits the response.
                try await withTaskExecutorPreference(QueueExecutor.global) {
                    try await request.sink.read(response, for: request)
                }
            } onCancel: { [body = response.body] in
                body.abandon()
            }
        } catch {
            response.body.abandon()
            outcome.error = error
        }
        if case .stream(let body) = response.body { outcome.response?.report = await body.report() }
        if var error = outcome.error as? TransportError, let report = outcome.response?.report {
            error.report = report
            outcome.error = error
        }
    }

    private func receive(_ outcome: Outcome) throws(AFError) {
        // Releases the transport's values outside the lock.
        let (end, work, _) = request.mutable.withLock { state in
            if let report = outcome.report {
                state.history.attempts.append(
                    AttemptReport(
                        start: outcome.start, end: Date(), report: report, request: outcome.urlRequest,
                        response: outcome.response?.head))
            }
            if let error = outcome.error as? TransportError { state.end = state.end?.located(at: error) }
            return (
                state.end, Swift.exchange(&state.attempt.work, with: []),
                (state.attempt.control.take(), state.attempt.driver.take())
            )
        }
        for task in work { task.cancel() }
        var failure: AFError?
        var isNetworkError = true
        do {
            if let error = outcome.error as? TransportError { throw request.sink.receive(error, for: request) }
            if let error = outcome.error {
                isNetworkError = false
                throw error
            }
            if let response = outcome.response { try request.receive(response) }
        } catch {
            let error = error.asAFError(or: .sessionTaskFailed(error: error))
            request.fail(with: error)
            failure = error
            if error.isResponseValidationError { isNetworkError = false }
        }
        request.didEndExchange(error: failure, isNetworkError: isNetworkError)
        if let error = failure ?? end { throw error }
    }

    // MARK: Retries

    /// Calls the retriers in order, and waits before another attempt if a retrier requests a delay.
    private func failureUnlessRetried(_ failure: AFError) async -> AFError? {
        guard canRetry(after: failure) else { return failure }
        for retrier in request.interceptors {
            let answer = await callInterceptor(ifEnded: RetryResult.doNotRetry) { [request] session, answer in
                retrier.retry(request, for: session, dueTo: failure, completion: answer)
            }
            switch answer {
            case .retry: return beginRetry()
            case .retryWithDelay(let seconds):
                await session.configuration.timeSource.pause(for: .seconds(max(0, min(seconds, 1e9))))
                return beginRetry()
            case .doNotRetryWithError(let error):
                return .requestRetryFailed(retryError: error, originalError: failure)
            case .doNotRetry: continue
            }
        }
        return failure
    }

    /// Returns whether retriers are called for the failure. Retriers aren't called if the last retry couldn't begin, because the
    /// next retry would fail too. They also aren't called if the request was ended or has finished.
    private func canRetry(after failure: AFError) -> Bool {
        if case .requestRetryFailed = failure { return false }
        return request.mutable.withLock { $0.isActive } && request.sink.canBeRetried
    }

    /// Prepares the request and its handlers for another attempt.
    ///
    /// - Returns: The error that prevents the attempt, or nil if it can begin.
    private func beginRetry() -> AFError? {
        let (handlers, end) = request.mutable.withLock { ($0.beginRetry(), $0.end) }
        guard let handlers else { return end ?? .explicitlyCancelled }
        for handler in handlers { handler.discardResponse() }
        request.events?.receive(.requestIsRetrying(request))
        return nil
    }

    // MARK: Handlers

    /// Ends the current series of attempts. After this call, only a serializer's failure can start another attempt.
    ///
    /// - Returns: Whether the request was canceled or ended by its session before its handlers were called.
    private func finish(with failure: AFError?) -> Bool {
        if let failure { request.fail(with: failure) }
        request.mutable.withLock { $0.finishWithoutHandlers() }
        request.events?.receive(.requestDidFinish(request))
        return request.mutable.withLock { state in
            state.handlers.open()
            return state.end != nil
        }
    }

    /// Calls the handlers to create their responses. Delivers the responses after all of them have been created.
    ///
    /// - Parameters:
    ///   - canRetry: Whether a serializer's failure can lead to another attempt.
    ///   - hadEnded: Whether the request had already been canceled or ended by its session. If the request is ended during this
    ///     call, all handlers receive the error that ended it.
    /// - Returns: The serializer's failure if another attempt follows, or nil if the request has finished.
    nonisolated(nonsending) private func callHandlers(canRetry: Bool, hadEnded: Bool) async -> AFError? {
        while true {
            switch request.mutable.withLock({ $0.nextStep() }) {
            case .makeResponse(let handler):
                handler.failure = await request.onQueue(session.queues.serialization) { [request] in
                    handler.makeResponse(of: request)
                }
                guard canRetry, let failure = handler.failure else { continue }
                handler.failure = await failureUnlessRetried(failure)
                if handler.failure == nil { return failure }
            case .deliver(let handlers):
                let end = hadEnded ? nil : request.mutable.withLock { $0.end }
                request.cleanUp()
                for handler in handlers { handler.deliver(end: end) }
            case .finish(let handlers):
                request.cleanUp()
                for finish in handlers { finish() }
            case .done:
                request.cleanUp()
                session.remove(request)
                return nil
            }
        }
    }

    // MARK: Executor

    func enqueue(_ job: consuming ExecutorJob) {
        if isOnCallersThread { isOnCallersThread = false }
        let job = UnownedJob(job)
        let inline = InlineJob(job, of: self)
        if request.inlineRunner?.runInline(inline) != true { DispatchQueue.global().async { inline.run() } }
    }

    /// Leaves the caller's thread before user code runs. Continues on the thread that awaits the response or, without such a
    /// thread, on one of Dispatch's threads.
    private func leaveCallersThread() async {
        await request.inlineRunner?.waitForWaiter()
        if isOnCallersThread { await request.onQueue(.global()) {} }
    }
}

extension TransportResponse {
    /// Whether a body must still be read or a connection is open.
    fileprivate var isOpen: Bool {
        switch body {
        case .data, .file: false
        case .stream, .connection: true
        }
    }
}

import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// The steps that are carried out there and then. Each wraps what goes wrong in it.
extension RequestPipeline {
    func perform(_ work: Attempt.Work) -> Attempt.Event {
        do throws(AFError) {
            switch work {
            case .begin: begin()
            case .makeURLRequest: return .made(adapters: try makeURLRequest())
            case .checkAdapted: try checkAdapted()
            case .makeBody, .presentFile, .validate, .commit: try request.perform(work)
            case .makeExchange: try makeExchange()
            case .runStage: runStage()
            case .receive: try receive()
            case .complete: return complete()
            case .beginRetry: try beginRetry()
            case .finish: finish()
            case .takeHandler: return takeHandler()
            case .serialize: return serialize()
            case .keep: keep()
            case .release: release()
            }
            return .done
        } catch {
            failure = error
            return .failed
        }
    }

    private func begin() {
        (previousFailure, failure) = (failure, nil)
        request.prepareForAttempt()
    }

    func checkEnd() throws(AFError) {
        if let end = request.mutable.withLock({ $0.end }) { throw end }
    }

    // MARK: Making the request

    /// - Returns: How many adapters are to change it.
    private func makeURLRequest() throws(AFError) -> Int {
        try checkEnd()
        let adapterCount = request.isIntercepted ? request.interceptors.count : 0
        let made = try request.makeURLRequest()
        (initialRequest, urlRequest) = (made, made)
        return adapterCount
    }

    private func checkAdapted() throws(AFError) {
        guard let initialRequest, let urlRequest else { return }
        do {
            try urlRequest.validate()
        } catch {
            throw didFailToAdapt(.requestAdaptationFailed(error: error))
        }
        request.mutable.withLock { $0.requests.append(urlRequest) }
        request.events?.request(request, didAdaptInitialRequest: initialRequest, to: urlRequest)
    }

    /// - Returns: Why the attempt failed.
    func didFailToAdapt(_ error: AFError) -> AFError {
        let failure = request.fail(with: error)
        if let initialRequest {
            request.events?.request(request, didFailToAdaptURLRequest: initialRequest, withError: failure)
        }
        return failure
    }

    private func makeExchange() throws(AFError) {
        guard let urlRequest else { return }
        request.broadcastLastRequest()
        do {
            exchange = try makeExchange(for: urlRequest)
            request.events?.request(request, didCreateURLRequest: urlRequest)
        } catch {
            let failure = request.fail(with: error.asAFError(or: .createURLRequestFailed(error: error)))
            request.events?.request(request, didFailToCreateURLRequestWithError: failure)
            throw failure
        }
        try checkEnd()
        if let control = exchange?.control { request.willPerform(urlRequest, control: control) }
    }

    private func makeExchange(for urlRequest: URLRequest) throws -> Exchange {
        let body = try request.body(for: urlRequest)
        if let previous = previousFailure, case .stream(let stream) = body, stream.isSpent {
            throw AFError.requestRetryFailed(retryError: TransportError.bodyIsSpent, originalError: previous)
        }
        var exchange = Exchange(
            request: try HTTPRequest(
                request.httpForm(of: urlRequest), bodyLength: body.length,
                writtenURL: request.writtenURL(of: urlRequest)),
            body: body,
            delivery: try request.openDelivery(),
            options: try request.stack.options.get())
        exchange.fragment = urlRequest.url?.fragmentAsWritten
        // 60 is what Foundation gives a request that says nothing.
        if urlRequest.timeoutInterval > 0, urlRequest.timeoutInterval != 60 {
            exchange.options.idleTimeout = urlRequest.timeoutInterval
        }
        if let handling = CookieHandling(urlRequest) { exchange.context[CookieHandlingKey.self] = handling }
        try request.complete(&exchange)
        return exchange
    }

    // MARK: The response

    private func runStage() {
        guard let work = stageWork.take() else { return }
        request.run(work)
    }

    /// Takes what the exchange came to.
    private func receive() throws(AFError) {
        guard let result = result.take() else { return }
        let (end, work) = request.mutable.withLock { [sendDate, urlRequest] state in
            state.attempt.control = nil
            if let report = result.report {
                state.attempts.append(
                    AttemptReport(
                        start: sendDate, end: Date(), report: report, request: urlRequest, response: result.head))
            }
            if case .failure(let error as TransportError) = result { state.end = state.end?.atPlace(of: error) }
            defer { state.attempt.work = [] }
            return (state.end, state.attempt.work)
        }
        for task in work { task.cancel() }
        var failure: AFError?
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
            let error = error.asAFError(or: .sessionTaskFailed(error: error))
            request.fail(with: error)
            failure = error
            if error.isResponseValidationError { isNetworkError = false }
        }
        request.didEndExchange(error: failure, isNetworkError: isNetworkError)
        if let error = failure ?? end { throw error }
    }

    private func complete() -> Attempt.Event {
        guard let failure else {
            request.didCompleteAttempt()
            return .completed(hasFailed: false, retriers: 0)
        }
        request.abandonAttempt()
        self.failure = request.fail(with: failure)
        request.didCompleteAttempt()
        return .completed(hasFailed: true, retriers: retrierCount)
    }

    /// How many retriers decide on the failure. None do if a retry could not begin, because another would fail as well, and
    /// none for a handler that was added to a finished request, which isn't sent again.
    private var retrierCount: Int {
        if case .requestRetryFailed = failure { return 0 }
        if request.isFinished { return 0 }
        return request.isIntercepted && request.mayBeRetried ? request.interceptors.count : 0
    }

    private func beginRetry() throws(AFError) {
        let (handlers, end) = request.mutable.withLock { ($0.beginRetry(), $0.end) }
        guard let handlers else { throw end ?? .explicitlyCancelled }
        for handler in handlers { handler.forget() }
        request.events?.requestIsRetrying(request)
    }

    // MARK: Handing over

    private func finish() {
        if let failure { request.fail(with: failure) }
        request.mutable.withLock { $0.finishWithoutHandlers() }
        request.events?.requestDidFinish(request)
        hadEnded = request.mutable.withLock { state in
            state.handlers.open()
            return state.end != nil
        }
    }

    private func takeHandler() -> Attempt.Event {
        handlerStep = request.mutable.withLock { $0.nextStep() }
        switch handlerStep {
        case .makeResponse: return .handlerTaken
        case .handOver, .finish: return .allSerialized
        case .done:
            request.cleanUp()
            context.remove(request)
            return .done
        }
    }

    private func serialize() -> Attempt.Event {
        guard case .makeResponse(let handler) = handlerStep else { return .done }
        failure = handler.makeResponse(of: request)
        return .serialized(hasFailed: failure != nil, retriers: failure == nil ? 0 : retrierCount)
    }

    /// A retrier may have given another failure.
    private func keep() {
        if case .makeResponse(let handler) = handlerStep { handler.failure = failure }
    }

    /// A cancel during serialization still decides what the handlers get.
    private func release() {
        let step = handlerStep
        handlerStep = .done
        let end = hadEnded ? nil : request.mutable.withLock { $0.end }
        request.cleanUp()
        switch step {
        case .handOver(let handlers): for handler in handlers { handler.handOver(end: end) }
        case .finish(let handlers): for finish in handlers { finish() }
        case .makeResponse, .done: break
        }
    }
}

extension Result<TransportResponse, any Error> {
    /// The response's head; nil without a response.
    fileprivate var head: ResponseHead? { if case .success(let response) = self { response.head } else { nil } }

    /// What was measured; nil when nothing was.
    fileprivate var report: TransportReport? {
        switch self {
        case .success(let response): response.report
        case .failure(let error): (error as? TransportError)?.report
        }
    }
}

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
        context.delegate.didStart(request)
        if let end = context.end { request.end(with: end) }
        while await attempt() == .again {}
        context.delegate.didFinish(request)
    }

    /// Runs the handlers that were added when everything was over.
    func runLateHandlers() async {
        _ = await serialize(mayRetry: false)
    }

    private enum Next { case again, done }

    private func attempt() async -> Next {
        request.prepareForAttempt()
        var failure: AFError?
        do {
            try checkEnd()
            let urlRequest = try await makeURLRequest()
            let exchange = try makeExchange(for: urlRequest)
            await request.waitUntilResumed()
            try checkEnd()
            try await perform(exchange, urlRequest)
            try request.runValidators()
        } catch {
            failure = fail(with: error)
        }
        context.delegate.didCompleteAttempt(of: request, error: failure)
        if let failure {
            switch await retryDecision(about: failure) {
            case .again: return .again
            case .giveUp(let error): request.mutable.withLock { $0.error = error }
            }
        }
        return await serialize(mayRetry: failure == nil)
    }

    // MARK: Making the request

    private func makeURLRequest() async throws -> URLRequest {
        let initial: URLRequest
        do {
            initial = try await onQueue(context.requestQueue) { [request] in
                var urlRequest = try request.convertible.asURLRequest()
                try request.requestModifier?(&urlRequest)
                return urlRequest
            }
        } catch {
            throw error.asAFError(or: .createURLRequestFailed(error: error))
        }
        request.mutable.withLock { $0.requests.append(initial) }
        let adapters = [context.interceptor, request.interceptor].compactMap { $0 }
        guard !adapters.isEmpty else { return initial }
        guard let session = context.session else { throw AFError.sessionDeinitialized }
        let state = RequestAdapterState(requestID: request.id, session: session)
        var adapted = initial
        for adapter in adapters {
            let current = adapted
            let result = await oneAnswer(ifCancelled: .failure(CancellationError())) { answer in
                adapter.adapt(current, using: state, completion: answer)
            }
            do {
                adapted = try result.get()
            } catch {
                throw AFError.requestAdaptationFailed(error: error)
            }
        }
        request.mutable.withLock { [adapted] in $0.requests.append(adapted) }
        return adapted
    }

    private func makeExchange(for urlRequest: URLRequest) throws -> Exchange {
        try urlRequest.validate()
        let body = try request.body(for: urlRequest)
        var exchange = Exchange(
            request: try HTTPRequest(urlRequest, bodyLength: body.length),
            body: body,
            delivery: request.delivery,
            options: context.options,
            observer: context.delegate.observer(of: request))
        // 60 is what Foundation gives a request that says nothing.
        if urlRequest.timeoutInterval != 60 { exchange.options.idleTimeout = urlRequest.timeoutInterval }
        return exchange
    }

    // MARK: Sending it

    private func perform(_ exchange: Exchange, _ urlRequest: URLRequest) async throws {
        let start = Date()
        request.mutable.withLock { state in
            state.control = exchange.control
            state.performedRequests.append(urlRequest)
            if state.state == .suspended { exchange.control.suspend() }
        }
        defer { request.mutable.withLock { $0.control = nil } }
        do {
            try context.capabilities.check(exchange)
            let response = try await context.transport.send(exchange)
            note(response.report, since: start)
            try await request.receive(response)
        } catch let error as TransportError {
            note(error.report, since: start)
            throw AFError.sessionTaskFailed(error: error.urlError)
        } catch {
            throw error.asAFError(or: .sessionTaskFailed(error: error))
        }
    }

    private func note(_ report: TransportReport, since start: Date) {
        request.mutable.withLock { $0.attempts.append(.init(start: start, end: Date(), report: report)) }
    }

    // MARK: Failing, and trying again

    /// Sets the request's error, unless it has one that explains this one: a cancel, or the session's end.
    private func fail(with error: any Error) -> AFError {
        request.mutable.withLock { state in
            let decisive =
                state.error
                ?? error.asAFError(or: .responseValidationFailed(reason: .customValidationFailed(error: error)))
            state.error = decisive
            return decisive
        }
    }

    private func checkEnd() throws {
        if let error = request.error { throw error }
    }

    private enum RetryDecision {
        case again
        case giveUp(AFError)
    }

    private func retryDecision(about failure: AFError) async -> RetryDecision {
        let retriers = [context.interceptor, request.interceptor].compactMap { $0 }
        guard !retriers.isEmpty, !request.isCancelled, context.end == nil, let session = context.session else {
            return .giveUp(failure)
        }
        for retrier in retriers {
            let answer = await oneAnswer(ifCancelled: RetryResult.doNotRetry) { [request] answer in
                retrier.retry(request, for: session, dueTo: failure, completion: answer)
            }
            switch answer {
            case .doNotRetry: continue
            case .retry: break
            case .retryWithDelay(let seconds): try? await Task.sleep(for: .seconds(max(0, min(seconds, 1e9))))
            case .doNotRetryWithError(let error):
                return .giveUp(.requestRetryFailed(retryError: error, originalError: failure))
            }
            // The answer was to retry; a cancel meanwhile outranks it.
            if request.isCancelled || context.end != nil { return .giveUp(request.error ?? failure) }
            request.mutable.withLock { state in
                state.retryCount += 1
                state.handlers.rewind()
            }
            return .again
        }
        return .giveUp(request.error ?? failure)
    }

    // MARK: Handing over

    /// Runs the serializers, then releases the completions.
    private func serialize(mayRetry: Bool) async -> Next {
        request.mutable.withLock { $0.handlers.open() }
        while true {
            switch request.mutable.withLock({ $0.nextStep() }) {
            case .serialize(let handler):
                guard let outcome = try? await onQueue(context.serializationQueue, { [request] in handler(request) })
                else { continue }
                if mayRetry, let error = outcome.error, case .again = await retryDecision(about: error) {
                    return .again
                }
                request.mutable.withLock { $0.handlers.keep(outcome.release) }
            case .release(let releases):
                for release in releases { release() }
                return .done
            }
        }
    }

    /// Runs a piece of work on the queue that the session was given for it, else right here.
    private func onQueue<Value: Sendable>(
        _ queue: DispatchQueue?, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard let queue else { return try work() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }
}

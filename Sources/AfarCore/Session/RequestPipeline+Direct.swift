import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The short way of a request: out from the calling thread, and home in the task that waits for it.
///
/// It is for requests that need no code but Afar's before their answer is there, and that nothing may retry. All that
/// happens to such a request, and in which order, is the same as on the long way; only tasks and switches of threads are
/// saved.
extension RequestPipeline {
    /// Sends the request. Returns false, and does nothing, when it must go the long way.
    func runDirectly() -> Bool {
        guard let transport = context.directTransport, !request.isIntercepted, request.mayRunDirectly else {
            return false
        }
        request.prepareForAttempt()
        do {
            try checkEnd()
            let urlRequest = try request.makeURLRequest()
            var exchange = try announcing(urlRequest) { try makeExchange(for: urlRequest) }
            exchange.observer = ExchangeEvents.make(of: request)
            send(exchange, urlRequest, over: transport)
        } catch {
            request.startTask {
                fail(with: error)
                finish()
            }
        }
        return true
    }

    private func send(_ exchange: Exchange, _ urlRequest: URLRequest, over transport: any DirectTransport) {
        request.willPerform(urlRequest, control: exchange.control)
        let start = Date()
        let prepared: any PreparedExchange
        do {
            prepared = try transport.prepare(exchange)
        } catch {
            request.startTask { conclude(.failure(error), since: start) }
            return
        }
        let hasEnded = request.mutable.withLock { state in
            state.exchange = prepared
            return state.end != nil
        }
        prepared.start { result in
            if case .success(let response) = result, !transport.isFinal(response) {
                return goOn(with: exchange, after: response, over: transport, since: start)
            }
            let work: @Sendable () -> Void = { conclude(result, since: start) }
            if request.borrower?.lend(work) != true { request.startTask { work() } }
        }
        if hasEnded { prepared.cancel() }
    }

    /// Takes a task after all: the response that came was not the last one.
    private func goOn(
        with exchange: Exchange, after response: TransportResponse, over transport: any DirectTransport,
        since start: Date
    ) {
        let elapsed = Duration.seconds(max(0, Date().timeIntervalSince(start)))
        let task = request.startTask {
            let result: Result<TransportResponse, any Error>
            do {
                result = .success(try await transport.finish(exchange, after: response, elapsed: elapsed))
            } catch {
                result = .failure(error)
            }
            conclude(result, since: start)
        }
        let hasEnded = request.mutable.withLock { state in
            (state.exchange, state.pipeline) = (nil, task)
            return state.end != nil
        }
        if hasEnded { task.cancel() }
    }

    private func conclude(_ result: Result<TransportResponse, any Error>, since start: Date) {
        do {
            try settle(result, since: start)
            try request.runValidators()
        } catch {
            fail(with: error)
        }
        finish()
    }

    private func finish() {
        request.didCompleteAttempt()
        guard !request.owesProgress else {
            return request.run {
                await request.waitForProgress()
                handOver()
            }
        }
        handOver()
    }

    private func handOver() {
        request.events?.requestDidFinish(request)
        let hadEnded = openHandlers()
        while true {
            let (step, end) = nextStep()
            switch step {
            case .serialize(let handler):
                let outcome = handler(request)
                request.mutable.withLock { $0.handlers.keep(outcome.release) }
            case .release(let releases):
                request.cleanUp()
                for release in releases { release(hadEnded ? nil : end) }
            case .done:
                request.cleanUp()
                return context.delegate.running.remove(request)
            }
        }
    }
}

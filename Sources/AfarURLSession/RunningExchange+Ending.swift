import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How the exchange ends.
extension RunningExchange {
    func cancel() {
        end(.cancelled, "the exchange was cancelled")
    }

    /// Ends the exchange with a failure of this transport's own finding.
    func end(
        _ code: TransportError.Code, _ message: String, systemError: Int32? = nil, because cause: (any Error)? = nil
    ) {
        let phase = state.withLock { $0.phase }
        end(
            with: .failure(
                TransportError(
                    code, phase: phase, url: exchange.url, message: message, systemError: systemError,
                    underlying: cause)))
    }

    /// Gives the verdict, if it is the first; a failure also stops the task.
    func end(with verdict: Result<Void, TransportError>) {
        let task = state.withLock { state -> URLSessionTask? in
            guard state.verdict == nil else { return nil }
            state.verdict = verdict
            // Left alone: about to end by itself, and not to be touched meanwhile.
            guard case .failure = verdict, !state.isLeftAlone else { return nil }
            return state.task
        }
        settle()
        // Cancelling waits for the session's queue, which may be busy reading.
        if let task { BoundedQueue.elsewhere { task.cancel() } }
    }

    /// Tells the verdict to whoever waits, once; not while the file is being written, for its owner closes it then.
    func settle() {
        let settled = state.withLock { state -> State? in
            guard state.verdict != nil, !state.isWriting else { return nil }
            defer {
                state.answer = nil
                state.sink = .memory(Data())
                state.task = nil
                state.watchdog = nil
                state.isAttached = false
            }
            return state
        }
        guard let settled, let verdict = settled.verdict else { return }
        settled.watchdog?.cancel()
        // Once: when the answer is out, the next exchange may have the same control.
        if settled.isAttached { exchange.control.attach(nil) }
        let report = report(of: settled)
        switch verdict {
        case .failure(var error):
            error.report = report
            switch settled.sink {
            case .memory(let data): if settled.head != nil { error.partialBody = data }
            case .stream(let source): source.finish(throwing: error, report: report)
            case .file: break
            }
            settled.answer?(.failure(error))
        case .success:
            if case .stream(let source) = settled.sink { source.finish(throwing: nil, report: report) }
            guard let answer = settled.answer, let head = settled.head else { return }
            let body: TransportResponse.Body =
                switch settled.sink {
                case .memory(let data): .data(data)
                case .file, .stream: .file(byteCount: settled.received)
                }
            answer(.success(TransportResponse(head: head, body: body, report: report)))
        }
    }

    func report(of state: State) -> TransportReport {
        if let transactions = state.transactions { return TransportReport(transactions: transactions) }
        var metrics = TransactionMetrics()
        metrics.fetchStartDate = state.fetchStart
        metrics.responseStartDate = state.responseStart
        metrics.responseEndDate = state.verdict == nil ? nil : Date()
        metrics.requestBodyBytes = state.sent
        metrics.responseBodyBytesAfterDecoding = state.received
        return TransportReport(transactions: [metrics])
    }
}

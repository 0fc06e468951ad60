import AfarTransport
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

    /// Says how the exchange ends, if nobody has; a failure also stops the task.
    func end(with ending: Result<Void, TransportError>) {
        let task = state.withLock { state -> URLSessionTask? in
            guard state.ending == nil else { return nil }
            state.ending = ending
            // Left alone: about to end by itself, and not to be touched meanwhile.
            guard case .failure = ending, !state.isLeftAlone else { return nil }
            return state.task
        }
        settle()
        // Cancelling waits for the session's queue, which may be busy reading.
        if let task { BoundedQueue.elsewhere { task.cancel() } }
    }

    /// Completes the exchange, once; not while the file is being written, for its owner closes it then.
    func settle() {
        let settled = state.withLock { state -> State? in
            guard state.ending != nil, !state.isWriting else { return nil }
            defer {
                state.completion = nil
                state.sink = .memory(Data())
                state.task = nil
                state.watchdog = nil
                state.isAttached = false
            }
            return state
        }
        guard let settled, let ending = settled.ending else { return }
        settled.watchdog?.cancel()
        // Once: when the answer is out, the next exchange may have the same control.
        if settled.isAttached { exchange.control.attach(nil) }
        let report = report(of: settled)
        if let head = settled.head, settled.discarding != nil, !ending.isCancel {
            settled.completion?(.success(TransportResponse(head: head, body: .data(Data()), report: report)))
            return
        }
        switch ending {
        case .failure(var error):
            error.report = report
            switch settled.sink {
            case .memory(let data): if settled.head != nil, exchange.delivery.isCollecting { error.partialBody = data }
            case .stream(let source): source.finish(throwing: error, report: report)
            case .file: break
            }
            settled.completion?(.failure(error))
        case .success:
            if case .stream(let source) = settled.sink { source.finish(throwing: nil, report: report) }
            guard let completion = settled.completion, let head = settled.head else { return }
            let body: TransportResponse.Body =
                switch settled.sink {
                case .memory(let data): .data(data)
                case .file, .stream: .file(byteCount: settled.received)
                }
            completion(.success(TransportResponse(head: head, body: body, report: report)))
        }
    }

    func report(of state: State) -> TransportReport {
        if let transactions = state.transactions { return TransportReport(transactions: transactions) }
        var metrics = TransactionMetrics()
        metrics.fetchStartDate = state.fetchStart
        metrics.responseStartDate = state.responseStart
        metrics.responseEndDate = state.ending == nil ? nil : Date()
        metrics.countOfRequestBodyBytesSent = state.sent
        metrics.countOfResponseBodyBytesAfterDecoding = state.received
        return TransportReport(transactions: [metrics])
    }
}

extension Result<Void, TransportError> {
    fileprivate var isCancel: Bool {
        if case .failure(let error) = self { error.code == .cancelled } else { false }
    }
}

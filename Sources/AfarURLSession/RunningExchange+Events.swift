import AfarTransport
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The session's events for the exchange. The session calls these methods serially.
extension RunningExchange {
    func didSend(_ total: Int64) {
        let hasEnded = state.withLock { state in
            state.sent = total
            state.lastActivity = .now
            return state.ending != nil
        }
        if !hasEnded { exchange.observer?.exchangeDidSend(bytes: total, expected: exchange.body.length) }
    }

    func didReceive(_ response: URLResponse) {
        let isExpected = state.withLock { state in
            state.lastActivity = .now
            // The decision can use the file, so the caller must not close it.
            state.isWriting = state.ending == nil && state.head == nil
            return state.isWriting
        }
        guard isExpected else { return }
        let result = Result { () throws(TransportError) in
            let head = try ResponseHead(response, for: exchange)
            if (100..<200).contains(head.status) {
                try countInformational(head.status)
                exchange.observer?.exchangeDidReceiveInformational(head)
            } else {
                exchange.observer?.exchangeDidReceiveHead(head)
                try apply(exchange.headArrived(head), about: head)
            }
        }
        state.withLock { $0.isWriting = false }
        // The exchange may have ended in the meantime.
        settle()
        if case .failure(let error) = result { end(with: .failure(error)) }
    }

    private func apply(_ decision: HeadDecision, about head: ResponseHead) throws(TransportError) {
        switch decision {
        case .take(let delivery):
            let file: Int32? =
                if case .file(let descriptor, _) = exchange.delivery { delivery?.descriptor ?? descriptor } else { nil }
            state.withLock { if let file, $0.ending == nil { $0.sink = .file(descriptor: file) } }
            accept(head)
        case .discard(let limit):
            state.withLock { state in
                (state.head, state.discarding, state.sink) = (head, limit, .memory(Data()))
            }
            if exchange.request.method != .head, head.contentLength ?? 0 > limit { return endDiscarding() }
            Task { [weak self] in
                try? await Task.sleep(for: .seconds(1))
                self?.endDiscarding()
            }
        case .refuse(let error): throw TransportError(refused: exchange.url, because: error)
        case .deferred(let pending):
            state.withLock { state in
                (state.head, state.isUndecided, state.sink) = (head, true, .memory(Data()))
            }
            // The reference is weak because the decision may be retained forever. The watchdog retains the running exchange.
            pending.whenDecided { [weak self] decision in
                guard let self else { return }
                onQueue { self.decided(decision, about: head) }
            }
        }
    }

    /// Applies the decision about a response, then delivers the part of the body that was held in memory.
    private func decided(_ decision: HeadDecision, about head: ResponseHead) {
        let held = state.withLock { state -> (Data, isComplete: Bool)? in
            guard state.ending == nil, state.isUndecided, case .memory(let held) = state.sink else { return nil }
            state.isUndecided = false
            // The decision may have taken longer than the idle timeout.
            state.lastActivity = .now
            (state.received, state.sink) = (0, .memory(Data()))
            return (held, state.isComplete)
        }
        guard let (held, isComplete) = held else { return }
        do throws(TransportError) { try apply(decision, about: head) } catch { return end(with: .failure(error)) }
        if !held.isEmpty { take(held) }
        if isComplete { end(with: .success(())) }
    }

    /// Ends the exchange without waiting for the rest of a discarded body.
    private func endDiscarding() {
        let task = state.withLock { state in
            // These tasks end by themselves and don't need to be canceled.
            state.endsWithoutCancel || Platform.stallsAtChallenge && state.head?.status == 401 ? nil : state.task
        }
        end(with: .success(()))
        if let task { BoundedQueue.runOffQueue { task.cancel() } }
    }

    private func countInformational(_ status: Int) throws(TransportError) {
        guard status != 101 else {
            throw TransportError(
                .malformedResponse, phase: .awaitingResponse, url: exchange.url,
                message: "the server switched protocols (101) without a request for it")
        }
        let count = state.withLock { state in
            state.informationalResponses += 1
            return state.informationalResponses
        }
        guard count > exchange.options.maximumInformationalResponses else { return }
        throw TransportError(
            .headTooLarge, phase: .awaitingResponse, url: exchange.url,
            message: "more than \(count - 1) informational responses"
        )
    }

    /// Prepares for the body. If the body is streamed, returns the response to the caller without waiting for the body.
    private func accept(_ head: ResponseHead) {
        let stream: ResponseBodyStream? =
            if case .stream(let highWaterMark) = exchange.delivery { openStream(highWaterMark: highWaterMark) } else {
                nil
            }
        let answered = state.withLock { state -> (Completion, TransportReport)? in
            guard state.ending == nil else { return nil }
            state.head = head
            state.responseStart = Date()
            guard stream != nil, let completion = state.completion else { return nil }
            state.completion = nil
            return (completion, report(of: state))
        }
        guard let stream, let (completion, report) = answered else { return }
        completion(.success(TransportResponse(head: head, body: .stream(stream), report: report)))
    }

    private func openStream(highWaterMark: Int) -> ResponseBodyStream {
        let (stream, source) = ResponseBodyStream.make(
            highWaterMark: Platform.suspendsInFlight ? highWaterMark : max(highWaterMark, streamBufferLimit),
            onDemand: { [weak self] in
                guard Platform.suspendsInFlight else { return }
                self?.state.withLock { $0.task }?.resume()
            },
            onCancel: { [weak self] in self?.cancel() }
        )
        state.withLock { if $0.ending == nil { $0.sink = .stream(source) } }
        return stream
    }

    func didReceive(_ data: Data) {
        let isExpected = state.withLock { state in
            state.lastActivity = .now
            return state.ending == nil && state.head != nil
        }
        if isExpected { take(data) }
    }

    private func take(_ data: Data) {
        enum Next { case nothing, notify, write(Int32), yield(ResponseBodyStream.Source), refuse(String), discard }
        let (next, total, head) = state.withLock { state -> (Next, Int64, ResponseHead?) in
            guard state.ending == nil else { return (.nothing, 0, nil) }
            state.received += Int64(data.count)
            let total = state.received
            if let limit = state.discarding { return (total > limit ? .discard : .nothing, total, state.head) }
            if state.isUndecided, !exchange.delivery.isCollecting, total > streamBufferLimit {
                return (
                    .refuse("\(streamBufferLimit) bytes wait for the decision about the response"), total, state.head
                )
            }
            if let limit = exchange.delivery.limit, total > limit {
                return (.refuse("the body exceeds its size limit"), total, state.head)
            }
            if let limit = exchange.options.decompressionLimit, let head = state.head, head.isBomb(total, for: limit) {
                return (.refuse(limit.message), total, head)
            }
            switch state.sink {
            case .memory(var collected):
                state.sink = .memory(Data())
                collected.append(data)
                state.sink = .memory(collected)
                return (.notify, total, state.head)
            case .file(let descriptor):
                state.isWriting = true
                return (.write(descriptor), total, state.head)
            case .stream(let source):
                return (.yield(source), total, state.head)
            }
        }
        switch next {
        case .nothing: return
        case .discard: return endDiscarding()
        case .refuse(let reason): return end(.responseTooLarge, reason)
        case .notify: break
        case .write(let descriptor):
            let failure = BodySink.deliver(data, to: descriptor)
            state.withLock { $0.isWriting = false }
            settle()
            if let failure { end(.deliveryFailed, "the body could not be written", systemError: failure) }
        case .yield(let source):
            source.yield(data)
            if source.isFull { applyBackpressure() }
        }
        let isDecoded = head?.value(for: .contentEncoding) != nil
        exchange.observer?.exchangeDidReceive(bytes: total, expected: isDecoded ? nil : head?.contentLength)
    }

    private func applyBackpressure() {
        if Platform.suspendsInFlight {
            state.withLock { $0.task }?.suspend()
        } else {
            end(.responseTooLarge, "the body's reader is too slow: \(streamBufferLimit) bytes are waiting")
        }
    }

    /// Returns whether a redirect can be declined; false if the exchange has ended.
    func canAnswerRedirect() -> Bool {
        state.withLock { state in
            guard state.ending == nil else { return false }
            state.endsWithoutCancel = Platform.endsAtRefusedRedirect
            return true
        }
    }

    func didCollect(_ transactions: [TransactionMetrics]) {
        state.withLock { $0.transactions = transactions }
    }

    func didComplete(with error: (any Error)?) {
        let (phase, hasHead, isUndecided, wasComplete) = state.withLock { state in
            let wasComplete = Swift.exchange(&state.isComplete, with: true)
            return (state.phase, state.head != nil, state.isUndecided, wasComplete)
        }
        // Ignores the cancellation of a task whose response was already complete.
        guard !wasComplete else { return }
        if let error {
            end(with: .failure(TransportError(error, phase: phase, url: exchange.url)))
        } else if isUndecided {
            return
        } else if hasHead {
            end(with: .success(()))
        } else {
            end(.malformedResponse, "the exchange ended without a response")
        }
    }
}

extension ResponseHead {
    /// Returns whether the decoded size exceeds the limit, which depends on the encoded size. The session doesn't report the
    /// encoded size, so the method uses the server's Content-Length instead.
    fileprivate func isBomb(_ decoded: Int64, for limit: DecompressionLimit) -> Bool {
        guard decoded > limit.size, value(for: .contentEncoding) != nil, let contentLength else { return false }
        return limit.isExceeded(by: decoded, from: contentLength)
    }
}

extension ResponseDelivery {
    var isCollecting: Bool { if case .collect = self { true } else { false } }
}

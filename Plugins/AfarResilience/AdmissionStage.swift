import AfarCore
import AfarTransport
import Foundation

/// The stage of the circuit breaker and the bulkhead. It handles each request that is sent to a server, after redirects, credentials
/// and the cache.
struct AdmissionStage: ExchangeStage {
    let hosts: Hosts

    func begin(_ hop: Hop) -> (any StageRun)? { AdmissionRun(hosts) }
}

/// One call to a host, from its admission to its end.
final class AdmissionRun: StageRun {
    private enum Phase {
        case idle
        /// Waiting for the bulkhead. The place in the queue is nil until it is known.
        case waiting(place: Int?)
        case running
        /// Ended, or rejected by the circuit breaker or the bulkhead.
        case ended
    }

    private enum Turn { case proceed, late, cancelled }

    private struct State {
        var phase = Phase.idle
        var ticket: Circuit.Ticket?
        var start = Duration.zero
        var head: ResponseHead?
        var headTime = Duration.zero
        var timer: DelayedCalls.ID?
        /// The end of the wait for the bulkhead.
        var turn: Turn?
        var continuation: CheckedContinuation<Turn, Never>?

        mutating func take(_ turn: Turn) -> CheckedContinuation<Turn, Never>? {
            self.turn = turn
            return continuation.take()
        }
    }

    private let hosts: Hosts
    private let state = Locked(State())
    // Set by `before(_:)`, which is called first.
    private nonisolated(unsafe) var key = ""
    private nonisolated(unsafe) var time = TimeSource.system

    init(_ hosts: Hosts) { self.hosts = hosts }

    // MARK: Admission

    func before(_ hop: Hop) -> Reply<RequestAction> {
        time = hop.exchange.options.timeSource
        key = hosts.key(of: hop.exchange)
        let now = time.uptime
        state.withLock { $0.phase = .waiting(place: nil) }
        switch hosts.admit(self, for: key, at: now) {
        case .admitted(let ticket):
            state.withLock { ($0.phase, $0.ticket, $0.start) = (.running, ticket, now) }
            return .now(sending(hop))
        case .waiting(let ticket, let place):
            // Another thread might already have admitted the request.
            state.withLock { state in
                state.ticket = ticket
                if case .waiting = state.phase { state.phase = .waiting(place: place) }
            }
            if let limits = hosts.policies.bulkhead { limitWait(to: limits.maximumWait) }
            return .wait { [self] in await action(for: hop) }
        case .rejectedByCircuit(let delay):
            state.withLock { $0.phase = .ended }
            return .now(rejection(delay))
        case .rejectedByBulkhead:
            state.withLock { $0.phase = .ended }
            return .now(.fail(BulkheadError(key: key, reason: .queueFull)))
        }
    }

    private func limitWait(to limit: Duration) {
        let timer = hosts.delays.schedule(after: limit, by: time) { [weak self] in self?.giveUp(.late) }
        let isWaiting = state.withLock { state in
            state.timer = timer
            if case .waiting = state.phase { return true }
            return false
        }
        if !isWaiting { hosts.delays.cancel(timer) }
    }

    /// - Parameter delay: The time until the next probe, if it is known.
    private func rejection(_ delay: Duration?) -> RequestAction {
        .fail(CircuitBreakerError(key: key, nextProbe: delay.map { time.now + $0 / .seconds(1) }))
    }

    private func sending(_ hop: Hop) -> RequestAction {
        guard hosts.policies.key != nil, hosts.policies.hedging != nil else { return .send }
        var exchange = hop.exchange
        exchange.context[HostKey.self] = key
        return .change(exchange)
    }

    /// Waits for a place among the concurrent requests.
    private func action(for hop: Hop) async -> RequestAction {
        let turn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The wait can be over before it begins.
                let turn = state.withLock { state in
                    if state.turn == nil { state.continuation = continuation }
                    return state.turn
                }
                if let turn { continuation.resume(returning: turn) }
            }
        } onCancel: {
            giveUp(.cancelled)
        }
        switch turn {
        case .proceed: return admitAgain(hop)
        case .late: return .fail(BulkheadError(key: key, reason: .waitTimedOut))
        case .cancelled:
            return .fail(
                TransportError(
                    .cancelled, phase: .queued, url: hop.exchange.url,
                    message: "the exchange was cancelled while it waited for its turn"))
        }
    }

    /// Sends the request, unless the circuit was opened while the request waited.
    private func admitAgain(_ hop: Hop) -> RequestAction {
        guard let last = state.withLock({ $0.ticket }) else { return sending(hop) }
        let now = time.uptime
        switch hosts.admitAgain(last, for: key, at: now) {
        case .admitted(let ticket):
            let isRunning = state.withLock { state in
                guard case .running = state.phase else { return false }
                state.ticket = ticket
                return true
            }
            if !isRunning, ticket != last { hosts.record(ticket, of: key, isFailure: nil, duration: .zero, at: now) }
            return sending(hop)
        case .rejected(let delay):
            let isRunning = state.withLock { state in
                defer { state.phase = .ended }
                if case .running = state.phase { return true }
                return false
            }
            if isRunning { hosts.leave(key, at: now) }
            return rejection(delay)
        }
    }

    /// Takes a place among the concurrent requests. Returns false if the run no longer needs the place.
    func proceed() -> Bool {
        let now = time.uptime
        let (isNeeded, continuation, timer) = state.withLock {
            state -> (Bool, CheckedContinuation<Turn, Never>?, DelayedCalls.ID?) in
            guard case .waiting = state.phase else { return (false, nil, nil) }
            (state.phase, state.start) = (.running, now)
            return (true, state.take(.proceed), state.timer)
        }
        if let timer { hosts.delays.cancel(timer) }
        continuation?.resume(returning: .proceed)
        return isNeeded
    }

    /// Ends the wait without a place, unless the run already has a place.
    private func giveUp(_ turn: Turn) {
        guard case .waiting(let place?) = state.withLock({ $0.phase }),
            hosts.leaveLine(of: key, place, at: time.uptime, hasTimedOut: turn == .late)
        else { return }
        state.withLock { $0.take(turn) }?.resume(returning: turn)
    }

    // MARK: The call

    func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
        let now = time.uptime
        let latency = state.withLock { state -> Duration? in
            // Called twice if the request has monitors.
            guard state.head !== head else { return nil }
            (state.head, state.headTime) = (head, now)
            return now - state.start
        }
        guard let latency else { return .now(.pass) }
        let isPause = head.status == 429 || head.status == 503
        let retryAfter = isPause ? head.retryAfter(now: time.now) : nil
        hosts.receiveHead(
            of: key, latency: latency, retryAfter: retryAfter.map { .seconds(min($0, 1e9)) }, at: now)
        return .now(.pass)
    }

    func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) {
        let now = time.uptime
        let (last, continuation) = state.withLock { state -> (State, CheckedContinuation<Turn, Never>?) in
            defer { state.phase = .ended }
            return (state, state.take(.cancelled))
        }
        continuation?.resume(returning: .cancelled)
        guard let ticket = last.ticket else { return }
        if let timer = last.timer { hosts.delays.cancel(timer) }
        switch last.phase {
        case .idle, .ended: break
        case .waiting(let place):
            if let place { _ = hosts.leaveLine(of: key, place, at: now) }
            hosts.record(ticket, of: key, isFailure: nil, duration: .zero, at: now)
        case .running:
            let duration = (last.head == nil ? now : last.headTime) - last.start
            record(ticket, outcome(of: result, last, hop: hop, at: now), duration: duration, at: now)
            // Record the outcome first: if it opens the circuit, the next request in the queue is rejected.
            hosts.leave(key, at: now)
        }
    }

    /// Returns the outcome of a call, or nil if it doesn't count.
    private func outcome(
        of result: Result<TransportResponse, any Error>?, _ last: State, hop: Hop, at now: Duration
    ) -> Result<ResponseHead, TransportError>? {
        if case .failure(let error as TransportError)? = result {
            if error.countsAsFailure { return .failure(error) }
            if error.code == .cancelled {
                // The session cancels exchanges at the request's deadline.
                guard let deadline = hop.exchange.context[RequestDeadline.self], now >= deadline,
                    now - last.start >= shortestFailure
                else {
                    return nil
                }
                return .failure(
                    TransportError(
                        .timedOut, phase: error.phase, url: error.url, message: "the request's deadline passed"))
            }
        }
        return last.head.map { .success($0) }
    }

    /// The minimum duration of a call that counts as a failure if the deadline ends it. Retries or an adapter might have used most of
    /// the time before the call began, so a short call isn't the host's fault.
    private var shortestFailure: Duration {
        hosts.policies.circuitBreaker?.slowCallDuration ?? .seconds((hosts.policies.deadline ?? 0) / 2)
    }

    private func record(
        _ ticket: Circuit.Ticket, _ outcome: Result<ResponseHead, TransportError>?, duration: Duration, at now: Duration
    ) {
        let status = (try? outcome?.get())?.status
        let finish: @Sendable (Bool?) -> Void = { [hosts, key] isFailure in
            hosts.record(
                ticket, of: key, isFailure: isFailure, isThrottled: status == 429, duration: duration, at: now)
        }
        if let outcome, let isFailure = hosts.policies.circuitBreaker?.isFailure {
            hosts.queue.async { finish(isFailure(outcome)) }
        } else {
            finish(outcome.map { _ in status.map { $0 >= 500 } ?? true })
        }
    }
}

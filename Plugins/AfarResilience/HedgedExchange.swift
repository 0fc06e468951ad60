import AfarTransport
import Foundation
import HTTPTypes

/// A wrapper around a callback transport that hedges requests.
struct HedgedCallbackTransport: CallbackTransport {
    let base: any CallbackTransport
    let hosts: Hosts
    let hedging: Hedging

    var capabilities: TransportCapabilities { base.capabilities }
    var connectionStatistics: ConnectionStatistics? { get async { await base.connectionStatistics } }

    func closeIdleConnections() { base.closeIdleConnections() }

    func prepare(_ hop: Hop) throws -> any PreparedExchange {
        guard let hedge = hosts.hedge(for: hop.exchange, hedging) else { return try base.prepare(hop) }
        return try HedgedExchange(hop.exchangeToSend, hedge) { [base] in
            try base.prepare(Hop($0, insteadOf: hop))
        }
    }
}

/// A wrapper around any other transport that hedges requests.
struct HedgedTransport: Transport {
    let base: any Transport
    let hosts: Hosts
    let hedging: Hedging

    var capabilities: TransportCapabilities { base.capabilities }
    var connectionStatistics: ConnectionStatistics? { get async { await base.connectionStatistics } }

    func closeIdleConnections() { base.closeIdleConnections() }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        guard let hedge = hosts.hedge(for: exchange, hedging) else { return try await base.send(exchange) }
        let start = ContinuousClock.now
        let hedged = try HedgedExchange(exchange, hedge) { [base] attempt in
            var attempt = attempt
            attempt.options.totalTimeout -= start.duration(to: .now) / .seconds(1)
            return TaskExchange(attempt, over: base)
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                hedged.start { continuation.resume(with: $0) }
            }
        } onCancel: {
            hedged.cancel()
        }
    }

    /// An exchange over a transport that has only an async method.
    private final class TaskExchange: PreparedExchange {
        private let exchange: Exchange
        private let base: any Transport
        private let state = Locked<(task: Task<Void, Never>?, isCancelled: Bool)>((nil, false))

        init(_ exchange: Exchange, over base: any Transport) { (self.exchange, self.base) = (exchange, base) }

        func start(completion: @escaping @Sendable (Result<TransportResponse, any Error>) -> Void) {
            let task = Task {
                do { completion(.success(try await base.send(exchange))) } catch { completion(.failure(error)) }
            }
            let isCancelled = state.withLock { state in
                state.task = task
                return state.isCancelled
            }
            if isCancelled { task.cancel() }
        }

        func cancel() {
            let task = state.withLock { state in
                state.isCancelled = true
                return state.task
            }
            task?.cancel()
        }
    }
}

/// Stores a host's key in the context of an exchange, so that the caller's closure isn't called again.
enum HostKey: ExchangeContextKey {
    static let defaultValue: String? = nil
}

extension Hosts {
    /// The hedge of an exchange that can be hedged.
    struct Hedge: Sendable {
        let hosts: Hosts
        let key: String
        let delay: Duration
        let time: TimeSource
    }

    fileprivate func hedge(for exchange: Exchange, _ hedging: Hedging) -> Hedge? {
        guard hedging.methods.contains(exchange.request.method), exchange.body.isReplayable,
            case .collect = exchange.delivery
        else { return nil }
        let time = exchange.options.timeSource
        let key = exchange.context[HostKey.self] ?? key(of: exchange)
        guard let delay = hedgeDelay(for: key, hedging, at: time.uptime) else { return nil }
        return Hedge(hosts: self, key: key, delay: delay, time: time)
    }
}

/// One or two requests for the same response.
///
/// The first head that arrives wins, and the other request is canceled. Errors of the second request don't win while the first one is
/// running: hedging never turns a success into a failure.
private final class HedgedExchange: PreparedExchange {
    typealias Completion = @Sendable (Result<TransportResponse, any Error>) -> Void

    fileprivate enum Attempt: Int, Sendable {
        case first, second

        var other: Attempt { self == .first ? .second : .first }
    }

    fileprivate struct State {
        var completion: Completion?
        /// The requests that haven't ended.
        var running: [Attempt: any PreparedExchange] = [:]
        var winner: Attempt?
        /// The error of the first request.
        var failure: (any Error)?
        var timer: DelayedCalls.ID?
        var isCancelled = false
        var hasEnded = false
    }

    private let exchange: Exchange
    private let hedge: Hosts.Hedge
    private let prepare: @Sendable (Exchange) throws -> any PreparedExchange
    private let controls = [ExchangeControl(), ExchangeControl()]
    private let state = Locked(State())

    init(
        _ exchange: Exchange, _ hedge: Hosts.Hedge,
        by prepare: @escaping @Sendable (Exchange) throws -> any PreparedExchange
    ) throws {
        (self.exchange, self.hedge, self.prepare) = (exchange, hedge, prepare)
        let first = try prepare(makeExchange(for: .first))
        state.withLock { $0.running[.first] = first }
    }

    /// Returns the exchange of an attempt. Only the winner's head and events are reported.
    private func makeExchange(for attempt: Attempt) -> Exchange {
        var copy = exchange
        copy.control = controls[attempt.rawValue]
        copy.decide = { [weak self, decide = exchange.decide] head in
            guard self?.claim(head, for: attempt) == true else { return .refuse(CancellationError()) }
            return decide?(head) ?? .take()
        }
        if let observer = exchange.observer { copy.observer = AttemptObserver(observer, of: self, attempt) }
        return copy
    }

    // MARK: Starting and canceling

    func start(completion: @escaping Completion) {
        let (first, isCancelled) = state.withLock { state in
            state.completion = completion
            return (state.running[.first], state.isCancelled)
        }
        followSuspension()
        if !isCancelled {
            let timer = hedge.hosts.delays.schedule(after: hedge.delay, by: hedge.time) { [weak self] in
                self?.sendSecond()
            }
            state.withLock { $0.timer = timer }
        }
        first?.start { [self] result in end(.first, with: result) }
    }

    /// Suspends both requests when the exchange is suspended, and resumes them when it is resumed. Each request has its own control,
    /// because a control can serve only one request.
    private func followSuspension() {
        let apply: @Sendable (Bool) -> Void = { [controls] isSuspended in
            for control in controls { if isSuspended { control.suspend() } else { control.resume() } }
        }
        var isSuspended = exchange.control.attach(apply)
        guard isSuspended else { return }
        // The exchange can be resumed in the meantime.
        repeat {
            isSuspended = exchange.control.isSuspended
            apply(isSuspended)
        } while exchange.control.isSuspended != isSuspended
    }

    func cancel() {
        let running = state.withLock { state in
            state.isCancelled = true
            return Array(state.running.values)
        }
        for request in running { request.cancel() }
    }

    /// Sends the second request, unless the first response's head has arrived or the host doesn't permit hedges.
    private func sendSecond() {
        guard state.withLock({ $0.needsSecond }), !exchange.control.isSuspended,
            hedge.hosts.takeHedge(for: hedge.key, at: hedge.time.uptime),
            let second = try? prepare(makeExchange(for: .second))
        else { return }
        let isNeeded = state.withLock { state in
            if state.needsSecond { state.running[.second] = second }
            return state.running[.second] != nil
        }
        if isNeeded { second.start { [self] result in end(.second, with: result) } }
    }

    // MARK: Winning

    /// Returns whether the response with this head is used.
    fileprivate func claim(_ head: ResponseHead, for attempt: Attempt) -> Bool {
        let (isWinner, isNew, loser) = state.withLock { state in
            let isNew = state.claim(head, for: attempt)
            return (state.winner == attempt, isNew, isNew ? state.running[attempt.other] : nil)
        }
        loser?.cancel()
        if isNew, attempt == .second { hedge.hosts.noteHedgeWon(for: hedge.key, at: hedge.time.uptime) }
        return isWinner
    }

    /// Returns whether the events of an attempt are reported. Until an attempt wins, the first request's events are reported.
    /// After that, the winner's events are reported.
    fileprivate func isObserved(_ attempt: Attempt) -> Bool { state.withLock { $0.winner ?? .first } == attempt }

    private func end(_ attempt: Attempt, with result: Result<TransportResponse, any Error>) {
        // A transport that returns complete responses doesn't call `decide`.
        if case .success(let response) = result { _ = claim(response.head, for: attempt) }
        let (ended, final) =
            state.withLock { state -> (State, Result<TransportResponse, any Error>)? in
                guard let final = state.end(attempt, with: result) else { return nil }
                defer { (state.completion, state.running) = (nil, [:]) }
                return (state, final)
            } ?? (State(), result)
        guard let completion = ended.completion else { return }
        if let timer = ended.timer { hedge.hosts.delays.cancel(timer) }
        exchange.control.attach(nil)
        completion(final)
    }
}

extension HedgedExchange.State {
    var needsSecond: Bool { winner == nil && !isCancelled && !hasEnded }

    /// Makes an attempt the winner, unless another attempt has already won. Returns whether it has become the winner.
    mutating func claim(_ head: ResponseHead, for attempt: HedgedExchange.Attempt) -> Bool {
        guard winner == nil, !hasEnded else { return false }
        // A server that refuses to process a request twice responds to the second one with an error.
        guard attempt == .first || head.status < 400 || running[.first] == nil else { return false }
        winner = attempt
        return true
    }

    /// Records the end of an attempt. Returns the result of the exchange, or nil if the exchange has already ended or still
    /// continues.
    mutating func end(
        _ attempt: HedgedExchange.Attempt, with result: Result<TransportResponse, any Error>
    ) -> Result<TransportResponse, any Error>? {
        running[attempt] = nil
        guard !hasEnded, winner == nil || winner == attempt else { return nil }
        if winner == nil {
            if attempt == .first, case .failure(let error) = result { failure = error }
            guard running.isEmpty else { return nil }
        }
        hasEnded = true
        guard winner == nil, let failure else { return result }
        return .failure(failure)
    }
}

/// Observes one of the two requests, and forwards only those events that the exchange reports.
private final class AttemptObserver: ExchangeObserver {
    private let observer: any ExchangeObserver
    private weak let exchange: HedgedExchange?
    private let attempt: HedgedExchange.Attempt

    init(_ observer: any ExchangeObserver, of exchange: HedgedExchange, _ attempt: HedgedExchange.Attempt) {
        (self.observer, self.exchange, self.attempt) = (observer, exchange, attempt)
    }

    private var isObserved: Bool { exchange?.isObserved(attempt) == true }

    func exchangeDidReceiveInformational(_ head: ResponseHead) {
        if isObserved { observer.exchangeDidReceiveInformational(head) }
    }

    func exchangeDidReceiveHead(_ head: ResponseHead) {
        if exchange?.claim(head, for: attempt) == true { observer.exchangeDidReceiveHead(head) }
    }

    func exchangeDidSend(bytes: Int64, expected: Int64?) {
        if isObserved { observer.exchangeDidSend(bytes: bytes, expected: expected) }
    }

    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        if isObserved { observer.exchangeDidReceive(bytes: bytes, expected: expected) }
    }
}

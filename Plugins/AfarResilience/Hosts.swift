import AfarTransport
import Foundation
import HTTPTypes

/// The state of all hosts, which the interceptor, the stage and the transport of a ``Resilience`` share.
final class Hosts: Sendable {
    /// The state of one host. Its parts are state machines without I/O, clocks and locks.
    struct Host: Sendable {
        var circuit: Circuit
        var retries: TokenBucket
        var hedges: TokenBucket
        var latencies: LatencyWindow
        var line = WaitingLine<AdmissionRun>()
        /// The time until which a `Retry-After` of the host prevents hedges.
        var hedgingPause = Duration.zero
        var counts: [ResilienceEvent.Kind: Int] = [:]
        var lastUse = (number: 0, time: Duration.zero)
    }

    fileprivate struct State {
        var hosts: [String: Host] = [:]
        var useCount = 0
        var observers: [@Sendable (ResilienceEvent) -> Void] = []
    }

    let policies: Policies
    let delays = DelayedCalls()
    /// Calls observers and ``CircuitBreaker/isFailure``.
    let queue = DispatchQueue(label: "afar.resilience")
    private let state = Locked(State())

    init(_ policies: Policies) { self.policies = policies }

    // MARK: Keys

    func key(of exchange: Exchange) -> String {
        if let key = policies.key, let url = URL(string: exchange.url) { return key(url) }
        let (scheme, host, port) = (exchange.request.scheme ?? "", exchange.host, exchange.port)
        let origin = host.utf8.contains(UInt8(ascii: ":")) ? "\(scheme)://[\(host)]" : "\(scheme)://\(host)"
        return port == (scheme == "https" ? 443 : 80) ? origin : "\(origin):\(port)"
    }

    func key(ofURL url: String) -> String {
        guard let separator = url.firstRange(of: "://") else { return url }
        let rest = url[separator.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = rest[..<end].split(separator: "@").last ?? ""
        return key(
            of: Exchange(
                request: HTTPRequest(
                    method: .get, scheme: url[..<separator.lowerBound].lowercased(), authority: String(authority),
                    path: String(rest[end...]))))
    }

    // MARK: Admission

    enum Admission {
        case admitted(Circuit.Ticket)
        case waiting(Circuit.Ticket, place: Int)
        case rejectedByCircuit(retryAfter: Duration?)
        case rejectedByBulkhead
    }

    func admit(_ run: AdmissionRun, for key: String, at now: Duration) -> Admission {
        update(key, at: now) { host, events in
            let ticket: Circuit.Ticket
            switch host.circuit.admit(at: now) {
            case .admitted(let admitted): ticket = admitted
            case .rejected(let delay):
                events.append(.rejectedByCircuit)
                return .rejectedByCircuit(retryAfter: delay)
            }
            guard let limits = policies.bulkhead else { return .admitted(ticket) }
            switch host.line.enter(run, limits: limits) {
            case .admitted: return .admitted(ticket)
            case .waiting(let place): return .waiting(ticket, place: place)
            case .full:
                host.circuit.record(ticket, isFailure: nil, duration: .zero, at: now)
                events.append(.rejectedByBulkhead)
                return .rejectedByBulkhead
            }
        }
    }

    /// Admits a call again after it has waited for the bulkhead.
    func admitAgain(_ ticket: Circuit.Ticket, for key: String, at now: Duration) -> Circuit.Admission {
        update(key, at: now) { host, events in
            let admission = host.circuit.admitAgain(ticket, at: now)
            if case .rejected = admission { events.append(.rejectedByCircuit) }
            return admission
        }
    }

    /// Removes a run from the queue of a host. Returns false if it has already been removed.
    func leaveLine(of key: String, _ place: Int, at now: Duration, hasTimedOut: Bool = false) -> Bool {
        update(key, at: now) { host, events in
            let isRemoved = host.line.remove(place)
            if isRemoved, hasTimedOut { events.append(.rejectedByBulkhead) }
            return isRemoved
        }
    }

    /// Gives the place of an ended request to the next request in the queue.
    func leave(_ key: String, at now: Duration) {
        guard policies.bulkhead != nil else { return }
        while let next = update(key, at: now, { host, _ in host.line.leave() }) {
            if next.proceed() { return }
        }
    }

    /// Records the end of a call.
    ///
    /// - Parameters:
    ///   - isFailure: Nil if the call doesn't count.
    ///   - isThrottled: Whether the status is 429, which is neither a failure nor a success.
    func record(
        _ ticket: Circuit.Ticket, of key: String, isFailure: Bool?, isThrottled: Bool = false, duration: Duration,
        at now: Duration
    ) {
        update(key, at: now) { host, _ in
            host.circuit.record(ticket, isFailure: isFailure, duration: duration, at: now)
            switch isFailure {
            case false where !isThrottled: host.retries.add(policies.retryBudget.refillPerSuccess, at: now)
            case true: host.retries.remove(policies.retryBudget.failureCost, at: now)
            default: break
            }
        }
    }

    func receiveHead(of key: String, latency: Duration, retryAfter: Duration?, at now: Duration) {
        guard policies.hedging != nil else { return }
        update(key, at: now) { host, _ in
            host.latencies.record(latency)
            if let retryAfter { host.hedgingPause = max(host.hedgingPause, now + retryAfter) }
        }
    }

    // MARK: Retries and hedges

    /// - Parameter delay: The time until the retry.
    func takeRetry(for key: String, afterTimeout isTimeout: Bool, delay: Duration, at now: Duration) -> Bool {
        update(key, at: now) { host, events in
            let budget = policies.retryBudget
            let isPermitted =
                !host.circuit.isOpen(at: now + delay)
                && host.retries.take(
                    isTimeout ? budget.timeoutCost : budget.retryCost, reserve: budget.reserve, at: now)
            events.append(isPermitted ? .retried : .retryDenied)
            return isPermitted
        }
    }

    /// Counts a request that can be hedged. Returns the delay of its hedge, or nil if it isn't hedged.
    func hedgeDelay(for key: String, _ hedging: Hedging, at now: Duration) -> Duration? {
        update(key, at: now) { host, _ in
            host.hedges.add(hedging.maximumRatio, at: now)
            return switch hedging.delay {
            case .fixed(let delay): max(.zero, delay)
            case .percentile: host.latencies.percentile
            }
        }
    }

    func takeHedge(for key: String, at now: Duration) -> Bool {
        update(key, at: now) { host, events in
            guard host.circuit.state == .closed || host.circuit.state == .forcedClosed, now >= host.hedgingPause,
                host.hedges.take(1, at: now)
            else { return false }
            events.append(.hedged)
            return true
        }
    }

    func noteHedgeWon(for key: String, at now: Duration) {
        update(key, at: now) { _, events in events.append(.hedgeWon) }
    }

    // MARK: State

    func setCircuit(of name: String, to state: CircuitState?) {
        let key = policies.key == nil ? key(ofURL: name) : name
        let now = all[key]?.lastUse.time ?? .zero
        update(key, at: now) { host, _ in
            if let state { host.circuit.force(state) } else { host.circuit.reset() }
        }
    }

    func observe(_ observer: @escaping @Sendable (ResilienceEvent) -> Void) {
        state.withLock { $0.observers.append(observer) }
    }

    var all: [String: Host] { state.withLock { $0.hosts } }

    /// Changes the state of a host, and reports the events.
    @discardableResult
    private func update<Value: Sendable>(
        _ key: String, at now: Duration, _ body: (inout Host, inout [ResilienceEvent.Kind]) -> Value
    ) -> Value {
        state.withLock { state in
            if state.hosts[key] == nil { state.makeRoom(within: policies.hostLimit) }
            state.useCount += 1
            let (value, events) = state.hosts[key, default: Host(policies, at: now)].update((state.useCount, now), body)
            if !events.isEmpty, !state.observers.isEmpty {
                queue.async { [observers = state.observers] in
                    for kind in events { for observe in observers { observe(ResilienceEvent(key: key, kind: kind)) } }
                }
            }
            return value
        }
    }
}

extension Hosts.State {
    /// If there are too many hosts, removes about one eighth of them, the least recently used first. Keeps hosts with requests in the
    /// bulkhead, and hosts whose circuits were forced.
    fileprivate mutating func makeRoom(within limit: Int) {
        guard hosts.count >= max(1, limit) else { return }
        let uses = hosts.values.filter { !$0.isPinned }.map(\.lastUse.number).sorted()
        guard let last = uses.dropFirst(uses.count / 8).first else { return }
        hosts = hosts.filter { $0.value.isPinned || $0.value.lastUse.number > last }
    }
}

extension Hosts.Host {
    fileprivate init(_ policies: Policies, at now: Duration) {
        circuit = Circuit(policies.circuitBreaker)
        retries = TokenBucket(
            capacity: policies.retryBudget.capacity, refillPerSecond: policies.retryBudget.refillPerSecond, at: now)
        hedges = TokenBucket(capacity: Self.hedgeCapacity, tokens: 0, at: now)
        latencies = LatencyWindow(policies.hedging?.delay)
    }

    /// The maximum number of hedges in a burst.
    private static let hedgeCapacity = 10.0

    fileprivate var isPinned: Bool {
        line.runningCount > 0 || circuit.state == .forcedOpen || circuit.state == .forcedClosed
    }

    fileprivate mutating func update<Value>(
        _ use: (Int, Duration), _ body: (inout Self, inout [ResilienceEvent.Kind]) -> Value
    ) -> (Value, [ResilienceEvent.Kind]) {
        lastUse = use
        let state = circuit.state
        var events: [ResilienceEvent.Kind] = []
        let value = body(&self, &events)
        if circuit.state != state { events.append(ResilienceEvent.Kind(circuit.state)) }
        for event in events { counts[event, default: 0] += 1 }
        return (value, events)
    }
}

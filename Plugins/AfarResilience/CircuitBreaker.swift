public import AfarTransport
public import Foundation

/// The rules for rejecting requests to a failing host before they are sent.
///
/// The circuit of a host is closed at first. It opens when too many of the recent calls have failed or were slow. While the circuit is
/// open, requests fail immediately with a ``CircuitBreakerError``. After ``openDuration``, the circuit is half-open and lets a few requests
/// (the probes) pass. If all of them succeed, the circuit closes. If one fails, the circuit opens again.
///
/// A call is one request to the server: each attempt, each hop of a redirect and each answer to a challenge. Responses from the cache
/// aren't calls. The duration of a call ends when the response's head has arrived.
public struct CircuitBreaker: Sendable {
    /// The calls from which the rates are computed.
    public enum Window: Sendable, Hashable {
        /// The last calls.
        case calls(Int)
        /// The calls in a period that ends now. The period advances in ten steps.
        case period(Duration)
    }

    /// The calls from which the rates are computed. The default is the last 100 calls.
    public var window = Window.calls(100)
    /// The minimum number of calls in the window for the circuit to open. The default is 20. If the window can't hold that many calls, a
    /// full window is sufficient.
    public var minimumCalls = 20
    /// The share of failed calls at which the circuit opens, from 0 to 1. The default is 0.5.
    public var failureRate = 0.5
    /// The minimum duration of a slow call. The default is nil: no call counts as slow.
    public var slowCallDuration: Duration?
    /// The share of slow calls at which the circuit opens, from 0 to 1. The default is 0.5.
    public var slowCallRate = 0.5
    /// The time until an open circuit lets probes pass. The default is 5 seconds.
    public var openDuration = Duration.seconds(5)
    /// The number of probes. All of them must succeed. The default is 1.
    public var probeCount = 1
    /// Decides whether a response or a transport's error is a failure. The default is nil: status codes of 500 or higher, network errors
    /// and server errors are failures.
    ///
    /// Called on a Dispatch queue, one call at a time, after the response has ended. Not called for canceled requests, or for errors
    /// that the server didn't cause.
    public var isFailure: (@Sendable (Result<ResponseHead, TransportError>) -> Bool)?

    /// Creates the default rules.
    public init() {}
}

/// The error of a request that a circuit breaker rejected. The request wasn't sent.
///
/// A session reports it as the underlying error of ``AFError/sessionTaskFailed(error:)``.
public struct CircuitBreakerError: Error, Sendable, Hashable {
    /// The host whose circuit isn't closed, such as `https://example.com`.
    public let key: String
    /// The time from which the next probe is possible. Nil if the circuit was forced open, or if probes are running.
    public let nextProbe: Date?
}

extension CircuitBreakerError: CustomStringConvertible, LocalizedError {
    /// The error on one line.
    public var description: String {
        let advice = nextProbe.map { "try again after \($0.formatted(.iso8601))" } ?? "try again later"
        return "the request was not sent, because the circuit breaker of \(key) is open: \(advice)"
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

/// The state of a host's circuit.
public enum CircuitState: String, Sendable, Hashable, Codable {
    /// All requests pass.
    case closed
    /// No request passes.
    case open
    /// Only probes pass.
    case halfOpen
    /// All requests pass, and none is counted.
    case forcedClosed
    /// No request passes until the circuit is reset.
    case forcedOpen
}

extension CircuitBreaker {
    /// Rules that never open a circuit.
    fileprivate static let none: CircuitBreaker = {
        var rules = CircuitBreaker()
        (rules.window, rules.failureRate) = (.calls(1), .infinity)
        return rules
    }()
}

// MARK: - State machine

/// The circuit of one host. It performs no I/O and has no clock.
struct Circuit: Sendable {
    enum Admission: Equatable {
        case admitted(Ticket)
        /// The request is refused. The value is the time until the next probe, if it is known.
        case rejected(retryAfter: Duration?)
    }

    /// Identifies the phase in which a call was admitted. Results of earlier phases don't count.
    struct Ticket: Equatable, Sendable { fileprivate let phase: Int }

    private enum Phase: Equatable {
        case closed
        case open(until: Duration)
        case halfOpen(running: Int, succeeded: Int)
        case forced(CircuitState)
    }

    private let rules: CircuitBreaker
    private var window: CallWindow
    private var phase = Phase.closed
    private var phaseNumber = 0

    /// Creates a closed circuit. Without rules, it opens only if it is forced open.
    init(_ rules: CircuitBreaker?) {
        self.rules = rules ?? .none
        window = CallWindow(self.rules.window)
    }

    var state: CircuitState {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        case .forced(let state): state
        }
    }

    mutating func counts(at now: Duration) -> CallCounts { window.counts(at: now) }

    mutating func admit(at now: Duration) -> Admission {
        if case .open(let end) = phase, now >= end { enter(.halfOpen(running: 0, succeeded: 0)) }
        switch phase {
        case .closed, .forced(.forcedClosed): break
        case .open(let end): return .rejected(retryAfter: end - now)
        case .halfOpen(let running, let succeeded):
            guard running + succeeded < max(1, rules.probeCount) else { return .rejected(retryAfter: nil) }
            phase = .halfOpen(running: running + 1, succeeded: succeeded)
        case .forced: return .rejected(retryAfter: nil)
        }
        return .admitted(Ticket(phase: phaseNumber))
    }

    /// Whether the circuit rejects a call at the given time, if its state doesn't change until then.
    func isOpen(at time: Duration) -> Bool {
        switch phase {
        case .open(let end): time < end
        case .forced(let state): state == .forcedOpen
        case .closed, .halfOpen: false
        }
    }

    /// Admits a call that was admitted earlier and hasn't been sent, unless the circuit has been opened since.
    mutating func admitAgain(_ ticket: Ticket, at now: Duration) -> Admission {
        ticket.phase == phaseNumber ? .admitted(ticket) : admit(at: now)
    }

    /// Records the end of an admitted call.
    ///
    /// - Parameters:
    ///   - isFailure: Nil if the call doesn't count, for example because it was canceled.
    ///   - duration: The time until the response's head or the failure.
    mutating func record(_ ticket: Ticket, isFailure: Bool?, duration: Duration, at now: Duration) {
        guard ticket.phase == phaseNumber else { return }
        let isSlow = rules.slowCallDuration.map { duration >= $0 } ?? false
        switch phase {
        case .closed:
            guard let isFailure else { return }
            window.record(CallCounts(calls: 1, failures: isFailure ? 1 : 0, slow: isSlow ? 1 : 0), at: now)
            if isExceeded(by: window.counts(at: now)) { open(at: now) }
        case .halfOpen(let running, let succeeded):
            switch isFailure {
            case nil: phase = .halfOpen(running: running - 1, succeeded: succeeded)
            case .some(let isFailure) where isFailure || isSlow: open(at: now)
            case .some where succeeded + 1 >= rules.probeCount: enter(.closed)
            case .some: phase = .halfOpen(running: running - 1, succeeded: succeeded + 1)
            }
        case .open, .forced: break
        }
    }

    mutating func force(_ state: CircuitState) { enter(.forced(state)) }

    mutating func reset() { enter(.closed) }

    private mutating func open(at now: Duration) {
        enter(.open(until: now + min(max(rules.openDuration, .zero), .seconds(1e9))))
    }

    private mutating func enter(_ next: Phase) {
        phase = next
        phaseNumber += 1
        window = CallWindow(rules.window)
    }

    private func isExceeded(by counts: CallCounts) -> Bool {
        guard counts.calls >= max(1, min(rules.minimumCalls, window.capacity)) else { return false }
        return counts.failureRate >= rules.failureRate
            || rules.slowCallDuration != nil && counts.slowCallRate >= rules.slowCallRate
    }
}

struct CallCounts: Sendable, Equatable {
    var calls = 0
    var failures = 0
    var slow = 0

    var failureRate: Double { calls == 0 ? 0 : Double(failures) / Double(calls) }
    var slowCallRate: Double { calls == 0 ? 0 : Double(slow) / Double(calls) }

    static func += (sum: inout Self, other: Self) {
        (sum.calls, sum.failures, sum.slow) = (
            sum.calls + other.calls, sum.failures + other.failures, sum.slow + other.slow
        )
    }

    static func -= (sum: inout Self, other: Self) {
        (sum.calls, sum.failures, sum.slow) = (
            sum.calls - other.calls, sum.failures - other.failures, sum.slow - other.slow
        )
    }
}

/// The calls of a sliding window, in a ring of slots. A slot contains one call or, if the window is a period, the calls in a tenth
/// of the period.
struct CallWindow: Sendable {
    private var slots: [CallCounts]
    private var sum = CallCounts()
    /// The number of the newest slot, counted from the first call or from the clock's start.
    private var newest = 0
    /// The duration of a slot; nil if each slot contains one call.
    private let slotDuration: Duration?

    init(_ window: CircuitBreaker.Window) {
        switch window {
        case .calls(let count):
            slots = Array(repeating: CallCounts(), count: min(max(1, count), 10_000))
            slotDuration = nil
        case .period(let duration):
            slots = Array(repeating: CallCounts(), count: 10)
            slotDuration = max(duration / 10, .milliseconds(1))
        }
    }

    /// The maximum number of calls.
    var capacity: Int { slotDuration == nil ? slots.count : .max }

    mutating func record(_ call: CallCounts, at now: Duration) {
        if slotDuration == nil { advance(to: newest + 1) } else { advance(at: now) }
        slots[newest % slots.count] += call
        sum += call
    }

    mutating func counts(at now: Duration) -> CallCounts {
        advance(at: now)
        return sum
    }

    private mutating func advance(at now: Duration) {
        if let slotDuration { advance(to: Int(min(max(0, now / slotDuration), 1e15))) }
    }

    private mutating func advance(to slot: Int) {
        guard slot > newest else { return }
        for old in (newest + 1)...min(slot, newest + slots.count) {
            sum -= slots[old % slots.count]
            slots[old % slots.count] = CallCounts()
        }
        newest = slot
    }
}

// MARK: - Failures

extension TransportError {
    /// Whether the server or the network on the way to it caused the error. False for canceled requests, errors in the request, responses
    /// that the client rejects or can't write to a file, and errors of this machine, such as a missing network.
    var countsAsFailure: Bool {
        switch code {
        case .cancelled, .invalidURL, .unsupportedURL, .requestBodyFailed, .deliveryFailed, .unsupportedByTransport,
            .invalidUse, .tooManyRedirects, .invalidRedirect, .insecureRedirect, .invalidCredential, .notCached,
            .notConnected, .refusedByPolicy, .outOfResources, .responseTooLarge, .clientCertificateRequired,
            .clientCertificateRejected:
            false
        default: true
        }
    }
}

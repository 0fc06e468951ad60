public import AfarCore
public import AfarTransport
public import Foundation

/// Protects a session and its servers from failing and slow servers.
///
/// ```swift
/// let resilience = Resilience(deadline: 10, bulkhead: Bulkhead(maximumConcurrent: 50), hedging: Hedging())
/// let session = resilience.makeSession(transport: transport)
/// ```
///
/// A request passes these policies in this order:
///
/// 1. The deadline bounds all attempts and the delays between them.
/// 2. The retrier decides about another attempt. The retry budget limits the retries to a host.
/// 3. The circuit breaker rejects requests to a host that fails.
/// 4. The bulkhead limits the concurrent requests to a host.
/// 5. Hedging sends a second request if the first one is slow.
/// 6. The transport sends the request.
///
/// The circuit breaker, the bulkhead and hedging handle each request that is sent: each attempt, each hop of a redirect, and each answer to
/// a challenge. Responses from the cache pass none of them. All delays and periods use ``SessionConfiguration/timeSource``. Sessions that
/// use the same object share its state. You can call all methods from any thread.
public final class Resilience: Sendable {
    private let hosts: Hosts

    /// Creates policies.
    ///
    /// - Parameters:
    ///   - deadline: The maximum duration of a ``DataRequest`` in seconds, unless it sets ``RequestOptions/deadline`` itself. Streams,
    ///     downloads and WebSockets have no default deadline. The default is nil: no deadline.
    ///   - retrier: Decides about retries, within the budget. Nil disables retries, except for those of a request's own retrier. The
    ///     default is a ``RetryPolicy`` with random delays that respects a `Retry-After` of up to 30 seconds. A status is a failure
    ///     only if the request is validated.
    ///   - retryBudget: The limit for the retries to a host.
    ///   - circuitBreaker: The rules for rejecting requests to a host that fails. Nil disables the circuit breaker, except for circuits
    ///     that are forced open.
    ///   - bulkhead: The limit for concurrent requests to a host. The default is nil: no limit.
    ///   - hedging: The rules for second requests. The default is nil: requests aren't hedged.
    ///   - hostLimit: The number of hosts whose state is kept. The state of the least recently used hosts is discarded. The default is
    ///     1,000.
    ///   - key: Returns the name of a URL's group. All policies treat a group as one host. The default is nil: the group is the URL's
    ///     scheme, host and port, such as `https://example.com` or `http://localhost:8080`. The closure must return quickly, and can be
    ///     called from any thread.
    public init(
        deadline: TimeInterval? = nil,
        retrier: (any RequestRetrier)? = .retryPolicy(respectingRetryAfterUpTo: 30),
        retryBudget: RetryBudget = RetryBudget(),
        circuitBreaker: CircuitBreaker? = CircuitBreaker(),
        bulkhead: Bulkhead? = nil,
        hedging: Hedging? = nil,
        hostLimit: Int = 1_000,
        key: (@Sendable (URL) -> String)? = nil
    ) {
        hosts = Hosts(
            Policies(
                deadline: deadline, retrier: retrier, retryBudget: retryBudget, circuitBreaker: circuitBreaker,
                bulkhead: bulkhead, hedging: hedging, hostLimit: hostLimit, key: key))
    }

    // MARK: Sessions

    /// Creates a session with all policies.
    ///
    /// To pass other arguments to the session, pass ``interceptor``, ``stage`` and ``transport(around:)`` to its initializer instead.
    ///
    /// - Parameters:
    ///   - configuration: The session's configuration.
    ///   - interceptor: Adapts requests within the deadline, and decides about retries first. For example, an
    ///     `AuthenticationInterceptor`. The default is nil.
    ///   - eventMonitors: Receive the events of every request. The default is none.
    ///   - stages: Run before ``stage``. The default is none.
    ///   - transport: Sends the requests.
    ///   - connectivity: Reports whether a network is available. The default is nil.
    public func makeSession(
        configuration: SessionConfiguration = .default,
        interceptor: (any RequestInterceptor)? = nil,
        eventMonitors: [any EventMonitor] = [],
        stages: [any ExchangeStage] = [],
        transport: any Transport,
        connectivity: (any ConnectivityProvider)? = nil
    ) -> Session {
        let own = self.interceptor
        let interceptor = interceptor.map { Interceptor(adapters: [own, $0], retriers: [$0, own]) } ?? own
        return Session(
            configuration: configuration, interceptor: interceptor,
            eventMonitors: eventMonitors, stages: stages + [stage], transport: self.transport(around: transport),
            connectivity: connectivity)
    }

    /// The interceptor that sets the deadline, and retries within the budget. Use it as the first adapter and the last retrier of a
    /// session.
    public var interceptor: any RequestInterceptor {
        BudgetedRetrier(hosts.policies.retrier, hosts: hosts, deadline: hosts.policies.deadline)
    }

    /// The stage with the circuit breaker and the bulkhead. Use it as the last stage of a session.
    public var stage: any ExchangeStage { AdmissionStage(hosts: hosts) }

    /// Returns a transport that hedges the requests of another transport. Without hedging, returns the other transport itself.
    public func transport(around transport: any Transport) -> any Transport {
        guard let hedging = hosts.policies.hedging else { return transport }
        return switch transport {
        case let choice as FirstCapableTransport:
            FirstCapableTransport(choice.transports.map { self.transport(around: $0) })
        case let base as any CallbackTransport: HedgedCallbackTransport(base: base, hosts: hosts, hedging: hedging)
        default: HedgedTransport(base: transport, hosts: hosts, hedging: hedging)
        }
    }

    /// Returns an interceptor that retries as another retrier decides, within the same budget as ``interceptor``. If the retrier is also an
    /// adapter, it adapts requests.
    ///
    /// ```swift
    /// session.request(url, interceptor: resilience.budgeting(.connectionLostRetryPolicy))
    /// ```
    public func budgeting(_ retrier: any RequestRetrier) -> any RequestInterceptor {
        BudgetedRetrier(retrier, hosts: hosts)
    }

    // MARK: Circuits

    /// Opens the circuit of a host until ``resetCircuit(of:)`` is called.
    ///
    /// - Parameter key: A URL of the host, such as `https://example.com`, or the name of a group if ``Resilience`` was created with `key:`.
    public func forceCircuitOpen(of key: String) { hosts.setCircuit(of: key, to: .forcedOpen) }

    /// Closes the circuit of a host, and keeps it closed until ``resetCircuit(of:)`` is called.
    public func forceCircuitClosed(of key: String) { hosts.setCircuit(of: key, to: .forcedClosed) }

    /// Closes the circuit of a host and forgets its calls. After that, the circuit opens according to its rules.
    public func resetCircuit(of key: String) { hosts.setCircuit(of: key, to: nil) }

    // MARK: Observation

    /// Adds an observer of all hosts.
    ///
    /// - Parameter observer: Called on a Dispatch queue, with one event at a time, in order. It is retained until this object and the
    ///   sessions that use this object are deallocated.
    public func observe(_ observer: @escaping @Sendable (ResilienceEvent) -> Void) { hosts.observe(observer) }

    /// The state of all hosts, sorted by their keys. It is as recent as the last request to each host.
    public var snapshot: [ResilienceSnapshot] {
        hosts.all.map { ResilienceSnapshot($0.key, $0.value) }.sorted { $0.key < $1.key }
    }
}

struct Policies: Sendable {
    let deadline: TimeInterval?
    let retrier: (any RequestRetrier)?
    let retryBudget: RetryBudget
    let circuitBreaker: CircuitBreaker?
    let bulkhead: Bulkhead?
    let hedging: Hedging?
    let hostLimit: Int
    let key: (@Sendable (URL) -> String)?
}

/// A change or a decision of a ``Resilience``.
public struct ResilienceEvent: Sendable, Hashable {
    /// The kind of an event.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The circuit was opened.
        case circuitOpened
        /// The circuit lets probes pass.
        case circuitHalfOpened
        /// The circuit was closed.
        case circuitClosed
        /// The circuit breaker rejected a request.
        case rejectedByCircuit
        /// The bulkhead rejected a request.
        case rejectedByBulkhead
        /// A request is retried.
        case retried
        /// A request isn't retried, because the budget is used up.
        case retryDenied
        /// A second request was sent.
        case hedged
        /// The response to a second request arrived first.
        case hedgeWon

        init(_ circuit: CircuitState) {
            switch circuit {
            case .closed, .forcedClosed: self = .circuitClosed
            case .open, .forcedOpen: self = .circuitOpened
            case .halfOpen: self = .circuitHalfOpened
            }
        }
    }

    /// The host, such as `https://example.com`.
    public let key: String
    /// The kind of the event.
    public let kind: Kind
}

/// The state of one host.
public struct ResilienceSnapshot: Sendable, Hashable, Codable {
    /// The host, such as `https://example.com`.
    public let key: String
    /// The state of the circuit.
    public let circuit: CircuitState
    /// The share of failed calls in the circuit breaker's window.
    public let failureRate: Double
    /// The share of slow calls in the circuit breaker's window.
    public let slowCallRate: Double
    /// The number of tokens for retries.
    public let retryTokens: Double
    /// The number of requests that the bulkhead has admitted and that haven't ended. Always 0 without a bulkhead.
    public let runningCount: Int
    /// The number of requests that wait for the bulkhead.
    public let waitingCount: Int
    /// The number of events so far.
    public let eventCounts: [ResilienceEvent.Kind: Int]

    init(_ key: String, _ host: Hosts.Host) {
        var host = host
        let now = host.lastUse.time
        let calls = host.circuit.counts(at: now)
        (self.key, circuit, failureRate, slowCallRate) = (
            key, host.circuit.state, calls.failureRate, calls.slowCallRate
        )
        retryTokens = host.retries.count(at: now)
        (runningCount, waitingCount) = (host.line.runningCount, host.line.waitingCount)
        eventCounts = host.counts
    }
}

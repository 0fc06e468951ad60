package import Foundation
import HTTPTypes

/// One request and its response within an exchange, as stages and transports handle it.
///
/// An exchange takes several hops when redirects are followed, challenges are answered, or failures are retried.
public final class Hop: @unchecked Sendable {
    // Sendable because the state changes only before a transport receives the hop.

    /// Work that can suspend, or that calls user code.
    package typealias Work = @Sendable () async -> Void

    /// The exchange, as modified by the previous stages. A transport sends ``exchangeToSend``.
    public let exchange: Exchange
    /// The reason why this hop follows another; nil for the first hop.
    public let reason: ResponseAction.Reason?
    /// The number of redirects before this hop.
    public let redirectCount: Int
    /// A Boolean value that indicates whether a redirect before this hop led to another origin.
    public let hasLeftOrigin: Bool
    /// The time that was left of the total timeout when the hop was sent, in seconds.
    @exclusivity(unchecked) package private(set) var totalTimeout: TimeInterval
    /// Receives the events of the exchange.
    @exclusivity(unchecked) package private(set) var observer: (any ExchangeObserver)?
    @exclusivity(unchecked) private var decide: (@Sendable (ResponseHead) -> HeadDecision)?
    @exclusivity(unchecked) private var runWork: (@Sendable (@escaping Work) -> Void)?
    private let deadline: ContinuousClock.Instant

    /// Creates the first hop. The total timeout starts now.
    package init(_ exchange: Exchange, hasLeftOrigin: Bool = false) {
        self.exchange = exchange
        (reason, redirectCount, self.hasLeftOrigin) = (nil, 0, hasLeftOrigin)
        totalTimeout = exchange.options.totalTimeout
        (observer, decide) = (exchange.observer, exchange.decide)
        deadline = .now + Duration(timeout: totalTimeout)
    }

    /// Creates a hop that follows `hop`, or that replaces `hop` after a stage has changed the request.
    package init(_ exchange: Exchange, after hop: Hop, because reason: ResponseAction.Reason?) {
        self.exchange = exchange
        self.reason = reason
        var isRedirect = false
        if case .redirect = reason { isRedirect = true }
        redirectCount = hop.redirectCount + (isRedirect ? 1 : 0)
        hasLeftOrigin = hop.hasLeftOrigin || isRedirect && Origin(exchange.request) != Origin(hop.exchange.request)
        (totalTimeout, deadline) = (hop.totalTimeout, hop.deadline)
        (observer, decide) = (exchange.observer, exchange.decide)
    }

    /// Creates a hop for a transport that wraps a ``CallbackTransport``. Pass the hop to that transport's
    /// ``CallbackTransport/prepare(_:)``.
    ///
    /// The new hop has the remaining part of the other hop's total timeout.
    ///
    /// - Parameters:
    ///   - exchange: The exchange to send, usually a changed copy of the other hop's ``exchangeToSend``. The new hop uses the exchange's
    ///     head decision and observer.
    ///   - hop: The hop that the wrapping transport has received.
    public init(_ exchange: Exchange, insteadOf hop: Hop) {
        self.exchange = exchange
        (reason, redirectCount, hasLeftOrigin) = (hop.reason, hop.redirectCount, hop.hasLeftOrigin)
        deadline = hop.deadline
        totalTimeout = max(.zero, ContinuousClock.now.duration(to: hop.deadline)) / .seconds(1)
        (observer, decide, runWork) = (exchange.observer, exchange.decide, hop.runWork)
    }

    /// Creates a hop that a transport sends instead of the hop that it has received.
    package init(_ exchange: Exchange, insteadOf hop: Hop, observer: (any ExchangeObserver)?) {
        self.exchange = exchange
        (reason, redirectCount, hasLeftOrigin) = (hop.reason, hop.redirectCount, hop.hasLeftOrigin)
        (totalTimeout, deadline) = (hop.totalTimeout, hop.deadline)
        (self.observer, decide, runWork) = (observer, hop.decide, hop.runWork)
    }

    package static let none = Hop(Exchange(request: HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)))

    /// Replaces the exchange's head decision and observer with those of the `HopDriver` that runs the stages.
    ///
    /// - Parameter run: Runs work in a task of the request.
    package func send(
        decidingBy decide: @escaping @Sendable (ResponseHead) -> HeadDecision,
        observedBy observer: (any ExchangeObserver)?, running run: @escaping @Sendable (@escaping Work) -> Void
    ) {
        (self.decide, self.observer, runWork) = (decide, observer, run)
    }

    /// Runs work for a transport in a task of the request. When the exchange ends, the task is canceled, and work that hasn't started never
    /// runs.
    package func run(_ work: @escaping Work) { runWork?(work) }

    /// Performs an exchange without a `HopDriver`, and runs the transport's work in child tasks of the caller.
    package func response(of exchange: any PreparedExchange) async throws -> TransportResponse {
        guard self.exchange.options.security?.evaluation != nil else { return try await exchange.response() }
        let (works, continuation) = AsyncStream.makeStream(of: Work.self)
        runWork = { continuation.yield($0) }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { group in for await work in works { group.addTask { await work() } } }
            }
            defer {
                continuation.finish()
                group.cancelAll()
            }
            return try await exchange.response()
        }
    }

    /// Sets the hop's total timeout to the time that is left. Returns whether any time is left.
    package func grantTimeLeft() -> Bool {
        totalTimeout = timeLeft / .seconds(1)
        return totalTimeout > 0
    }

    /// The remaining part of the total timeout, which all hops of the exchange share; zero if the timeout has passed.
    public var timeLeft: Duration { max(.zero, ContinuousClock.now.duration(to: deadline)) }

    /// The current date of the session's source of time.
    package var now: Date { exchange.options.timeSource.now }

    /// Decides what to do with a response whose head has arrived. Called by transports.
    package func headArrived(_ head: ResponseHead) -> HeadDecision { decide?(head) ?? .take() }

    /// The exchange for a transport to send, with the remaining part of the total timeout, and with the session's head decision and
    /// observer.
    public var exchangeToSend: Exchange {
        var exchange = exchange
        (exchange.decide, exchange.observer, exchange.options.totalTimeout) = (decide, observer, totalTimeout)
        return exchange
    }

    /// The error of a hop whose total timeout has passed.
    package var timeout: TransportError {
        let place = redirectCount == 0 ? "" : " after \(redirectCount) redirects"
        return failure(
            .timedOut, "the total timeout of \(exchange.options.totalTimeout.formatted()) s passed\(place)")
    }

    package var cancellation: TransportError { failure(.cancelled, "the exchange was cancelled") }

    package func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
        failure(Fault(code, message))
    }

    /// Creates an error for a hop that was not sent.
    package func failure(_ fault: Fault) -> TransportError { TransportError(fault, phase: .queued, url: exchange.url) }
}

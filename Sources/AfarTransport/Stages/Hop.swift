package import Foundation
import HTTPTypes

/// One request on its way to one response, as a stage and a transport see it. An exchange takes several when redirects are
/// followed, challenges answered, or failures made good. It is handed about in place of its exchange, which costs to copy.
public final class Hop: @unchecked Sendable {
    // Sendable because what changes does so only before a transport has the hop.

    /// The exchange, as the stages before have left it.
    public let exchange: Exchange
    /// Why it is sent in the stead of another; nil for the first one.
    public let reason: ResponseAction.Reason?
    /// How many redirects led here.
    public let redirectCount: Int
    /// Whether one of them led to another origin.
    public let hasLeftOrigin: Bool
    /// What is left for the hop of the total timeout, in seconds, when it is sent.
    @exclusivity(unchecked) package private(set) var totalTimeout: TimeInterval
    /// Who sees what happens.
    @exclusivity(unchecked) package private(set) var observer: (any ExchangeObserver)?
    @exclusivity(unchecked) private var decide: (@Sendable (ResponseHead) -> HeadDecision)?
    private let deadline: ContinuousClock.Instant

    /// The first hop. The time of its total timeout begins now.
    package init(_ exchange: consuming Exchange, hasLeftOrigin: Bool = false) {
        (reason, redirectCount, self.hasLeftOrigin) = (nil, 0, hasLeftOrigin)
        totalTimeout = exchange.options.totalTimeout
        (observer, decide) = (exchange.observer, exchange.decide)
        deadline = .now + Duration(timeout: totalTimeout)
        // Last, so that it is moved here.
        self.exchange = exchange
    }

    /// A hop that comes after another, or that a stage has made of it.
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

    /// Stands where there is no hop any more.
    package static let none = Hop(Exchange(request: HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)))

    /// Has the driver in the place of those who wait for the last response.
    package func send(
        decidingBy decide: @escaping @Sendable (ResponseHead) -> HeadDecision,
        observedBy observer: (any ExchangeObserver)?
    ) {
        (self.decide, self.observer) = (decide, observer)
    }

    /// Grants what is left of the total timeout. Returns whether anything is.
    package func grantTimeLeft() -> Bool {
        totalTimeout = timeLeft / .seconds(1)
        return totalTimeout > 0
    }

    /// What is left of the total timeout, which is for all hops of the exchange together; zero when it has passed.
    public var timeLeft: Duration { max(.zero, ContinuousClock.now.duration(to: deadline)) }

    /// For transports: what is to be done with a response whose head has come.
    package func headArrived(_ head: ResponseHead) -> HeadDecision { decide?(head) ?? .take() }

    /// The exchange for a transport that knows of no hops.
    package var exchangeToSend: Exchange {
        var exchange = exchange
        (exchange.decide, exchange.observer, exchange.options.totalTimeout) = (decide, observer, totalTimeout)
        return exchange
    }

    /// The error of a hop that comes too late.
    package var timeout: TransportError {
        let place = redirectCount == 0 ? "" : " after \(redirectCount) redirects"
        return failure(
            .timedOut, "the total timeout of \(exchange.options.totalTimeout.formatted()) s passed\(place)")
    }

    /// The error of a hop that nobody wants any more.
    package var cancellation: TransportError { failure(.cancelled, "the exchange was cancelled") }

    /// An error for a hop that was not sent.
    package func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
        TransportError(code, phase: .queued, url: exchange.url, message: message)
    }
}

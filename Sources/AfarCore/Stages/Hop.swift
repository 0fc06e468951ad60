import Foundation

/// One request on its way to one response, as a stage sees it. An exchange takes several when redirects are followed,
/// challenges answered, or failures made good.
package final class Hop: Sendable {
    package let exchange: Exchange
    /// Why it is sent in the stead of another; nil for the first one.
    package let reason: Disposition.Reason?
    /// How many redirects led here.
    package let redirectCount: Int
    /// Whether one of them led to another origin.
    package let hasLeftOrigin: Bool
    private let totalTimeout: TimeInterval
    private let deadline: ContinuousClock.Instant

    /// The first hop. The time of its total timeout begins now.
    init(_ exchange: Exchange) {
        self.exchange = exchange
        (reason, redirectCount, hasLeftOrigin) = (nil, 0, false)
        totalTimeout = exchange.options.totalTimeout
        deadline = .now + .seconds(max(0, min(totalTimeout, 1e9)))
    }

    /// A hop that comes after another, or that a stage has made of it.
    init(_ exchange: Exchange, after hop: Hop, because reason: Disposition.Reason?) {
        self.exchange = exchange
        self.reason = reason
        var isRedirect = false
        if case .redirect = reason { isRedirect = true }
        redirectCount = hop.redirectCount + (isRedirect ? 1 : 0)
        hasLeftOrigin = hop.hasLeftOrigin || isRedirect && Origin(exchange.request) != Origin(hop.exchange.request)
        (totalTimeout, deadline) = (hop.totalTimeout, hop.deadline)
    }

    /// What is left of the total timeout, which is for all hops of the exchange together; zero when it has passed.
    package var timeLeft: Duration { max(.zero, ContinuousClock.now.duration(to: deadline)) }

    /// The error of a hop that comes too late.
    var timeout: TransportError {
        let place = redirectCount == 0 ? "" : " after \(redirectCount) redirects"
        return failure(.timedOut, "the total timeout of \(totalTimeout.formatted()) s passed\(place)")
    }

    /// An error for a hop that was not sent.
    func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
        TransportError(code, phase: .queued, url: exchange.url, message: message)
    }
}

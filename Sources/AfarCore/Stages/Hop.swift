/// One request on its way to one response, as a stage sees it. An exchange takes several when redirects are followed,
/// challenges answered, or failures made good.
package final class Hop: Sendable {
    package let exchange: Exchange
    /// The redirects that led here.
    package let redirects: [Redirect]
    /// Whether one of them led to another origin.
    package let hasLeftOrigin: Bool
    private let deadline: ContinuousClock.Instant

    /// The first hop. The time of its total timeout begins now.
    init(_ exchange: Exchange) {
        self.exchange = exchange
        redirects = []
        hasLeftOrigin = false
        deadline = .now + .seconds(max(0, min(exchange.options.totalTimeout, 1e9)))
    }

    /// A hop that comes after another, or that a stage has made of it.
    init(_ exchange: Exchange, after hop: Hop, by redirect: Redirect? = nil) {
        self.exchange = exchange
        redirects = redirect.map { hop.redirects + [$0] } ?? hop.redirects
        hasLeftOrigin =
            hop.hasLeftOrigin || redirect != nil && Origin(exchange.request) != Origin(hop.exchange.request)
        deadline = hop.deadline
    }

    /// What is left of the total timeout, which is for all hops of the exchange together; zero when it has passed.
    package var timeLeft: Duration { max(.zero, ContinuousClock.now.duration(to: deadline)) }
}

extension EventSource {
    /// When to connect again.
    ///
    /// After a connection that brought an event, the time to wait is what the server has asked for (`retry`), else
    /// ``delay``. After each one that brought none it is longer, up to ``maximumDelay``.
    public struct Reconnection: Sendable {
        /// How long to wait, until the server asks for another time. The default is 3 seconds.
        public var delay: Duration
        /// What the wait grows to while connections bring no events; the server may ask for more. The default is a minute.
        public var maximumDelay: Duration
        /// By what the wait grows with each connection in a row that brought no event. The default is 2.
        public var multiplier: Double
        /// The part of a grown wait, from 0 to 1, by which it is made longer at random, so that not all clients of a server
        /// come back at once. The default is 0.2.
        public var jitter: Double
        /// How many connections in a row may bring no event. What has ended the last one is thrown then; the loop ends
        /// without an error if there was none. The default, nil, is any number.
        public var maximumFailures: Int?

        /// Makes the rules.
        public init(
            delay: Duration = .seconds(3),
            maximumDelay: Duration = .seconds(60),
            multiplier: Double = 2,
            jitter: Double = 0.2,
            maximumFailures: Int? = nil
        ) {
            self.delay = delay
            self.maximumDelay = maximumDelay
            self.multiplier = multiplier
            self.jitter = jitter
            self.maximumFailures = maximumFailures
        }

        /// How long to wait.
        ///
        /// - Parameters:
        ///   - failures: How many connections in a row have brought no event.
        ///   - told: What the server has asked for.
        ///   - chance: From 0 to 1.
        func delay(after failures: Int, told: Duration?, chance: Double) -> Duration {
            let usual = Self.longest.limiting(told ?? delay)
            guard failures > 0 else { return usual }
            let growth = Swift.max(1, Swift.min(multiplier.powered(failures - 1), 1e6))
            let limit = Swift.max(Self.longest.limiting(maximumDelay), usual)
            let grown = Swift.min(Swift.max(usual, Self.shortestGrown) * growth, limit)
            return grown * (1 + Swift.min(Swift.max(0, jitter), 1) * chance)
        }

        /// A year: nobody waits longer, and it can be reckoned with.
        private static let longest = Duration.seconds(31_536_000)
        /// What grows when the time to wait is none, so that a server that says nothing is not asked without a pause.
        private static let shortestGrown = Duration.milliseconds(100)
    }
}

extension Duration {
    fileprivate func limiting(_ other: Duration) -> Duration { min(max(other, .zero), self) }
}

extension Double {
    fileprivate func powered(_ exponent: Int) -> Double {
        (0..<min(exponent, 64)).reduce(1) { power, _ in power * self }
    }
}

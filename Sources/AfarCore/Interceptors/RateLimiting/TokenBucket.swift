import Foundation

/// A token bucket: a pure value that limits how often something may be done.
struct TokenBucket {
    private let rate: Double
    private let capacity: Double
    private var tokens: Double
    private var time: TimeInterval
    /// Before this moment nothing is allowed.
    private var end: TimeInterval = 0

    /// Makes up for what is lost in sums of fractions.
    private static let wholeToken = 1 - 1e-9

    /// - Parameters:
    ///   - rate: How many a second.
    ///   - capacity: How many at once, after a time of rest.
    init(rate: Double, capacity: Double, at time: TimeInterval) {
        (self.rate, self.capacity, self.time) = (rate, capacity, time)
        tokens = capacity
    }

    /// Whether nothing was taken for so long that a new bucket would be the same.
    func isFull(at now: TimeInterval) -> Bool { now >= end && tokens + (now - time) * rate >= capacity }

    /// The seconds until a token can be taken; 0 if one can be taken now.
    mutating func delay(at now: TimeInterval) -> TimeInterval {
        guard now >= end else { return end - now }
        tokens = min(capacity, tokens + max(0, now - time) * rate)
        time = max(time, now)
        return tokens >= Self.wholeToken ? 0 : (1 - tokens) / rate
    }

    /// Takes a token. ``delay(at:)`` must be 0.
    mutating func take() { tokens -= 1 }

    /// Nothing is allowed for so many seconds, and from then on one after the other.
    mutating func pause(for duration: TimeInterval, at now: TimeInterval) {
        guard now + duration > end else { return }
        (end, time) = (now + duration, now + duration)
        tokens = min(tokens, 1)
    }
}

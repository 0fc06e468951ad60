import Foundation

/// Says when something may be done that is allowed so many times a second: a pure value.
struct TokenBucket {
    private let rate: Double
    private let capacity: Double
    /// Below 0 as long as some that were allowed for later have to wait.
    private var tokens: Double
    private var time: TimeInterval
    /// Before this moment nothing is allowed.
    private var end: TimeInterval = 0
    /// For how long, in seconds, pauses have held those up that waited already.
    private(set) var delay: TimeInterval = 0

    /// - Parameters:
    ///   - rate: How many a second.
    ///   - capacity: How many at once, after a time of rest.
    init(rate: Double, capacity: Double, at time: TimeInterval) {
        (self.rate, self.capacity, self.time) = (rate, capacity, time)
        tokens = capacity
    }

    /// Whether nothing was taken for so long that a new bucket would be the same.
    func isFull(at now: TimeInterval) -> Bool { now >= end && tokens + (now - time) * rate >= capacity }

    /// Takes a token. Returns how long to wait before it may be used, in seconds.
    mutating func take(at now: TimeInterval) -> TimeInterval {
        let moment = max(now, end)
        tokens = min(capacity, tokens + max(0, moment - time) * rate) - 1
        time = max(time, moment)
        return max(0, moment - now) + max(0, -tokens / rate)
    }

    /// Nothing is allowed for so many seconds, and from then on one after the other.
    mutating func pause(for duration: TimeInterval, at now: TimeInterval) {
        guard now + duration > end else { return }
        delay += now + duration - max(end, now)
        (end, time) = (now + duration, now + duration)
        tokens = min(tokens, 1)
    }
}

import AfarTransport

/// Decides which transfers can look up their host. Each lookup uses a thread of libcurl. A `LookupQueue` determines the order and
/// limits the number of lookups. The limiter performs no I/O.
///
/// A lookup can't be stopped. If its transfer ends first, the lookup is abandoned.
struct LookupLimiter<Waiter: AnyObject> {
    /// Identifies an admitted lookup.
    typealias Number = Int

    private var queue: LookupQueue<Number>
    private var waiters: [Number: Waiter] = [:]
    private var numbers: [ObjectIdentifier: Number] = [:]
    /// The start times of the admitted lookups that count toward the limit, in nanoseconds, earliest first.
    private var beginnings: [(number: Number, time: UInt64)] = []
    private var lastNumber = 0

    init(limit: Int) { queue = LookupQueue(limit: limit) }

    var isWaitedFor: Bool { !waiters.isEmpty }

    /// When to call ``stopCounting(at:)``, because a lookup has taken too long.
    var nextDeadline: UInt64 {
        guard isWaitedFor, let first = beginnings.first else { return .max }
        return MonotonicClock.deadline(after: LookupQueue<Number>.patience / .seconds(1), from: first.time)
    }

    /// Admits a lookup if there is room and no other waiter is ahead of it. Otherwise, adds the waiter. Returns the number of an admitted
    /// lookup.
    mutating func enter(_ waiter: Waiter, host: String, at now: UInt64) -> Number? {
        let isAhead = !isWaitedFor
        lastNumber += 1
        queue.append(lastNumber, name: host)
        (waiters[lastNumber], numbers[ObjectIdentifier(waiter)]) = (waiter, lastNumber)
        return isAhead ? admit(at: now)?.number : nil
    }

    /// Removes and returns the next waiter that can look up its host.
    mutating func admit(at now: UInt64) -> (waiter: Waiter, number: Number)? {
        guard isWaitedFor, let number = queue.takeNext(), let waiter = waiters.removeValue(forKey: number) else {
            return nil
        }
        numbers[ObjectIdentifier(waiter)] = nil
        beginnings.append((number, now))
        return (waiter, number)
    }

    /// Removes a waiter that was not admitted.
    mutating func withdraw(_ waiter: Waiter) {
        guard let number = numbers.removeValue(forKey: ObjectIdentifier(waiter)) else { return }
        waiters[number] = nil
        _ = queue.remove(number)
    }

    /// Records the end of an admitted lookup.
    mutating func release(_ number: Number) {
        queue.end(number)
        beginnings.removeAll { $0.number == number }
    }

    /// Records that the transfer of an admitted lookup has ended, but the lookup continues until ``release(_:)`` is called.
    mutating func abandon(_ number: Number) {
        queue.stopCounting(number)
        beginnings.removeAll { $0.number == number }
    }

    /// Stops counting lookups that have taken too long.
    mutating func stopCounting(at now: UInt64) {
        while nextDeadline <= now, let first = beginnings.first { abandon(first.number) }
    }
}

import AfarTransport

/// Decides which transfers can look up their host, in order of arrival. The number of concurrent lookups is limited, because each
/// lookup takes a thread of libcurl. The limiter performs no I/O.
///
/// A lookup can't be stopped. If its transfer ends first, the lookup is abandoned, and another one can start in its place. The
/// number of abandoned lookups is limited too, so a DNS server that doesn't respond can't take all threads.
struct LookupLimiter<Waiter: AnyObject> {
    /// How many abandoned lookups can run for each regular one.
    private static var abandonedPerLookup: Int { 3 }

    private let limit: Int
    private var runningCount = 0
    /// The number of lookups that continue without a transfer.
    private(set) var abandonedCount = 0
    private var waiting = WaitingQueue<Waiter>()
    var isWaitedFor: Bool { waiting.count > 0 }

    init(limit: Int) { self.limit = max(1, min(limit, .max / Self.abandonedPerLookup)) }

    private var hasRoom: Bool { runningCount < limit && abandonedCount < limit * Self.abandonedPerLookup }

    /// Admits a lookup if there is room and no other waiter is ahead of it. Otherwise, adds the waiter. Returns whether the lookup
    /// was admitted.
    mutating func enter(_ waiter: Waiter) -> Bool {
        guard hasRoom, !isWaitedFor else {
            waiting.append(waiter)
            return false
        }
        runningCount += 1
        return true
    }

    /// Removes and returns the next waiter that can look up its host.
    mutating func admit() -> Waiter? {
        guard hasRoom, let waiter = waiting.takeFirst() else { return nil }
        runningCount += 1
        return waiter
    }

    /// Records the end of an admitted lookup. Call it once.
    mutating func release() { runningCount -= 1 }

    /// Removes a waiter that was not admitted.
    mutating func withdraw(_ waiter: Waiter) { _ = waiting.take { $0 === waiter } }

    /// Records that the transfer of an admitted lookup has ended, but the lookup continues. Call it once.
    mutating func abandon() {
        runningCount -= 1
        abandonedCount += 1
    }

    mutating func abandonedLookupEnded() { abandonedCount -= 1 }
}

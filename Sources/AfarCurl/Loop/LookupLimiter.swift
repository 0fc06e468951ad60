/// Decides which transfers can look up their host, in order of arrival. The number of concurrent lookups is limited, because each
/// lookup takes a thread of libcurl. The limiter performs no I/O.
///
/// A lookup can't be stopped. If its transfer ends first, the lookup is abandoned, and another one can start in its place. The
/// number of abandoned lookups is limited too, so a DNS server that doesn't respond can't take all threads.
struct LookupLimiter<Waiter: AnyObject> {
    typealias Slot = HostLimiter<Waiter>.Slot

    /// How many abandoned lookups can run for each regular one.
    private static var abandonedPerLookup: Int { 3 }

    /// All waiters use the same host, an empty name.
    private var limiter: HostLimiter<Waiter>
    private let abandonedLimit: Int
    /// The number of lookups that continue without a transfer.
    private(set) var abandonedCount = 0
    private var waitingCount = 0
    var isWaitedFor: Bool { waitingCount > 0 }

    init(limit: Int) {
        limiter = HostLimiter(limitPerHost: limit)
        abandonedLimit = max(1, min(limit, .max / Self.abandonedPerLookup)) * Self.abandonedPerLookup
    }

    /// Adds a waiter, and admits it if there is room and no other waiter is ahead of it.
    mutating func enter(_ waiter: Waiter) -> (slot: Slot, isAdmitted: Bool) {
        let isNext = !limiter.isReady
        let slot = limiter.enqueue(waiter, host: "")
        waitingCount += 1
        return (slot, isNext && admit() != nil)
    }

    /// Removes and returns the next waiter that can look up its host.
    mutating func admit() -> Waiter? {
        guard abandonedCount < abandonedLimit, let waiter = limiter.admit() else { return nil }
        waitingCount -= 1
        return waiter
    }

    /// Records the end of an admitted lookup. Call it once.
    mutating func release(_ slot: Slot) { limiter.release(slot) }

    /// Removes a waiter that was not admitted. Call it once.
    mutating func withdraw(_ slot: Slot) {
        limiter.withdraw(slot)
        waitingCount -= 1
    }

    /// Records that the transfer of an admitted lookup has ended, but the lookup continues. Call it once.
    mutating func abandon(_ slot: Slot) {
        limiter.release(slot)
        abandonedCount += 1
    }

    mutating func abandonedLookupEnded() { abandonedCount -= 1 }
}

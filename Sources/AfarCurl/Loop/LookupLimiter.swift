/// Decides which transfer may look up its host's name: so many at once, in the order of arrival, because each look-up takes
/// a thread of libcurl's. Pure: it does no I/O.
///
/// A look-up cannot be stopped. One whose transfer has gone is abandoned: it makes room for others, as nobody waits for it,
/// but only up to a limit, so that a resolver that hangs does not take all threads.
struct LookupLimiter<Waiter: AnyObject> {
    typealias Slot = HostLimiter<Waiter>.Slot

    /// Abandoned look-ups that may run for each one that may be waited for.
    private static var abandonedPerLookup: Int { 3 }

    /// Here all look-ups are of one host.
    private var limiter: HostLimiter<Waiter>
    private let abandonedLimit: Int
    /// Look-ups that run and that nobody waits for.
    private(set) var abandonedCount = 0
    private var waitingCount = 0
    /// Whether there are waiters.
    var isWaitedFor: Bool { waitingCount > 0 }

    init(limit: Int) {
        limiter = HostLimiter(limitPerHost: limit)
        abandonedLimit = max(1, min(limit, .max / Self.abandonedPerLookup)) * Self.abandonedPerLookup
    }

    /// Adds a waiter, and admits it if there is room and nobody waits already.
    mutating func enter(_ waiter: Waiter) -> (slot: Slot, isAdmitted: Bool) {
        let isNext = !limiter.isReady
        let slot = limiter.enqueue(waiter, host: "")
        waitingCount += 1
        return (slot, isNext && admit() != nil)
    }

    /// Takes the next waiter that may look up its host's name now.
    mutating func admit() -> Waiter? {
        guard abandonedCount < abandonedLimit, let waiter = limiter.admit() else { return nil }
        waitingCount -= 1
        return waiter
    }

    /// An admitted look-up is over. To be called once.
    mutating func release(_ slot: Slot) { limiter.release(slot) }

    /// Takes out a waiter that was not admitted. To be called once.
    mutating func withdraw(_ slot: Slot) {
        limiter.withdraw(slot)
        waitingCount -= 1
    }

    /// Nobody waits for an admitted look-up any more, which runs on. To be called once.
    mutating func abandon(_ slot: Slot) {
        limiter.release(slot)
        abandonedCount += 1
    }

    /// An abandoned look-up is over.
    mutating func abandonedEnded() { abandonedCount -= 1 }
}

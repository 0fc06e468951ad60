/// Decides which waiting transfers can start: a limited number at a time for each host, in order of arrival. It performs no I/O.
struct HostLimiter<Waiter: AnyObject> {
    /// The active transfers and the queue of one host.
    final class HostQueue {
        fileprivate let host: String
        fileprivate let limit: Int
        @exclusivity(unchecked) fileprivate var active = 0
        @exclusivity(unchecked) fileprivate var isListed = false
        @exclusivity(unchecked) fileprivate private(set) var waitingCount = 0
        /// Removed waiters are nil until the front of the array is removed.
        @exclusivity(unchecked) private var waiting: [Waiter?] = []
        @exclusivity(unchecked) private var firstWaiting = 0
        @exclusivity(unchecked) private var removedCount = 0

        fileprivate init(host: String, limit: Int) { (self.host, self.limit) = (host, limit) }

        fileprivate var isUsed: Bool { active > 0 || waitingCount > 0 }

        fileprivate func append(_ waiter: Waiter) -> Slot {
            waiting.append(waiter)
            waitingCount += 1
            return Slot(queue: self, number: removedCount + waiting.count - 1)
        }

        fileprivate func takeAll() -> [Waiter] {
            defer {
                waitingCount = 0
                removeEntries()
            }
            return waiting.compactMap(\.self)
        }

        fileprivate func takeFirst() -> Waiter? {
            while firstWaiting < waiting.count {
                let number = removedCount + firstWaiting
                firstWaiting += 1
                if let waiter = remove(number) {
                    trimFront()
                    return waiter
                }
            }
            return nil
        }

        fileprivate func remove(_ number: Int) -> Waiter? {
            let index = number - removedCount
            guard waiting.indices.contains(index), let waiter = waiting[index] else { return nil }
            waiting[index] = nil
            waitingCount -= 1
            if waitingCount == 0 { removeEntries() }
            return waiter
        }

        private func removeEntries() {
            removedCount += waiting.count
            waiting.removeAll(keepingCapacity: waiting.count < 1_000)
            firstWaiting = 0
        }

        private func trimFront() {
            guard firstWaiting > 64, firstWaiting * 2 > waiting.count else { return }
            waiting.removeFirst(firstWaiting)
            removedCount += firstWaiting
            firstWaiting = 0
        }
    }

    /// A position in a host's queue. After admission, it counts toward the host's limit.
    struct Slot {
        fileprivate let queue: HostQueue
        fileprivate let number: Int
    }

    private let limitPerHost: Int
    private var queues: [String: HostQueue] = [:]
    /// Queues that have a waiter and a free slot, in the order in which they became ready.
    private var ready: [HostQueue] = []

    init(limitPerHost: Int) { self.limitPerHost = max(1, limitPerHost) }

    /// The number of hosts with waiting or admitted transfers.
    var hostCount: Int { queues.values.count(where: \.isUsed) }

    /// Whether a waiter can start now.
    var isReady: Bool { !ready.isEmpty }

    /// Adds a waiter for a host (scheme, name and port).
    ///
    /// - Parameter limit: The maximum number of active transfers, if it differs from the default. Only the first waiter's value is
    ///   used.
    mutating func enqueue(_ waiter: Waiter, host: String, limit: Int? = nil) -> Slot {
        let queue: HostQueue
        if let known = queues[host] {
            queue = known
        } else {
            queue = HostQueue(host: host, limit: limit ?? limitPerHost)
            queues[host] = queue
        }
        let slot = queue.append(waiter)
        list(queue)
        return slot
    }

    /// Removes and returns the next waiter that can start.
    mutating func admit() -> Waiter? {
        guard !ready.isEmpty else { return nil }
        let queue = ready.removeFirst()
        queue.isListed = false
        guard let waiter = queue.takeFirst() else { return nil }
        queue.active += 1
        list(queue)
        return waiter
    }

    /// Records the end of an admitted transfer. Call this method once for each transfer.
    mutating func release(_ slot: Slot) {
        slot.queue.active -= 1
        list(slot.queue)
        discardIfUnused(slot.queue)
    }

    /// Removes and returns all waiters for a host, in order of arrival.
    mutating func withdrawAll(host: String) -> [Waiter] {
        guard let queue = queues[host], queue.waitingCount > 0 else { return [] }
        let waiters = queue.takeAll()
        ready.removeAll { $0 === queue }
        queue.isListed = false
        discardIfUnused(queue)
        return waiters
    }

    /// Removes a waiter that was not admitted.
    mutating func withdraw(_ slot: Slot) {
        let queue = slot.queue
        guard queue.remove(slot.number) != nil else { return }
        if queue.waitingCount == 0, queue.isListed {
            ready.removeAll { $0 === queue }
            queue.isListed = false
        }
        discardIfUnused(queue)
    }

    private mutating func list(_ queue: HostQueue) {
        guard !queue.isListed, queue.waitingCount > 0, queue.active < queue.limit else { return }
        queue.isListed = true
        ready.append(queue)
    }

    /// Removes an unused queue if there are many queues. A few are kept, because the next request often goes to the same host.
    private mutating func discardIfUnused(_ queue: HostQueue) {
        if !queue.isUsed, queues.count > 64, queues[queue.host] === queue { queues[queue.host] = nil }
    }
}

/// Decides which waiting transfer may start: so many at once to each host, in the order of arrival, and so many at once
/// that may be looking up a host's name, because each look-up takes a thread of libcurl's. Pure: it does no I/O.
struct HostGate<Waiter: AnyObject> {
    /// The connections and the queue of one host.
    final class Lane {
        fileprivate let host: String
        fileprivate let needsLookup: Bool
        fileprivate var active = 0
        fileprivate var isListed = false
        /// Places whose waiter has been taken are nil, so that it is not kept alive.
        fileprivate var waiting: [Waiter?] = []
        fileprivate var firstWaiting = 0

        fileprivate init(host: String, needsLookup: Bool) {
            self.host = host
            self.needsLookup = needsLookup
        }

        fileprivate var hasWaiting: Bool { firstWaiting < waiting.count }

        fileprivate func takeFirst() -> Waiter? {
            guard hasWaiting else { return nil }
            let waiter = waiting[firstWaiting]
            waiting[firstWaiting] = nil
            firstWaiting += 1
            if firstWaiting == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                firstWaiting = 0
            } else if firstWaiting > 64, firstWaiting * 2 > waiting.count {
                waiting.removeFirst(firstWaiting)
                firstWaiting = 0
            }
            return waiter
        }
    }

    private let limitPerHost: Int
    private let lookupLimit: Int
    private var lanes: [String: Lane] = [:]
    /// Lanes that have someone waiting and a free place, in the order in which they got both.
    private var ready: [Lane] = []
    private var lookups = 0

    init(limitPerHost: Int, lookupLimit: Int) {
        self.limitPerHost = max(1, limitPerHost)
        self.lookupLimit = max(1, lookupLimit)
    }

    /// Adds a waiter for a host (scheme, name and port).
    mutating func enqueue(_ waiter: Waiter, host: String, needsLookup: Bool) -> Lane {
        let lane: Lane
        if let known = lanes[host] {
            lane = known
        } else {
            lane = Lane(host: host, needsLookup: needsLookup)
            lanes[host] = lane
        }
        lane.waiting.append(waiter)
        list(lane)
        return lane
    }

    /// Takes the next waiter that may start now.
    mutating func admit() -> Waiter? {
        guard let index = ready.firstIndex(where: { !$0.needsLookup || lookups < lookupLimit }) else { return nil }
        let lane = ready.remove(at: index)
        lane.isListed = false
        let waiter = lane.takeFirst()
        lane.active += 1
        if lane.needsLookup { lookups += 1 }
        list(lane)
        return waiter
    }

    /// An admitted transfer has found its host, or will not look for it any more. To be called once.
    mutating func lookupEnded(_ lane: Lane) {
        if lane.needsLookup { lookups -= 1 }
    }

    /// An admitted transfer is over.
    mutating func release(_ lane: Lane) {
        lane.active -= 1
        list(lane)
        discardIfUnused(lane)
    }

    /// Takes out a waiter that was not admitted.
    mutating func withdraw(_ waiter: Waiter, from lane: Lane) {
        guard let index = lane.waiting[lane.firstWaiting...].firstIndex(where: { $0 === waiter }) else { return }
        lane.waiting.remove(at: index)
        if !lane.hasWaiting, lane.isListed {
            ready.removeAll { $0 === lane }
            lane.isListed = false
        }
        discardIfUnused(lane)
    }

    private mutating func list(_ lane: Lane) {
        guard !lane.isListed, lane.hasWaiting, lane.active < limitPerHost else { return }
        lane.isListed = true
        ready.append(lane)
    }

    private mutating func discardIfUnused(_ lane: Lane) {
        if lane.active == 0, !lane.hasWaiting { lanes[lane.host] = nil }
    }
}

/// Decides which waiting transfer may start: so many at once to each host, in the order of arrival. Pure: it does no I/O.
struct HostGate<Waiter: AnyObject> {
    /// The connections and the queue of one host.
    final class Lane {
        fileprivate let host: String
        @exclusivity(unchecked) fileprivate var active = 0
        @exclusivity(unchecked) fileprivate var isListed = false
        @exclusivity(unchecked) fileprivate private(set) var waitingCount = 0
        /// Places of those who have gone are nil, until the front of the queue is cut off.
        @exclusivity(unchecked) private var waiting: [Waiter?] = []
        @exclusivity(unchecked) private var firstWaiting = 0
        @exclusivity(unchecked) private var cutOff = 0

        fileprivate init(host: String) { self.host = host }

        fileprivate func append(_ waiter: Waiter) -> Place {
            waiting.append(waiter)
            waitingCount += 1
            return Place(lane: self, number: cutOff + waiting.count - 1)
        }

        fileprivate func takeFirst() -> Waiter? {
            while firstWaiting < waiting.count {
                let number = cutOff + firstWaiting
                firstWaiting += 1
                if let waiter = remove(number) {
                    cutOffTheFront()
                    return waiter
                }
            }
            return nil
        }

        fileprivate func remove(_ number: Int) -> Waiter? {
            let index = number - cutOff
            guard waiting.indices.contains(index), let waiter = waiting[index] else { return nil }
            waiting[index] = nil
            waitingCount -= 1
            if waitingCount == 0 { cutOffAll() }
            return waiter
        }

        private func cutOffAll() {
            cutOff += waiting.count
            waiting.removeAll(keepingCapacity: waiting.count < 1_000)
            firstWaiting = 0
        }

        private func cutOffTheFront() {
            guard firstWaiting > 64, firstWaiting * 2 > waiting.count else { return }
            waiting.removeFirst(firstWaiting)
            cutOff += firstWaiting
            firstWaiting = 0
        }
    }

    /// A place in a host's queue; after admission, a place among its connections.
    struct Place {
        fileprivate let lane: Lane
        fileprivate let number: Int
    }

    private let limitPerHost: Int
    private var lanes: [String: Lane] = [:]
    /// Lanes that have someone waiting and a free place, in the order in which they got both.
    private var ready: [Lane] = []

    init(limitPerHost: Int) { self.limitPerHost = max(1, limitPerHost) }

    /// How many hosts have someone waiting or admitted.
    var hostCount: Int { lanes.count }

    /// Whether somebody may start now.
    var isReady: Bool { !ready.isEmpty }

    /// Adds a waiter for a host (scheme, name and port).
    mutating func enqueue(_ waiter: Waiter, host: String) -> Place {
        let lane: Lane
        if let known = lanes[host] {
            lane = known
        } else {
            lane = Lane(host: host)
            lanes[host] = lane
        }
        let place = lane.append(waiter)
        list(lane)
        return place
    }

    /// Takes the next waiter that may start now.
    mutating func admit() -> Waiter? {
        guard !ready.isEmpty else { return nil }
        let lane = ready.removeFirst()
        lane.isListed = false
        guard let waiter = lane.takeFirst() else { return nil }
        lane.active += 1
        list(lane)
        return waiter
    }

    /// An admitted transfer is over. To be called once.
    mutating func release(_ place: Place) {
        place.lane.active -= 1
        list(place.lane)
        discardIfUnused(place.lane)
    }

    /// Takes out a waiter that was not admitted.
    mutating func withdraw(_ place: Place) {
        let lane = place.lane
        guard lane.remove(place.number) != nil else { return }
        if lane.waitingCount == 0, lane.isListed {
            ready.removeAll { $0 === lane }
            lane.isListed = false
        }
        discardIfUnused(lane)
    }

    private mutating func list(_ lane: Lane) {
        guard !lane.isListed, lane.waitingCount > 0, lane.active < limitPerHost else { return }
        lane.isListed = true
        ready.append(lane)
    }

    private mutating func discardIfUnused(_ lane: Lane) {
        if lane.active == 0, lane.waitingCount == 0, lanes[lane.host] === lane { lanes[lane.host] = nil }
    }
}

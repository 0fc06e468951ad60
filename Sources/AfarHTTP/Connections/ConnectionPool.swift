/// Decides which request uses which connection, and when connections are opened and closed. It does no I/O and reads no clock.
///
/// A request isn't tied to the connection that is opened for it: it takes the first one that becomes available. The most recently
/// used connection comes first, so that the others can be closed.
final class ConnectionPool<Key: Hashable, Connection: AnyObject, Waiter: AnyObject> {
    /// What happens next with a request.
    enum Assignment {
        case use(Connection)
        /// A connection must be opened.
        case open
        /// All connections to the host are in use.
        case wait
    }

    private struct Idle {
        let connection: Connection
        let deadline: UInt64
        /// Orders the idle connections of all hosts by the time of their last use.
        let number: UInt64
    }

    private struct Queued {
        let waiter: Waiter
        /// Whether the waiter must not use a connection that was used before.
        let needsFresh: Bool
    }

    /// The waiters of one key, in order. Removing the first one takes constant time.
    private struct Queue {
        /// Places at the front that are nil were taken.
        private var places: [Queued?] = []
        private var start = 0

        var count: Int { places.count - start }

        /// The waiter at a position; nil if there are fewer.
        subscript(position: Int) -> Waiter? {
            (0..<count).contains(position) ? places[start + position]?.waiter : nil
        }

        mutating func append(_ queued: Queued) { places.append(queued) }

        mutating func prepend(_ queued: Queued) { places.insert(queued, at: start) }

        /// Takes the first waiter that fulfills a condition.
        mutating func take(where isSuitable: (Queued) -> Bool) -> Waiter? {
            guard let index = places[start...].firstIndex(where: { $0.map(isSuitable) ?? false }) else { return nil }
            let waiter = places[index]?.waiter
            guard index == start else {
                places.remove(at: index)
                return waiter
            }
            places[index] = nil
            start += 1
            // Half of the places are left over, so that each waiter is moved once on average.
            if start * 2 >= places.count {
                places.removeFirst(start)
                start = 0
            }
            return waiter
        }
    }

    /// The connections and the waiters of one key.
    private final class Host {
        /// The most recently used connection is the last.
        @exclusivity(unchecked) var idle: [Idle] = []
        @exclusivity(unchecked) var inUse = 0
        @exclusivity(unchecked) var opening = 0
        /// Those that need a new connection come first.
        @exclusivity(unchecked) var waiting = Queue()

        var isUnused: Bool { idle.isEmpty && inUse == 0 && opening == 0 && waiting.count == 0 }
    }

    private let limitPerHost: Int
    private let idleLimit: Int
    @exclusivity(unchecked) private var hosts: [Key: Host] = [:]
    @exclusivity(unchecked) private var idleCount = 0
    @exclusivity(unchecked) private var useCount: UInt64 = 0
    /// When the next idle connection must be closed; never later than that.
    @exclusivity(unchecked) private(set) var nextDeadline = UInt64.max

    init(limitPerHost: Int, idleLimit: Int) {
        (self.limitPerHost, self.idleLimit) = (max(1, limitPerHost), max(0, idleLimit))
    }

    private func makeHost(_ key: Key) -> Host {
        if let host = hosts[key] { return host }
        let host = Host()
        hosts[key] = host
        return host
    }

    // MARK: Requests

    /// A request needs a connection. Unless one is assigned, it waits.
    func request(_ waiter: Waiter, key: Key, needsFresh: Bool = false) -> Assignment {
        let host = makeHost(key)
        if !needsFresh, let idle = host.idle.popLast() {
            idleCount -= 1
            host.inUse += 1
            return .use(idle.connection)
        }
        let queued = Queued(waiter: waiter, needsFresh: needsFresh)
        if needsFresh { host.waiting.prepend(queued) } else { host.waiting.append(queued) }
        return open(host) ? .open : .wait
    }

    private func hasRoom(_ host: Host) -> Bool { host.idle.count + host.inUse + host.opening < limitPerHost }

    /// Returns whether another connection can be opened, and counts it.
    private func open(_ host: Host) -> Bool {
        guard host.opening < host.waiting.count, hasRoom(host) else {
            return false
        }
        host.opening += 1
        return true
    }

    /// A waiter gives up.
    ///
    /// - Returns: Whether one connection more is being opened than is needed.
    func withdraw(_ waiter: Waiter, key: Key) -> Bool {
        guard let host = hosts[key], host.waiting.take(where: { $0.waiter === waiter }) != nil else { return false }
        defer { discardIfUnused(key, host) }
        return host.opening > host.waiting.count
    }

    /// The last waiter for which a connection is being opened, if any. The connect timers of this one and of those before
    /// it run.
    func lastConnecting(to key: Key) -> Waiter? {
        hosts[key].flatMap { host in host.waiting[min(host.opening, host.waiting.count) - 1] }
    }

    /// Whether there are waiters for whom no connection is being opened.
    func hasUnservedWaiters(_ key: Key) -> Bool { hosts[key].map { $0.opening < $0.waiting.count } ?? false }

    /// Returns whether another connection to a host can be opened, and counts it. Call it when a slot has become free.
    func openNext(_ key: Key) -> Bool { hosts[key].map { open($0) } ?? false }

    // MARK: Connections

    /// An opened connection is available, or one in use becomes available again.
    ///
    /// - Returns: The waiter that uses it now; nil if it is idle.
    func available(
        _ connection: Connection, key: Key, isFresh: Bool, idleUntil deadline: UInt64
    ) -> Waiter? {
        let host = makeHost(key)
        if isFresh { host.opening -= 1 } else { host.inUse -= 1 }
        if let waiter = host.waiting.take(where: { isFresh || !$0.needsFresh }) {
            host.inUse += 1
            return waiter
        }
        useCount += 1
        host.idle.append(Idle(connection: connection, deadline: deadline, number: useCount))
        idleCount += 1
        nextDeadline = min(nextDeadline, deadline)
        return nil
    }

    /// A connection could not be opened.
    ///
    /// - Parameter waiter: The waiter that fails with it, if it still waits; nil for the first one.
    /// - Returns: The waiter that fails with it, if any.
    func openingFailed(_ key: Key, failing waiter: Waiter? = nil) -> Waiter? {
        guard let host = hosts[key] else { return nil }
        host.opening -= 1
        defer { discardIfUnused(key, host) }
        return host.waiting.take { waiter == nil || $0.waiter === waiter }
    }

    func firstWaiter(_ key: Key) -> Waiter? { hosts[key].flatMap { $0.waiting[0] } }

    /// An attempt to open a connection was canceled, because no request needs it.
    func openingWasCancelled(_ key: Key) {
        guard let host = hosts[key] else { return }
        host.opening -= 1
        discardIfUnused(key, host)
    }

    /// A connection in use counts again.
    ///
    /// - Returns: Whether there was room.
    func countAgain(_ key: Key) -> Bool {
        guard let host = hosts[key], hasRoom(host) else { return false }
        host.inUse += 1
        return true
    }

    /// A connection in use was closed, or no longer counts.
    func closed(_ key: Key) {
        guard let host = hosts[key] else { return }
        host.inUse -= 1
        discardIfUnused(key, host)
    }

    /// An idle connection was closed by the server.
    func idleConnectionClosed(_ connection: Connection, key: Key) {
        guard let host = hosts[key], let index = host.idle.firstIndex(where: { $0.connection === connection }) else {
            return
        }
        host.idle.remove(at: index)
        idleCount -= 1
        discardIfUnused(key, host)
    }

    // MARK: Idle connections

    /// Takes the idle connections whose time is up.
    func takeExpired(at now: UInt64) -> [Connection] {
        guard nextDeadline <= now else { return [] }
        return takeIdle { $0.deadline <= now }
    }

    /// Takes the least recently used connections beyond the limit.
    func takeSurplus() -> [Connection] {
        guard idleCount > idleLimit else { return [] }
        let numbers = hosts.values.flatMap { $0.idle.map(\.number) }.sorted()
        let newest = numbers[idleCount - idleLimit - 1]
        return takeIdle { $0.number <= newest }
    }

    /// Takes the idle connection whose last use was the earliest.
    func takeOldest() -> Connection? {
        guard let oldest = hosts.values.compactMap(\.idle.first?.number).min() else { return nil }
        return takeIdle { $0.number == oldest }.first
    }

    /// Takes an idle connection to a host that has no room for another one.
    func makeRoom(_ key: Key) -> Connection? {
        guard let host = hosts[key], let oldest = host.idle.first, host.opening < host.waiting.count else { return nil }
        return takeIdle { $0.number == oldest.number }.first
    }

    func takeAllIdle() -> [Connection] { takeIdle { _ in true } }

    private func takeIdle(where mustClose: (Idle) -> Bool) -> [Connection] {
        var taken: [Connection] = []
        nextDeadline = .max
        for (key, host) in hosts where !host.idle.isEmpty {
            taken += host.idle.filter(mustClose).map(\.connection)
            host.idle.removeAll(where: mustClose)
            for idle in host.idle { nextDeadline = min(nextDeadline, idle.deadline) }
            discardIfUnused(key, host)
        }
        idleCount -= taken.count
        return taken
    }

    /// Some are kept: the next request often goes to the same host.
    private func discardIfUnused(_ key: Key, _ host: Host) {
        if hosts.count > 64, host.isUnused { hosts[key] = nil }
    }

    // MARK: Statistics

    var counts: [(key: Key, idle: Int, inUse: Int, waiting: Int)] {
        hosts.filter { !$0.value.isUnused }.map { key, host in
            (key, host.idle.count, host.inUse + host.opening, max(0, host.waiting.count - host.opening))
        }
    }
}

import AfarTransport

/// Assigns connections to requests, and decides when connections are opened and closed. It performs no I/O and reads no clock.
///
/// The most recently used connection is reused first, so the other connections can time out.
final class ConnectionPool<Key: Hashable, Connection: AnyObject, Waiter: AnyObject> {
    /// The result of requesting a connection.
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
        /// Whether the server closes the connection after the deadline.
        let isEndedByServer: Bool
        /// Orders the idle connections of all hosts by their last use.
        let number: UInt64
    }

    private struct Queued {
        let waiter: Waiter
        /// Whether the waiter requires a connection that has never been used.
        let needsFresh: Bool
    }

    /// The connections and the waiters of one key.
    private final class Host {
        /// The idle connections, by last use. The most recently used one is the last.
        @exclusivity(unchecked) var idle: [Idle] = []
        @exclusivity(unchecked) var inUse = 0
        @exclusivity(unchecked) var opening = 0
        /// The maximum number of connections.
        @exclusivity(unchecked) var limit: Int
        /// The waiters. Those whose requests are sent again come first.
        @exclusivity(unchecked) var waiting = WaitingQueue<Queued>()

        init(limit: Int) { self.limit = limit }

        var isUnused: Bool { idle.isEmpty && inUse == 0 && opening == 0 && waiting.count == 0 }
    }

    private let limitPerHost: Int
    private let idleLimit: Int
    /// For each host, the number of idle connections that don't expire. Connections that the server will close aren't included.
    private let minimumPerHost: Int
    @exclusivity(unchecked) private var hosts: [Key: Host] = [:]
    @exclusivity(unchecked) private var idleCount = 0
    @exclusivity(unchecked) private var useCount: UInt64 = 0
    /// When to call ``takeExpired(at:)``. It can be earlier than necessary.
    @exclusivity(unchecked) private(set) var nextDeadline = UInt64.max

    init(limitPerHost: Int, idleLimit: Int, minimumPerHost: Int = 0) {
        (self.limitPerHost, self.idleLimit) = (max(1, limitPerHost), max(0, idleLimit))
        self.minimumPerHost = max(0, minimumPerHost)
    }

    private func makeHost(_ key: Key) -> Host {
        if let host = hosts[key] { return host }
        let host = Host(limit: limitPerHost)
        hosts[key] = host
        return host
    }

    // MARK: Requests

    /// Assigns a connection to a request. If none is available, the request waits.
    ///
    /// - Parameters:
    ///   - isFirst: Whether the request precedes other waiting requests. This is true if the request is sent again.
    ///   - needsFresh: Whether the request requires a connection that has never been used.
    ///   - isShared: Whether a connection can carry several requests. If so, only one connection is opened.
    func request(
        _ waiter: Waiter, key: Key, isFirst: Bool = false, needsFresh: Bool = false,
        isShared: @autoclosure () -> Bool = false
    ) -> Assignment {
        let host = makeHost(key)
        if !needsFresh, let idle = host.idle.popLast() {
            idleCount -= 1
            host.inUse += 1
            return .use(idle.connection)
        }
        host.limit = isShared() ? 1 : limitPerHost
        let queued = Queued(waiter: waiter, needsFresh: needsFresh)
        if isFirst { host.waiting.prepend(queued) } else { host.waiting.append(queued) }
        return open(host) ? .open : .wait
    }

    /// Whether a host has at least `count` connections, or as many as the limit permits. Connections that are being opened count.
    func hasConnections(_ count: Int, to key: Key) -> Bool {
        guard let host = hosts[key] else { return count <= 0 }
        return host.idle.count + host.inUse + host.opening >= min(count, limitPerHost)
    }

    private func hasRoom(_ host: Host) -> Bool { host.idle.count + host.inUse + host.opening < host.limit }

    /// Counts another connection as being opened, if a waiter needs it and the limit permits it. Returns whether it was
    /// counted.
    private func open(_ host: Host) -> Bool {
        guard host.opening < host.waiting.count, hasRoom(host) else { return false }
        host.opening += 1
        return true
    }

    /// Removes a waiter.
    ///
    /// - Returns: Whether more connections are being opened than are needed.
    func withdraw(_ waiter: Waiter, key: Key) -> Bool {
        guard let host = hosts[key], host.waiting.take(where: { $0.waiter === waiter }) != nil else { return false }
        defer { discardIfUnused(key, host) }
        return host.opening > host.waiting.count
    }

    /// Returns the last waiter for which a connection is being opened, if any. The connect timers of this waiter and all
    /// earlier ones are running.
    func lastConnecting(to key: Key) -> Waiter? {
        hosts[key].flatMap { host in host.waiting[min(host.opening, host.waiting.count) - 1]?.waiter }
    }

    /// Whether there are waiters for which no connection is being opened.
    func hasUnservedWaiters(_ key: Key) -> Bool { hosts[key].map { $0.opening < $0.waiting.count } ?? false }

    /// The waiters for which no connection is being opened.
    func unservedWaiters(_ key: Key) -> [Waiter] {
        guard let host = hosts[key], host.opening < host.waiting.count else { return [] }
        return (host.opening..<host.waiting.count).compactMap { host.waiting[$0]?.waiter }
    }

    /// Counts another connection to a host as being opened, if a waiter needs it and the limit permits it. Returns whether it
    /// was counted. Call this method when a slot becomes free.
    func openNext(_ key: Key) -> Bool { hosts[key].map { open($0) } ?? false }

    // MARK: Connections

    /// Makes a connection available after it has been opened or its exchange has ended.
    ///
    /// - Parameter isEndedByServer: Whether the server closes the connection after the deadline. If so, the pool can't keep it longer.
    /// - Returns: The waiter that uses the connection now; nil if the connection is idle.
    func available(
        _ connection: Connection, key: Key, isFresh: Bool, idleUntil deadline: UInt64, isEndedByServer: Bool = false
    ) -> Waiter? {
        let host = makeHost(key)
        if isFresh { host.opening -= 1 } else { host.inUse -= 1 }
        if let queued = host.waiting.take(where: { isFresh || !$0.needsFresh }) {
            host.inUse += 1
            return queued.waiter
        }
        useCount += 1
        host.idle.append(
            Idle(connection: connection, deadline: deadline, isEndedByServer: isEndedByServer, number: useCount))
        idleCount += 1
        nextDeadline = min(nextDeadline, deadline)
        return nil
    }

    /// Permits the normal number of connections to a host, because they can't be shared.
    func stopSharing(_ key: Key) { hosts[key]?.limit = limitPerHost }

    /// Removes and returns the first waiter. Called when the waiter uses a shared connection or fails.
    func takeWaiter(_ key: Key) -> Waiter? { hosts[key]?.waiting.takeFirst()?.waiter }

    func isOpening(_ key: Key) -> Bool { hosts[key].map { $0.opening > 0 } ?? false }

    /// Records that a connection could not be opened.
    ///
    /// - Parameter waiter: The waiter to fail, if it is still waiting; nil for the first waiter.
    /// - Returns: The waiter that fails, if any.
    func openingFailed(_ key: Key, failing waiter: Waiter? = nil) -> Waiter? {
        guard let host = hosts[key] else { return nil }
        host.opening -= 1
        defer { discardIfUnused(key, host) }
        return host.waiting.take { waiter == nil || $0.waiter === waiter }?.waiter
    }

    /// The waiters for connections to a host, in order.
    func waiters(_ key: Key) -> [Waiter] {
        guard let host = hosts[key] else { return [] }
        return (0..<host.waiting.count).compactMap { host.waiting[$0]?.waiter }
    }

    func firstWaiter(_ key: Key) -> Waiter? { hosts[key]?.waiting[0]?.waiter }

    /// Records that an attempt to open a connection was canceled, because no request needs it.
    func openingWasCancelled(_ key: Key) {
        guard let host = hosts[key] else { return }
        host.opening -= 1
        discardIfUnused(key, host)
    }

    /// Resumes counting a connection that is in use.
    ///
    /// - Returns: Whether the limit permits it.
    func countAgain(_ key: Key) -> Bool {
        guard let host = hosts[key], hasRoom(host) else { return false }
        host.inUse += 1
        return true
    }

    /// Records that a connection in use was closed, or no longer counts toward the limit.
    func closed(_ key: Key) {
        guard let host = hosts[key] else { return }
        host.inUse -= 1
        discardIfUnused(key, host)
    }

    /// Records that the server has closed an idle connection.
    func idleConnectionClosed(_ connection: Connection, key: Key) {
        guard let host = hosts[key], let index = host.idle.firstIndex(where: { $0.connection === connection }) else {
            return
        }
        host.idle.remove(at: index)
        idleCount -= 1
        discardIfUnused(key, host)
    }

    // MARK: Idle connections

    /// Removes and returns the idle connections that have expired. Keeps the most recently used ones of each host, up to the minimum.
    func takeExpired(at now: UInt64) -> [Connection] {
        guard nextDeadline <= now else { return [] }
        return takeIdle(keepsMinimum: true) { $0.deadline <= now }
    }

    /// Removes and returns the least recently used idle connection, if the number of idle connections exceeds the limit.
    func takeSurplus() -> Connection? { idleCount > idleLimit ? takeOldest() : nil }

    /// Removes and returns the least recently used idle connection.
    func takeOldest() -> Connection? {
        guard let oldest = hosts.values.compactMap(\.idle.first?.number).min() else { return nil }
        return takeIdle { $0.number == oldest }.first
    }

    /// Removes and returns an idle connection to a host that has reached its limit.
    func makeRoom(_ key: Key) -> Connection? {
        guard let host = hosts[key], let oldest = host.idle.first, host.opening < host.waiting.count, !hasRoom(host)
        else {
            return nil
        }
        return takeIdle { $0.number == oldest.number }.first
    }

    func takeAllIdle() -> [Connection] { takeIdle { _ in true } }

    private func takeIdle(keepsMinimum: Bool = false, where mustClose: (Idle) -> Bool) -> [Connection] {
        var taken: [Connection] = []
        nextDeadline = .max
        for (key, host) in hosts where !host.idle.isEmpty {
            var (remaining, keptCount) = ([Idle](), 0)
            for idle in host.idle.reversed() {
                let isKept = keptCount < minimumPerHost && !idle.isEndedByServer
                if isKept { keptCount += 1 }
                guard !(isKept && keepsMinimum), mustClose(idle) else {
                    remaining.append(idle)
                    if !isKept { nextDeadline = min(nextDeadline, idle.deadline) }
                    continue
                }
                taken.append(idle.connection)
            }
            host.idle = remaining.reversed()
            discardIfUnused(key, host)
        }
        idleCount -= taken.count
        return taken
    }

    /// Removes an unused host if there are many hosts. If there are few hosts, unused ones are kept, because the next request
    /// often goes to the same host.
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

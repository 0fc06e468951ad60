import AfarTransport

/// Decides which waiting transfers can start: a limited number at a time for each host, in order of arrival. It performs no I/O.
struct HostLimiter<Waiter: AnyObject> {
    /// The active transfers and the waiters of one host.
    final class Host {
        fileprivate let name: String
        fileprivate let limit: Int
        @exclusivity(unchecked) fileprivate var active = 0
        /// Whether ``HostLimiter/ready`` contains the host.
        @exclusivity(unchecked) fileprivate var isListed = false
        @exclusivity(unchecked) fileprivate var waiting = WaitingQueue<Waiter>()

        fileprivate init(_ name: String, limit: Int) { (self.name, self.limit) = (name, limit) }

        fileprivate var canAdmit: Bool { active < limit && waiting.count > 0 }

        fileprivate var isUsed: Bool { active > 0 || waiting.count > 0 }
    }

    private let limitPerHost: Int
    private var hosts: [String: Host] = [:]
    /// Hosts that could admit a waiter when they were added. They take turns.
    private var ready: [Host] = []

    init(limitPerHost: Int) { self.limitPerHost = max(1, limitPerHost) }

    /// The number of hosts with waiting or admitted transfers.
    var hostCount: Int { hosts.values.count(where: \.isUsed) }

    /// Adds a waiter for a host (scheme, name and port).
    ///
    /// - Parameter limit: The maximum number of active transfers, if it differs from the default. Only the first waiter's value is
    ///   used.
    mutating func enqueue(_ waiter: Waiter, host name: String, limit: Int? = nil) -> Host {
        let host = hosts[name] ?? Host(name, limit: limit ?? limitPerHost)
        hosts[name] = host
        host.waiting.append(waiter)
        list(host)
        return host
    }

    /// Removes and returns the next waiter that can start.
    mutating func admit() -> Waiter? {
        while !ready.isEmpty {
            let host = ready.removeFirst()
            host.isListed = false
            guard host.canAdmit, let waiter = host.waiting.takeFirst() else { continue }
            host.active += 1
            list(host)
            return waiter
        }
        return nil
    }

    /// Records the end of an admitted transfer. Call this method once for each transfer.
    mutating func release(_ host: Host) {
        host.active -= 1
        list(host)
        discardIfUnused(host)
    }

    /// Removes a waiter that was not admitted.
    mutating func withdraw(_ waiter: Waiter, from host: Host) {
        if host.waiting.take(where: { $0 === waiter }) != nil { discardIfUnused(host) }
    }

    /// Removes and returns all waiters for a host, in order of arrival.
    mutating func withdrawAll(host name: String) -> [Waiter] {
        guard let host = hosts[name] else { return [] }
        defer { discardIfUnused(host) }
        return host.waiting.takeAll()
    }

    private mutating func list(_ host: Host) {
        guard !host.isListed, host.canAdmit else { return }
        host.isListed = true
        ready.append(host)
    }

    /// Removes an unused host if there are many hosts. If there are few hosts, unused ones are kept, because the next request
    /// often goes to the same host.
    private mutating func discardIfUnused(_ host: Host) {
        if hosts.count > 64, !host.isUsed, hosts[host.name] === host { hosts[host.name] = nil }
    }
}

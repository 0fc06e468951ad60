import AfarTransport

/// A loop's pools.
///
/// libcurl looks through all connections to a host for each request. So a host's are spread over several pools once they
/// are many: each has one of the groups that ``HostLimiter`` makes. Connections that were opened under a
/// ``ConnectionSecurity`` are in pools of their own, with TLS sessions of their own, since libcurl knows nothing of it.
struct CurlPools {
    /// The most connections to one host in a pool.
    static let groupSize = 256

    /// The pools that new requests under one security go to, by their groups.
    private struct Family {
        var pools: [CurlPool?] = []
        var share: CurlShare?

        subscript(group: Int) -> CurlPool? { pools.indices.contains(group) ? pools[group] : nil }

        mutating func insert(_ pool: CurlPool, ofGroup group: Int) {
            while pools.count <= group { pools.append(nil) }
            pools[group] = pool
        }

        mutating func remove(_ pool: CurlPool) {
            for group in pools.indices where pools[group] === pool { pools[group] = nil }
        }
    }

    private let poller: Poller
    private let configuration: CurlTransport.Configuration
    private let tls: TLSSettings
    /// By their numbers.
    private var numbered: [CurlPool?] = []
    /// Those for requests without a security of their own. Pools that are in no family were retired and still have
    /// transfers running.
    private var plain = Family()
    /// By the securities, which their pools retain.
    private var secured: [ObjectIdentifier: Family] = [:]
    private var hasRetired = false
    /// When connections may have been kept too long.
    private(set) var nextSweep = UInt64.max

    private static let second: UInt64 = 1_000_000_000

    init(poller: Poller, configuration: CurlTransport.Configuration, tls: TLSSettings) {
        self.poller = poller
        self.configuration = configuration
        self.tls = tls
    }

    var all: some Sequence<CurlPool> { numbered.lazy.compactMap(\.self) }

    private subscript(number: UInt32) -> CurlPool? {
        numbered.indices.contains(Int(number)) ? numbered[Int(number)] : nil
    }

    /// The pool of a group of connections, nil when memory ran out.
    mutating func pool(ofGroup group: Int, for security: ConnectionSecurity?) -> CurlPool? {
        if security == nil, let pool = plain[group] { return pool }
        var family = security.map { secured[ObjectIdentifier($0)] ?? Family() } ?? plain
        if let pool = family[group] { return pool }
        guard let share = family.share ?? CurlShare(), let pool = makePool(security, share) else { return nil }
        family.share = share
        family.insert(pool, ofGroup: group)
        if let security { secured[ObjectIdentifier(security)] = family } else { plain = family }
        return pool
    }

    private mutating func makePool(_ security: ConnectionSecurity?, _ share: CurlShare) -> CurlPool? {
        let number = numbered.firstIndex { $0 == nil } ?? numbered.count
        let pool = CurlPool(
            number: UInt32(number), share: share, security: security, poller: poller, configuration: configuration,
            tls: tls)
        guard let pool else { return nil }
        while numbered.count <= number { numbered.append(nil) }
        numbered[number] = pool
        return pool
    }

    /// New requests get new pools, which know no addresses of hosts any more.
    mutating func retire(running transfers: [Transfer], at now: UInt64) {
        for family in [plain] + secured.values {
            for case let pool? in family.pools { pool.retire(running: transfers.filter { $0.pool === pool }) }
        }
        (plain, secured) = (Family(), [:])
        nextSweep = now
        hasRetired = true
    }

    /// Closes the pools that were retired and whose transfers are over.
    mutating func closeRetired() {
        guard hasRetired else { return }
        removeAll { $0.isUnused && $0.isRetired }
        hasRetired = all.contains(where: \.isRetired)
    }

    mutating func closeAll() {
        removeAll { _ in true }
    }

    private mutating func removeAll(where isOver: (CurlPool) -> Bool) {
        for case let pool? in numbered where isOver(pool) {
            pool.shutDown()
            numbered[Int(pool.number)] = nil
            removeFromFamily(pool)
        }
        while case .some(nil) = numbered.last { numbered.removeLast() }
    }

    private mutating func removeFromFamily(_ pool: CurlPool) {
        guard let security = pool.security else { return plain.remove(pool) }
        let id = ObjectIdentifier(security)
        secured[id]?.remove(pool)
        // The last pool was what retained the security.
        if secured[id]?.pools.allSatisfy({ $0 == nil }) == true { secured[id] = nil }
    }

    // MARK: Idle connections

    /// Something has happened on a pool's socket.
    mutating func socketIsReady(_ socket: Int32, ofPool number: UInt32, bits: Int32, at now: UInt64) {
        guard let pool = self[number] else { return }
        pool.socketIsReady(socket, bits: bits)
        if pool.hasEnded { nextSweep = min(nextSweep, now + Self.second) }
    }

    /// From now on a connection is kept without a request.
    mutating func connectionFreed(at now: UInt64) {
        if nextSweep == .max { nextSweep = now + idleLimit }
    }

    /// A transfer is over, and may have been the only reason for its pool.
    mutating func transferEnded(in pool: CurlPool, at now: UInt64) {
        if pool.security != nil, pool.isUnused, pool.isEmpty { nextSweep = min(nextSweep, now + Self.second) }
    }

    /// libcurl counts whole seconds, and closes what has been kept for more.
    private var idleLimit: UInt64 { (UInt64(configuration.maximumIdleSeconds) + 1) * Self.second }

    /// Closes connections that were kept too long, and those that have ended; libcurl does so once a second at most.
    mutating func sweep(at now: UInt64) {
        guard nextSweep <= now else { return }
        nextSweep = .max
        for pool in all {
            let moment = pool.oldestIdle.map { $0 + idleLimit } ?? .max
            if pool.hasEnded || moment <= now {
                pool.sweep()
                nextSweep = min(nextSweep, now + Self.second)
            } else {
                nextSweep = min(nextSweep, moment)
            }
        }
        // The first keeps what it knows of certificates, which takes long to read.
        removeAll { [first = plain[0]] in $0.isUnused && $0.isEmpty && $0 !== first }
    }

    /// Ends idle connections that are too many, those of the last pools first. libcurl keeps to the limit in each pool by
    /// itself.
    mutating func endSurplus(at now: UInt64) {
        guard numbered.count > 1 else { return }
        var surplus = all.reduce(0) { $0 + $1.idleCount } - max(0, configuration.maximumIdleConnections)
        for case let pool? in numbered.reversed() where surplus > 0 && pool.idleCount > 0 {
            surplus -= pool.endIdle(surplus)
            nextSweep = min(nextSweep, now + Self.second)
        }
    }
}

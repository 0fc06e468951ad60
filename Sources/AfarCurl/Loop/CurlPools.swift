import AfarTransport

/// A loop's pools.
///
/// libcurl looks through all connections to a host for each request. So a host's are spread over several pools once they
/// are many: each has one of the groups that ``HostLimiter`` makes. Connections that libcurl would use for requests that they are
/// not for are in pools of their own: see ``Purpose``.
struct CurlPools {
    /// What some connections are for, and others are not, though libcurl does not tell them apart.
    struct Purpose: Hashable {
        /// Under what they are opened.
        var security: ObjectIdentifier?
        /// Where they leave from, and who they have shown a proxy.
        var route: ConnectionRoute.Identity?
        /// Whether they are of HTTP/1.1, to a host that speaks HTTP/2 as well.
        var isHTTP1Beside2 = false
    }

    /// The most connections to one host in a pool.
    static let groupSize = 256

    /// The pools that new requests for one purpose go to, by their groups.
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
    /// Those for most requests. Pools that are in no family were retired and still have transfers running.
    private var plain = Family()
    /// Those for requests with a purpose of their own. The pools retain the securities.
    private var special: [Purpose: Family] = [:]
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
    mutating func pool(
        ofGroup group: Int, for security: ConnectionSecurity?, over route: ConnectionRoute.Identity? = nil,
        isHTTP1Beside2: Bool = false
    ) -> CurlPool? {
        let isPlain = security == nil && route == nil && !isHTTP1Beside2
        if isPlain, let pool = plain[group] { return pool }
        let purpose = Purpose(
            security: security.map { ObjectIdentifier($0) }, route: route, isHTTP1Beside2: isHTTP1Beside2)
        var family = isPlain ? plain : special[purpose] ?? Family()
        if let pool = family[group] { return pool }
        guard let share = family.share ?? CurlShare(), let pool = makePool(purpose, security, share) else { return nil }
        family.share = share
        family.insert(pool, ofGroup: group)
        if isPlain { plain = family } else { special[purpose] = family }
        return pool
    }

    private mutating func makePool(
        _ purpose: Purpose, _ security: ConnectionSecurity?, _ share: CurlShare
    ) -> CurlPool? {
        let number = numbered.firstIndex { $0 == nil } ?? numbered.count
        let pool = CurlPool(
            number: UInt32(number), share: share, purpose: purpose, security: security, poller: poller,
            configuration: configuration,
            tls: tls)
        guard let pool else { return nil }
        while numbered.count <= number { numbered.append(nil) }
        numbered[number] = pool
        return pool
    }

    /// New requests get new pools, which know no addresses of hosts any more.
    mutating func retire(running transfers: [Transfer], at now: UInt64) {
        for family in [plain] + special.values {
            for case let pool? in family.pools { pool.retire(running: transfers.filter { $0.pool === pool }) }
        }
        (plain, special) = (Family(), [:])
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
        guard pool.purpose != Purpose() else { return plain.remove(pool) }
        special[pool.purpose]?.remove(pool)
        // The last pool was what retained the security.
        if special[pool.purpose]?.pools.allSatisfy({ $0 == nil }) == true { special[pool.purpose] = nil }
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

    /// A transfer has ended. Its pool, or its connection, may have no other use.
    mutating func transferEnded(in pool: CurlPool, at now: UInt64) {
        let isNeedless = pool.purpose != Purpose() && pool.isUnused && pool.isEmpty
        if isNeedless || pool.hasEnded { nextSweep = min(nextSweep, now + Self.second) }
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

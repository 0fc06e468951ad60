import AfarTransport

/// A loop's pools. Connections that libcurl would use for requests that they are not for are in pools of their own: see ``Purpose``.
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

    private let poller: Poller
    private let configuration: CurlTransport.Configuration
    private let tls: TLSSettings
    /// By their numbers. Those that are not current were retired and still have transfers running.
    private var numbered: [CurlPool?] = []
    /// The pools of new requests. They retain the securities.
    private var current: [Purpose: CurlPool] = [:]
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

    /// The pool of requests with a purpose, nil when memory ran out.
    mutating func pool(
        for security: ConnectionSecurity?, over route: ConnectionRoute.Identity? = nil, isHTTP1Beside2: Bool = false
    ) -> CurlPool? {
        let purpose = Purpose(
            security: security.map { ObjectIdentifier($0) }, route: route, isHTTP1Beside2: isHTTP1Beside2)
        if let pool = current[purpose] { return pool }
        guard let share = CurlShare() else { return nil }
        let number = numbered.firstIndex { $0 == nil } ?? numbered.count
        let pool = CurlPool(
            number: UInt32(number), share: share, purpose: purpose, security: security, poller: poller,
            configuration: configuration, tls: tls)
        guard let pool else { return nil }
        while numbered.count <= number { numbered.append(nil) }
        numbered[number] = pool
        current[purpose] = pool
        return pool
    }

    /// New requests get new pools, which know no addresses of hosts any more.
    mutating func retire(running transfers: [Transfer], at now: UInt64) {
        for pool in current.values { pool.retire(running: transfers.filter { $0.attempt.pool === pool }) }
        current = [:]
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
            if current[pool.purpose] === pool { current[pool.purpose] = nil }
        }
        while case .some(nil) = numbered.last { numbered.removeLast() }
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
        removeAll { [first = current[Purpose()]] in $0.isUnused && $0.isEmpty && $0 !== first }
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

import AfarTransport

/// A loop's pools.
///
/// libcurl looks through all connections to a host for each request. So a host's are spread over several pools once they
/// are many: each has one of the groups that ``HostLimiter`` makes.
struct CurlPools {
    /// The most connections to one host in a pool.
    static let groupSize = 256

    private let poller: Poller
    private let configuration: CurlTransport.Configuration
    /// By their numbers.
    private var numbered: [CurlPool?] = []
    /// Those that new requests go to, by their groups; the others were retired and still have transfers running.
    private var current: [CurlPool?] = []
    private var share: CurlShare?
    private var hasRetired = false
    /// When connections may have been kept too long.
    private(set) var nextSweep = UInt64.max

    private static let second: UInt64 = 1_000_000_000

    init(poller: Poller, configuration: CurlTransport.Configuration) {
        self.poller = poller
        self.configuration = configuration
    }

    var all: some Sequence<CurlPool> { numbered.lazy.compactMap(\.self) }

    private subscript(number: UInt32) -> CurlPool? {
        numbered.indices.contains(Int(number)) ? numbered[Int(number)] : nil
    }

    /// The pool of a group of connections, nil when memory ran out.
    mutating func pool(ofGroup group: Int) -> CurlPool? {
        if current.indices.contains(group), let pool = current[group] { return pool }
        if share == nil { share = CurlShare() }
        let number = numbered.firstIndex { $0 == nil } ?? numbered.count
        guard let share,
            let pool = CurlPool(
                number: UInt32(number), share: share, poller: poller, configuration: configuration)
        else { return nil }
        while numbered.count <= number { numbered.append(nil) }
        numbered[number] = pool
        while current.count <= group { current.append(nil) }
        current[group] = pool
        return pool
    }

    /// New requests get new pools, which know no addresses of hosts any more.
    mutating func retire(running transfers: [Transfer], at now: UInt64) {
        for case let pool? in current { pool.retire(running: transfers.filter { $0.pool === pool }) }
        current = []
        nextSweep = now
        share = nil
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
            for group in current.indices where current[group] === pool { current[group] = nil }
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
        removeAll { [first = current.first ?? nil] in $0.isUnused && $0.isEmpty && $0 !== first }
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

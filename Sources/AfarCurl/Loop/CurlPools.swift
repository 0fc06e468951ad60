import AfarTransport
import Foundation

/// The pools of a loop. Connections that libcurl would mistake for each other belong to separate pools: see ``Purpose``.
struct CurlPools {
    /// The properties by which Afar distinguishes connections that libcurl treats as equal.
    struct Purpose: Hashable {
        /// The security requirements for the connections.
        var security: ObjectIdentifier?
        /// The network settings, and the credential that a proxy has received.
        var route: ConnectionRoute.Identity?
        /// Permits or refuses addresses. The pool retains the policy, so another policy can't have the same identity.
        var policy: ConnectionGuard?
        /// Whether the connections use HTTP/1.1 although the host may support HTTP/2.
        var isSeparateHTTP1 = false
    }

    private let poller: Poller
    private let configuration: ConnectionConfiguration
    private let tls: TLSSettings
    /// The pools by number. Pools that aren't in ``current`` are retired and still have running transfers.
    private var numbered: [CurlPool?] = []
    /// The pools for new requests. The pools retain the security objects.
    private var current: [Purpose: CurlPool] = [:]
    private var hasRetired = false
    /// When the next sweep may be needed.
    private(set) var nextSweep = UInt64.max

    private static let second: UInt64 = 1_000_000_000

    init(poller: Poller, configuration: ConnectionConfiguration, tls: TLSSettings) {
        self.poller = poller
        self.configuration = configuration
        self.tls = tls
    }

    var all: some Sequence<CurlPool> { numbered.lazy.compactMap(\.self) }

    private subscript(number: UInt32) -> CurlPool? {
        numbered.indices.contains(Int(number)) ? numbered[Int(number)] : nil
    }

    /// Returns the pool for a request; nil if there is no memory left.
    mutating func pool(
        for security: ConnectionSecurity?, over route: ConnectionRoute.Identity? = nil,
        under policy: ConnectionGuard? = nil, isSeparateHTTP1: Bool = false
    ) -> CurlPool? {
        let purpose = Purpose(
            security: security.map { ObjectIdentifier($0) }, route: route, policy: policy,
            isSeparateHTTP1: isSeparateHTTP1)
        if let pool = current[purpose] { return pool }
        let number = numbered.firstIndex { $0 == nil } ?? numbered.count
        let pool = CurlPool(
            number: UInt32(number), purpose: purpose, security: security, poller: poller,
            configuration: configuration, tls: tls)
        guard let pool else { return nil }
        while numbered.count <= number { numbered.append(nil) }
        numbered[number] = pool
        current[purpose] = pool
        return pool
    }

    /// Retires all pools. New requests use new pools, which have no cached addresses or TLS sessions.
    mutating func retire(running transfers: [Transfer], at now: UInt64) {
        for pool in current.values { pool.retire(running: transfers.filter { $0.attempt.pool === pool }) }
        current = [:]
        nextSweep = now
        hasRetired = true
    }

    /// Closes the retired pools whose transfers have ended.
    mutating func closeRetired() {
        guard hasRetired else { return }
        removeAll { $0.isUnused && $0.isRetired }
        hasRetired = all.contains(where: \.isRetired)
    }

    mutating func closeAll() {
        removeAll { _ in true }
    }

    private mutating func removeAll(where shouldRemove: (CurlPool) -> Bool) {
        for case let pool? in numbered where shouldRemove(pool) {
            pool.shutDown()
            numbered[Int(pool.number)] = nil
            if current[pool.purpose] === pool { current[pool.purpose] = nil }
        }
        while case .some(nil) = numbered.last { numbered.removeLast() }
    }

    mutating func socketIsReady(_ socket: Int32, ofPool number: UInt32, bits: Int32, at now: UInt64) {
        guard let pool = self[number] else { return }
        pool.socketIsReady(socket, bits: bits)
        if pool.connections.endedCount > 0 { nextSweep = min(nextSweep, now + Self.second) }
    }

    /// Schedules a sweep for a connection that has become idle.
    mutating func connectionFreed(at now: UInt64) {
        if nextSweep == .max { nextSweep = now + idleLimit }
    }

    /// Schedules a sweep if a pool or one of its connections may have become unnecessary.
    mutating func transferEnded(in pool: CurlPool, at now: UInt64) {
        let isUnneeded = pool.purpose != Purpose() && pool.isUnused && pool.connections.isEmpty
        if isUnneeded || pool.connections.endedCount > 0 { nextSweep = min(nextSweep, now + Self.second) }
    }

    /// The idle time after which libcurl closes a connection. It includes an extra second, because libcurl counts whole seconds,
    /// and closes only connections that exceed the limit.
    private var idleLimit: UInt64 { (UInt64(configuration.maximumIdleSeconds) + 1) * Self.second }

    /// Closes connections that have ended or have been idle too long. libcurl closes them at most once a second.
    mutating func sweep(at now: UInt64) {
        guard nextSweep <= now else { return }
        nextSweep = .max
        for pool in all {
            let moment = pool.oldestIdle.map { $0 + idleLimit } ?? .max
            if pool.connections.endedCount > 0 || moment <= now {
                pool.sweep()
                nextSweep = min(nextSweep, now + Self.second)
            } else {
                nextSweep = min(nextSweep, moment)
            }
        }
        // Keep the first pool: it caches certificates, and reading them takes a long time.
        removeAll { [first = current[Purpose()]] in $0.isUnused && $0.connections.isEmpty && $0 !== first }
    }

    /// Ends idle connections beyond the limit, beginning with the last pool. libcurl enforces the limit within each pool.
    mutating func endSurplus(at now: UInt64) {
        guard numbered.count > 1 else { return }
        var surplus = all.reduce(0) { $0 + $1.connections.idleCount } - max(0, configuration.maximumIdleConnections)
        for case let pool? in numbered.reversed() where surplus > 0 && pool.connections.idleCount > 0 {
            surplus -= pool.endIdle(surplus)
            nextSweep = min(nextSweep, now + Self.second)
        }
    }
}

extension ConnectionConfiguration {
    /// The idle time in whole seconds, limited to what libcurl accepts.
    var maximumIdleSeconds: Int { maximumIdleTime > 0 ? Int(min(maximumIdleTime.rounded(.up), 1_000_000_000)) : 0 }
}

import AfarTransport
import Foundation

/// Opens, assigns, shares and closes connections.
extension HTTPEngine {
    // MARK: Assigning connections

    func requestConnection(for exchange: HTTPExchange, isFirst: Bool = false, needsFresh: Bool = false) {
        let preconnectionLimit = exchange.hop.exchange.options.preconnectionLimit
        if let preconnectionLimit,
            shared[exchange.key] != nil || pool.hasConnections(preconnectionLimit, to: exchange.key)
        {
            exchange.completePreconnection()
            return finish(exchange)
        }
        let needsFresh = needsFresh || preconnectionLimit != nil
        if let connection = shared[exchange.key], let http2 = connection.http2, !http2.isIdle, http2.canOpenStream {
            return begin(exchange, on: connection)
        }
        switch pool.request(
            exchange, key: exchange.key, isFirst: isFirst, needsFresh: needsFresh, isShared: isShared(exchange.key))
        {
        case .use(let connection): begin(exchange, on: connection)
        case .open:
            exchange.isWaiting = true
            startAttempt(for: exchange)
        case .wait:
            exchange.isWaiting = true
            // Waiters share the connection that is being opened, or its failure.
            if pool.isOpening(exchange.key), isShared(exchange.key) { admit(exchange) }
            admit(pool.lastConnecting(to: exchange.key))
            if needsFresh {
                admit(exchange)
                makeRoom(exchange.key)
            }
        }
    }

    /// Closes an idle connection if a request needs a new one and the limit is reached.
    private func makeRoom(_ key: ConnectionKey) {
        if let idle = pool.makeRoom(key) { closeIdle(idle) }
    }

    private func begin(_ exchange: HTTPExchange, on connection: HTTPConnection) {
        exchange.isWaiting = false
        exchange.state.admit(at: loop.now)
        guard !exchange.isPreconnection else {
            exchange.completePreconnection()
            finish(exchange)
            guard connection.http2 == nil else { return connection.queueTurn() }
            return makeAvailable(connection, isFresh: false)
        }
        if let http2 = connection.http2 {
            http2.begin(exchange)
            noteDeadline(http2.nextDeadline)
            return noteDeadline(of: exchange)
        }
        exchange.begin(on: connection, at: loop.now)
        connection.exchange = exchange
        noteDeadline(of: exchange)
        connection.queueTurn()
    }

    // MARK: Releasing connections

    /// Releases the connection of an exchange, for reuse if possible. Otherwise, closes it.
    func releaseConnection(of exchange: HTTPExchange) {
        guard let connection = exchange.connection else { return }
        exchange.connection = nil
        if let http2 = connection.http2 {
            // The connection may be dead.
            if exchange.state.fault?.code == .timedOut { stopSharing(connection) }
            return http2.remove(exchange)
        }
        connection.exchange = nil
        let isReusable =
            !connection.isClosed && !connection.hasHungUp && !connection.hasPendingWrite && connection.isCounted
            && connection.generation == generation
            && maximumIdleTime > 0
            && exchange.leavesConnectionReusable(surplus: connection.surplusByteCount)
        guard isReusable else {
            connection.close()
            if connection.isCounted { pool.closed(connection.key) }
            return openNext(connection.key)
        }
        // Don't reuse the connection in the last second before the server closes it.
        let keepAlive = exchange.keepAliveTimeout.map { Double(max(0, $0 - 1)) }
        makeAvailable(connection, isFresh: false, keepAlive: keepAlive)
    }

    /// - Parameter keepAlive: The time after which the server closes the connection, in seconds; nil if it is unknown.
    private func makeAvailable(_ connection: HTTPConnection, isFresh: Bool, keepAlive: TimeInterval? = nil) {
        let seconds = min(maximumIdleTime, keepAlive ?? .infinity)
        let deadline = MonotonicClock.deadline(after: seconds, from: loop.now)
        let waiter = pool.available(
            connection, key: connection.key, isFresh: isFresh, idleUntil: deadline, isEndedByServer: keepAlive != nil)
        connection.isReused = !isFresh || waiter == nil
        if let waiter {
            begin(waiter, on: connection)
            if connection.http2 == nil {
                admit(pool.lastConnecting(to: connection.key))
            } else {
                beginWaiters(on: connection)
            }
        } else {
            connection.http2?.isIdle = true
            connection.becomeIdle()
            noteDeadline(deadline)
            while let surplus = pool.takeSurplus() { closeIdle(surplus) }
            guard pool.hasUnservedWaiters(connection.key) else { return }
            completeUnservedPreconnections(to: connection.key)
            makeRoom(connection.key)
        }
    }

    /// Closes a connection that the pool no longer contains.
    func closeIdle(_ connection: HTTPConnection) {
        removeShared(connection)
        connection.close()
        openNext(connection.key)
    }

    func idleConnectionEnded(_ connection: HTTPConnection) {
        pool.idleConnectionClosed(connection, key: connection.key)
        closeIdle(connection)
    }

    /// Closes the oldest idle connection, to free a descriptor. Returns false if there are no idle connections.
    func closeOldestIdleConnection() -> Bool {
        guard let connection = pool.takeOldest() else { return false }
        closeIdle(connection)
        return true
    }

    /// Counts a connection toward the limit of its host again, if the limit permits it.
    func resumeCounting(_ connection: HTTPConnection?) {
        if let connection, !connection.isCounted { connection.isCounted = pool.countAgain(connection.key) }
    }

    /// Permits another connection to the host of `connection`, unless `connection` can carry further requests.
    func makeRoom(beside connection: HTTPConnection?) {
        guard let http2 = connection?.http2 else { return stopCounting(connection) }
        if let connection, !http2.canOpenStream { stopSharing(connection) }
    }

    /// Stops counting a connection toward the limit of its host. When the connection's exchange ends, the connection is closed,
    /// unless ``resumeCounting(_:)`` has counted it again.
    func stopCounting(_ connection: HTTPConnection?) {
        guard let connection, connection.isCounted else { return }
        connection.isCounted = false
        pool.closed(connection.key)
        openNext(connection.key)
    }

    // MARK: Shared connections

    /// Whether a connection can carry several requests. Returns true if the protocol isn't known yet.
    private func isShared(_ key: ConnectionKey) -> Bool {
        switch key.version {
        case .http1: false
        case .http2: true
        case .negotiated: if case .http1? = knownHosts.value(for: key.origin) { false } else { true }
        }
    }

    enum KnownHost {
        case http1
        /// The maximum number of concurrent requests on a connection.
        case http2(streamLimit: Int)
    }

    private static let maximumKnownHosts = 1_000

    private func remember(_ host: KnownHost, _ key: ConnectionKey) {
        _ = knownHosts.set(host, cost: 1, for: key.origin)
        if knownHosts.count > Self.maximumKnownHosts { _ = knownHosts.removeLeast() }
    }

    /// Begins as many waiting requests as a connection can carry.
    private func beginWaiters(on connection: HTTPConnection) {
        while connection.http2?.canOpenStream == true, let waiter = pool.takeWaiter(connection.key) {
            begin(waiter, on: connection)
        }
    }

    /// Sends no further requests over a connection. The connection is closed after its exchanges.
    func stopSharing(_ connection: HTTPConnection) {
        removeShared(connection)
        stopCounting(connection)
    }

    private func removeShared(_ connection: HTTPConnection) {
        guard shared[connection.key] === connection else { return }
        shared[connection.key] = nil
        webSocketKeys.withLock { _ = $0.remove(connection.key) }
    }

    /// Called when the server's settings for an HTTP/2 connection have arrived.
    func settingsArrived(_ http2: HTTP2Connection, _ connection: HTTPConnection) {
        remember(.http2(streamLimit: http2.streamLimit), connection.key)
        if http2.supportsWebSockets, shared[connection.key] === connection {
            webSocketKeys.withLock { _ = $0.insert(connection.key) }
        }
    }

    /// Whether a shared connection supports WebSockets. Can be called from any thread.
    func supportsWebSockets(_ key: ConnectionKey) -> Bool { webSocketKeys.withLock { $0.contains(key) } }

    func sharedTurnEnded(_ connection: HTTPConnection) {
        guard !connection.isClosed, let http2 = connection.http2 else { return }
        if http2.isIdle {
            if !http2.canOpenStream { idleConnectionEnded(connection) }
        } else if http2.isDraining || !connection.isCounted || connection.generation != generation
            || http2.exchangeCount == 0 && !http2.canOpenStream
        {
            stopSharing(connection)
            // The exchanges of a broken connection may still have events to receive.
            if http2.exchangeCount == 0 { connection.close() }
        } else if http2.exchangeCount > 0 {
            beginWaiters(on: connection)
        } else {
            makeAvailable(connection, isFresh: false)
        }
    }

    /// Determines the protocol of a new connection.
    private func startProtocol(_ connection: HTTPConnection) throws(Fault) {
        let key = connection.key
        let http2: HTTP2Connection
        switch key.version {
        case .http1: return
        case .negotiated where connection.tls?.applicationProtocol != "h2":
            if isShared(key) { requeueWaiters(key) }
            remember(.http1, key)
            pool.stopSharing(key)
            return openNext(key)
        case .http2 where key.security != nil && connection.tls?.applicationProtocol != "h2":
            throw Fault(.secureConnectionFailed, "the server doesn't support HTTP/2 (ALPN)")
        case .negotiated(let limits), .http2(let limits):
            http2 = try HTTP2Connection(over: connection, engine: self, limits)
        }
        connection.http2 = http2
        if case .http2(let streamLimit)? = knownHosts.value(for: key.origin) {
            http2.assume(streamLimit: streamLimit)
        } else {
            knownHosts.remove(key.origin)
        }
        requeueWaiters(key)
        shared[key] = connection
    }

    // MARK: Opening connections

    private func openNext(_ key: ConnectionKey) {
        if pool.hasUnservedWaiters(key) { hostsWithRoom.append(key) }
    }

    func openConnections() {
        while let key = hostsWithRoom.popLast() {
            while pool.openNext(key) {
                guard let waiter = pool.lastConnecting(to: key) else { return pool.openingWasCancelled(key) }
                startAttempt(for: waiter)
            }
            completeUnservedPreconnections(to: key)
        }
    }

    /// If the host has enough connections, completes the waiting preconnections for which no connection is being opened. If they
    /// kept waiting, they would replace idle connections with new ones, or wait until requests end.
    private func completeUnservedPreconnections(to key: ConnectionKey) {
        guard preconnectionCount > 0 else { return }
        for waiter in pool.unservedWaiters(key) {
            guard let limit = waiter.hop.exchange.options.preconnectionLimit, pool.hasConnections(limit, to: key) else {
                continue
            }
            waiter.completePreconnection()
            finish(waiter)
        }
    }

    /// Starts the connect timer of a waiter for which a connection is being opened.
    private func admit(_ waiter: HTTPExchange?) {
        guard let waiter else { return }
        waiter.state.admit(at: loop.now)
        noteDeadline(of: waiter)
    }

    /// Stops the connect timers of the waiters for a shared connection after it has been opened. The waiters now wait for a stream,
    /// or for another connection.
    private func requeueWaiters(_ key: ConnectionKey) {
        for waiter in pool.waiters(key) { waiter.state.requeue() }
    }

    private func startAttempt(for exchange: HTTPExchange) {
        let isShared = isShared(exchange.key)
        for waiter in isShared ? pool.waiters(exchange.key) : [] { admit(waiter) }
        admit(pool.lastConnecting(to: exchange.key))
        let timeout = exchange.hop.exchange.options.connectTimeout
        let deadline = MonotonicClock.deadline(after: timeout, from: loop.now)
        let attempt = ConnectionAttempt(exchange.key, engine: self, deadline: deadline)
        attempt.index = attempts.count
        attempts.append(attempt)
        noteDeadline(deadline)
        attempt.start()
    }

    func lookUp(_ name: String, for attempt: ConnectionAttempt) {
        if let addresses = resolver.addresses(of: name, for: attempt, at: loop.now) {
            attempt.receive(.success(addresses))
        }
    }

    func attemptSucceeded(_ attempt: ConnectionAttempt, _ connection: HTTPConnection) {
        guard remove(attempt) else { return connection.close() }
        connection.generation = generation
        guard !isShutDown else {
            connection.close()
            return failWaiter(for: attempt, .cancelled)
        }
        do throws(Fault) {
            try startProtocol(connection)
        } catch {
            connection.close()
            return failWaiter(for: attempt, error)
        }
        makeAvailable(connection, isFresh: true)
    }

    /// - Parameters:
    ///   - waiter: The exchange that fails with the attempt, if it is still waiting. The default is the first waiter.
    ///   - isForAll: Whether the other waiters for a shared connection fail too.
    func attemptFailed(
        _ attempt: ConnectionAttempt, _ fault: Fault, failing waiter: HTTPExchange? = nil, isForAll: Bool = true
    ) {
        if remove(attempt) { failWaiter(for: attempt, fault, waiter, isForAll: isForAll) }
    }

    private func failWaiter(
        for attempt: ConnectionAttempt, _ fault: Fault, _ waiter: HTTPExchange? = nil, isForAll: Bool = true
    ) {
        var next = pool.openingFailed(attempt.key, failing: waiter)
        let sharesFailure = isForAll && isShared(attempt.key)
        while let failed = next {
            failed.isWaiting = false
            failed.lastAttempt = attempt
            failed.state.fail(fault)
            finish(failed, phase: attempt.phase)
            next = sharesFailure ? pool.takeWaiter(attempt.key) : nil
        }
        openNext(attempt.key)
    }

    func cancelSurplusAttempt(to key: ConnectionKey) {
        // The attempt with the earliest deadline was started for the waiter that has given up, or for an earlier waiter.
        let candidates = attempts.filter { $0.key == key }
        if let attempt = candidates.min(by: { $0.deadline < $1.deadline }) { cancel(attempt) }
    }

    /// Removes an attempt. Returns false if it has already ended.
    private func remove(_ attempt: ConnectionAttempt) -> Bool {
        guard let index = attempt.index, let last = attempts.popLast() else { return false }
        attempt.index = nil
        attempt.endLookup()
        if last !== attempt {
            attempts[index] = last
            last.index = index
        }
        return true
    }

    func cancel(_ attempt: ConnectionAttempt) {
        guard remove(attempt) else { return }
        if let name = attempt.name { resolver.abandon(name, attempt) }
        attempt.cancel()
        pool.openingWasCancelled(attempt.key)
        openNext(attempt.key)
    }

    // MARK: TLS

    /// Returns the first exchange that waits for an attempt's connection.
    func firstWaiter(for attempt: ConnectionAttempt) -> HTTPExchange? { pool.firstWaiter(attempt.key) }

    /// Whether the certificates of a host are being evaluated. Other attempts wait for the result.
    func isEvaluating(_ key: ConnectionKey) -> Bool { attempts.contains { $0.isEvaluating && $0.key == key } }

    /// Continues the attempts that waited for an evaluation of these certificates. The refusal is nil if the host is trusted, or if
    /// there is no result.
    func evaluationEnded(_ key: ConnectionKey, _ refusal: Fault?, of chain: PresentedChain) {
        for attempt in attempts where attempt.key == key { attempt.evaluationEnded(refusal, of: chain) }
    }

    /// Creates the TLS stream for a connection to its host.
    func makeTLS(over connection: HTTPConnection) throws(Fault) -> TLSStream {
        let (key, generation) = (connection.key, generation)
        let stream = try TLSStream(
            over: connection.stream, to: key.host, minimumVersion: key.security?.minimumVersion ?? .v12,
            key.security?.settings, tls,
            applicationProtocols: key.purpose == .otherProtocol ? [] : key.version.applicationProtocols,
            resuming: sessions.take(for: key, at: loop.now))
        stream.onSession = { [unowned self] session in
            if self.generation == generation { sessions.add(session, for: key) }
        }
        return stream
    }

    /// Creates the TLS stream for a connection to a proxy.
    func makeTLS(over connection: HTTPConnection, toProxy host: String) throws(Fault) -> TLSStream {
        let version = connection.key.route?.proxyMinimumTLSVersion ?? .v12
        return try TLSStream(over: connection.stream, to: host, minimumVersion: version, nil, tls)
    }

    /// Returns the phase of the connection attempt for a waiting exchange.
    func phase(of exchange: HTTPExchange) -> TransportError.Phase {
        attempts.first { $0.key == exchange.key }?.phase ?? .queued
    }
}

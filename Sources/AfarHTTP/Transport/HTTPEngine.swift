import AfarHTTP2
import AfarTransport
import Foundation

/// Drives the exchanges and connections of one thread: assigns connections from the pool, opens and closes them, and ends
/// exchanges.
///
/// One thread at a time uses the engine's state: the loop's thread, or a caller that submits an exchange to an idle loop. Other threads post
/// messages.
final class HTTPEngine: LoopClient, @unchecked Sendable {
    // Sendable because the loop's lock protects the state.

    enum Message: Sendable {
        case exchange(HTTPExchange, ExchangeSignal)
        case lookedUp(Resolver<ConnectionAttempt>.Answer)
        /// An evaluation of a server's certificates has ended for an exchange. The fault is nil if the certificates were
        /// accepted.
        case evaluated(ConnectionAttempt, for: HTTPExchange, Fault?)
        case closeRaw(RawSocket)
        case loop(LoopRequest)
    }

    let loop: EventLoop<HTTPEngine>
    private let maximumIdleTime: TimeInterval
    let pingInterval: TimeInterval
    let tls: TLSContext
    @exclusivity(unchecked) private var sessions = TLSSessions()

    private let pool: ConnectionPool<ConnectionKey, HTTPConnection, HTTPExchange>
    /// The HTTP/2 connections that accept further requests.
    @exclusivity(unchecked) private var shared: [ConnectionKey: HTTPConnection] = [:]
    /// The keys of shared connections whose servers support WebSockets over HTTP/2.
    private let webSocketKeys = Locked<Set<ConnectionKey>>([])
    /// What is known about hosts from earlier connections, by origin.
    @exclusivity(unchecked) private var knownHosts = LeastRecentlyUsed<KnownHost>()
    private let resolver: Resolver<ConnectionAttempt>
    @exclusivity(unchecked) private var attempts: [ConnectionAttempt] = []
    @exclusivity(unchecked) private var exchanges: [HTTPExchange] = []
    private let completions = CompletionQueue()
    @exclusivity(unchecked) private var isShutDown = false
    /// A number that changes when the idle connections are closed. Connections of an earlier generation are closed after their exchange.
    @exclusivity(unchecked) private var generation = 0
    /// When to check the deadlines. It can be earlier than necessary.
    @exclusivity(unchecked) private(set) var nextDeadline = UInt64.max

    init(configuration: ConnectionConfiguration, tls: TLSContext) throws {
        let loop = try EventLoop<HTTPEngine>()
        self.loop = loop
        (maximumIdleTime, pingInterval, self.tls) = (configuration.maximumIdleTime, configuration.pingInterval, tls)
        pool = ConnectionPool(
            limitPerHost: configuration.maximumConnectionsPerHost, idleLimit: configuration.maximumIdleConnections)
        resolver = Resolver(limit: configuration.maximumLookups) { loop.post(.lookedUp($0)) }
        try loop.start(self)
    }

    // MARK: The loop

    var isIdle: Bool { exchanges.isEmpty && attempts.isEmpty }

    var mustFinishTurn: Bool { !completions.isEmpty || !hostsWithRoom.isEmpty }

    var hasEnded: Bool { isShutDown && exchanges.isEmpty }

    /// Posts a message about an exchange. If the loop is idle, the calling thread submits the exchange and sends its request.
    func post(_ exchange: HTTPExchange, _ signal: ExchangeSignal) {
        if case .submit = signal, exchange.canBeSentByCaller, loop.performIfIdle(self, { $0.submit(exchange) }) {
            return
        }
        loop.post(.exchange(exchange, signal))
    }

    func receive(_ message: Message) {
        switch message {
        case .exchange(let exchange, .submit): submit(exchange)
        case .exchange(let exchange, .cancel):
            exchange.state.fail(.cancelled)
            // The cancellation can arrive before the submission.
            if exchange.index != nil { finish(exchange) }
        case .exchange(let exchange, .suspensionChanged):
            // Messages of two threads can arrive in the wrong order.
            exchange.state.setSuspended(exchange.hop.exchange.control.isSuspended, at: loop.now)
            proceed(exchange)
        case .exchange(let exchange, .demand):
            if !exchange.isUndecided { exchange.state.isReceivingPaused = false }
            proceed(exchange)
        case .exchange(let exchange, .bodyReady):
            exchange.state.isSendingPaused = false
            proceed(exchange)
        case .exchange(let exchange, .decided(let decision)):
            guard exchange.index != nil else { return }
            exchange.decide(decision)
            proceed(exchange)
        case .lookedUp(let answer):
            let (waiting, addresses) = resolver.receive(answer, at: loop.now)
            for attempt in waiting { attempt.receive(addresses) }
        case .evaluated(let attempt, let evaluatedExchange, let refusal):
            attempt.receive(refusal, for: evaluatedExchange)
        case .closeRaw(let socket): socket.closeDescriptor()
        case .loop(.closeIdleConnections):
            generation += 1
            resolver.clear()
            for connection in shared.values where connection.http2?.isIdle == false { stopSharing(connection) }
            sessions.removeAll()
            for connection in pool.takeAllIdle() { closeIdle(connection) }
        case .loop(.countConnections(let answer)):
            answer(
                pool.counts.map { key, idle, inUse, waiting in
                    let resolving = attempts.count { $0.key == key && $0.phase == .resolving }
                    return .init(
                        origin: key.origin, idle: idle, inUse: inUse - resolving, waiting: waiting + resolving)
                })
        case .loop(.run(let job)):
            job.run()
            loop.updateTime()
        case .loop(.shutDown):
            isShutDown = true
            for exchange in exchanges {
                exchange.state.fail(.cancelled)
                finish(exchange)
            }
        }
    }

    func finishTurn() {
        if nextDeadline <= loop.now { expire() }
        openConnections()
        completions.callAll()
    }

    func close() {
        for attempt in attempts { attempt.cancel() }
        for connection in pool.takeAllIdle() { connection.close() }
        attempts = []
    }

    // MARK: Deadlines

    func noteDeadline(_ deadline: UInt64) { nextDeadline = min(nextDeadline, deadline) }

    func noteDeadline(of exchange: HTTPExchange) { noteDeadline(exchange.nextDeadline) }

    /// Ends exchanges and attempts that have taken too long. An exchange's deadline never moves to an earlier time, so the next
    /// check can wait until the earliest deadline.
    private func expire() {
        let now = loop.now
        nextDeadline = .max
        let expired = exchanges.compactMap { exchange in exchange.expiry(at: now).map { (exchange, $0) } }
        for (exchange, fault) in expired {
            exchange.state.fail(fault)
            finish(exchange)
        }
        for exchange in exchanges {
            if exchange.sending.expectationDeadline <= now {
                exchange.sending.expectationDeadline = .max
                proceed(exchange)
            }
            noteDeadline(of: exchange)
            if let http2 = exchange.connection?.http2 {
                http2.check(at: now)
                noteDeadline(http2.nextDeadline)
            }
        }
        for attempt in attempts {
            if attempt.check(at: now) { cancel(attempt) } else { noteDeadline(attempt.nextDeadline) }
        }
        for connection in pool.takeExpired(at: now) { closeIdle(connection) }
        noteDeadline(pool.nextDeadline)
    }

    // MARK: Exchanges

    private func submit(_ exchange: HTTPExchange) {
        exchange.index = exchanges.count
        exchanges.append(exchange)
        if isShutDown || exchange.isCancelled { exchange.state.fail(.cancelled) }
        exchange.state.setSuspended(exchange.hop.exchange.control.isSuspended, at: loop.now)
        guard exchange.state.fault == nil else { return finish(exchange) }
        noteDeadline(of: exchange)
        requestConnection(for: exchange)
    }

    private func requestConnection(for exchange: HTTPExchange, isFirst: Bool = false, needsFresh: Bool = false) {
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

    /// Continues an exchange after an event for which it waited.
    private func proceed(_ exchange: HTTPExchange) {
        guard exchange.index != nil else { return }
        guard exchange.state.fault == nil else { return finish(exchange) }
        exchange.state.pauseDidChange(at: loop.now)
        noteDeadline(of: exchange)
        exchange.connection?.proceed(exchange)
    }

    /// Called after a connection's turn. Sends the request again, ends the exchange, or records its deadlines.
    func turnEnded(_ exchange: HTTPExchange) {
        if exchange.state.fault == nil, exchange.sending.mustSendAgain { return sendAgain(exchange) }
        if exchange.state.fault != nil || exchange.isComplete { return finish(exchange) }
        noteDeadline(of: exchange)
    }

    private func sendAgain(_ exchange: HTTPExchange) {
        // A connection that several requests share is no longer available if it is broken.
        let needsFresh = exchange.connection?.http2 == nil
        releaseConnection(of: exchange)
        exchange.recordingFault { () throws(Fault) in try exchange.rewind() }
        guard exchange.state.fault == nil else { return finish(exchange) }
        noteDeadline(of: exchange)
        requestConnection(for: exchange, isFirst: true, needsFresh: needsFresh)
    }

    /// Returns the head of a streamed response to the caller.
    func deliver(_ response: TransportResponse, of exchange: HTTPExchange) {
        guard let completion = exchange.completion.take() else { return }
        endEvaluations(for: exchange)
        completions.add(completion, with: .success(response))
    }

    /// Ends the evaluations for an exchange that has its response. If other exchanges wait for the same evaluation, a new one
    /// starts for one of these exchanges.
    private func endEvaluations(for exchange: HTTPExchange) {
        guard exchange.key.isEvaluated else { return }
        for attempt in attempts where attempt.key == exchange.key { attempt.withdraw(exchange) }
    }

    private func finish(_ exchange: HTTPExchange, phase: TransportError.Phase? = nil) {
        let phase = phase ?? exchange.phase
        if exchange.isWaiting, exchange.state.phase != .queued {
            exchange.lastAttempt = attempts.first { $0.key == exchange.key }
        }
        guard exchange.state.finish() else { return }
        // Detach before calling the completion, because the next exchange can use the same control.
        exchange.hop.exchange.control.attach(nil)
        let result = exchange.result(phase: phase)
        remove(exchange)
        releaseConnection(of: exchange)
        if exchange.isWaiting, pool.withdraw(exchange, key: exchange.key) { cancelSurplusAttempt(to: exchange.key) }
        endEvaluations(for: exchange)
        exchange.release()
        completions.add(exchange.completion.take(), with: result)
    }

    private func remove(_ exchange: HTTPExchange) {
        guard let index = exchange.index, let last = exchanges.popLast() else { return }
        exchange.index = nil
        if last !== exchange {
            exchanges[index] = last
            last.index = index
        }
    }

    // MARK: Connections

    /// Releases the connection of an exchange, for reuse if possible. Otherwise, closes it.
    private func releaseConnection(of exchange: HTTPExchange) {
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
        let keepAlive = exchange.keepAliveTimeout.map { Double(max(0, $0 - 1)) } ?? .infinity
        makeAvailable(connection, isFresh: false, for: min(maximumIdleTime, keepAlive))
    }

    private func makeAvailable(_ connection: HTTPConnection, isFresh: Bool, for seconds: TimeInterval) {
        let deadline = MonotonicClock.deadline(after: seconds, from: loop.now)
        let waiter = pool.available(connection, key: connection.key, isFresh: isFresh, idleUntil: deadline)
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
            if pool.hasUnservedWaiters(connection.key) { makeRoom(connection.key) }
        }
    }

    /// Closes a connection that the pool no longer contains.
    private func closeIdle(_ connection: HTTPConnection) {
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

    /// Permits another connection to a host, unless this one can carry further requests.
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

    /// Whether a connection can carry several requests. Before the server has chosen a protocol, this is assumed.
    private func isShared(_ key: ConnectionKey) -> Bool {
        switch key.version {
        case .http1: false
        case .http2: true
        case .negotiated: if case .http1? = knownHosts.value(for: key.origin) { false } else { true }
        }
    }

    private enum KnownHost {
        case http1
        /// The maximum number of concurrent requests on a connection.
        case http2(streamLimit: Int)
    }

    private static let maximumKnownHosts = 1_000

    private func remember(_ host: KnownHost, _ key: ConnectionKey) {
        _ = knownHosts.set(host, cost: 1, for: key.origin)
        if knownHosts.count > Self.maximumKnownHosts { _ = knownHosts.removeLeast() }
    }

    /// Begins the waiting requests that a connection can carry.
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

    /// Called after a turn of an HTTP/2 connection.
    func sharedTurnEnded(_ connection: HTTPConnection) {
        guard !connection.isClosed, let http2 = connection.http2 else { return }
        if http2.isIdle {
            if !http2.canOpenStream { idleConnectionEnded(connection) }
        } else if http2.isDraining || !connection.isCounted || connection.generation != generation
            || http2.exchangeCount == 0 && !http2.canOpenStream
        {
            stopSharing(connection)
            // The exchanges of a broken connection can still have events to receive.
            if http2.exchangeCount == 0 { connection.close() }
        } else if http2.exchangeCount > 0 {
            beginWaiters(on: connection)
        } else {
            makeAvailable(connection, isFresh: false, for: maximumIdleTime)
        }
    }

    /// Determines the protocol of a new connection.
    private func startProtocol(_ connection: HTTPConnection) throws(Fault) {
        let key = connection.key
        let configuration: HTTP2Session.Configuration
        switch key.version {
        case .http1: return
        case .negotiated where connection.tls?.applicationProtocol != "h2":
            if isShared(key) { requeueWaiters(key) }
            remember(.http1, key)
            pool.stopSharing(key)
            return openNext(key)
        case .http2 where key.security != nil && connection.tls?.applicationProtocol != "h2":
            throw Fault(.secureConnectionFailed, "the server doesn't support HTTP/2 (ALPN)")
        case .negotiated(let limits), .http2(let limits): configuration = limits
        }
        let http2 = try HTTP2Connection(over: connection, engine: self, configuration)
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

    /// Hosts with room for another connection. Connections are opened at the end of the turn, because an attempt can fail
    /// immediately and make room for the next one.
    @exclusivity(unchecked) private var hostsWithRoom: [ConnectionKey] = []

    private func openNext(_ key: ConnectionKey) {
        if pool.hasUnservedWaiters(key) { hostsWithRoom.append(key) }
    }

    private func openConnections() {
        while let key = hostsWithRoom.popLast() {
            while pool.openNext(key) {
                guard let waiter = pool.lastConnecting(to: key) else { return pool.openingWasCancelled(key) }
                startAttempt(for: waiter)
            }
        }
    }

    /// Starts the connect timer of a waiter for which a connection is being opened.
    private func admit(_ waiter: HTTPExchange?) {
        guard let waiter else { return }
        waiter.state.admit(at: loop.now)
        noteDeadline(of: waiter)
    }

    /// Stops the connect timers of the waiters for a shared connection, which has been opened. They now wait for a stream, or for another
    /// connection.
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
        makeAvailable(connection, isFresh: true, for: maximumIdleTime)
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

    private func cancelSurplusAttempt(to key: ConnectionKey) {
        // The attempt with the earliest deadline was started for the waiter that has given up, or for an earlier one.
        let candidates = attempts.filter { $0.key == key }
        if let attempt = candidates.min(by: { $0.deadline < $1.deadline }) { cancel(attempt) }
    }

    /// Removes an attempt. Returns false if it has already ended.
    private func remove(_ attempt: ConnectionAttempt) -> Bool {
        guard let index = attempt.index, let last = attempts.popLast() else { return false }
        attempt.index = nil
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

extension HTTPEngine: TransportLoop {
    func post(_ request: LoopRequest) { loop.post(.loop(request)) }
}

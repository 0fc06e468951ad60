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
        case resolved(ConnectionAttempt, Result<[SocketAddress], Fault>)
        /// An evaluation of a server's certificates has ended for an exchange. The fault is nil if the certificates were
        /// accepted.
        case evaluated(ConnectionAttempt, for: HTTPExchange, Fault?)
        case closeRaw(RawSocket)
        case loop(LoopRequest)
    }

    let loop: EventLoop<HTTPEngine>
    let maximumIdleTime: TimeInterval
    let pingInterval: TimeInterval
    /// How long to wait for an address before trying the next one concurrently, in nanoseconds (RFC 8305, section 5).
    let addressDelay: UInt64
    let tls: TLSContext
    @exclusivity(unchecked) var sessions = TLSSessions()

    let pool: ConnectionPool<ConnectionKey, HTTPConnection, HTTPExchange>
    /// The HTTP/2 connections that accept further requests.
    @exclusivity(unchecked) var shared: [ConnectionKey: HTTPConnection] = [:]
    /// The keys of shared connections whose servers support WebSockets over HTTP/2.
    let webSocketKeys = Locked<Set<ConnectionKey>>([])
    /// What is known about hosts from earlier connections, by origin.
    @exclusivity(unchecked) var knownHosts = LeastRecentlyUsed<KnownHost>()
    /// Hosts with room for another connection. Connections are opened at the end of the turn, because an attempt can fail
    /// immediately and make room for the next one.
    @exclusivity(unchecked) var hostsWithRoom: [ConnectionKey] = []
    let resolver: Resolver<ConnectionAttempt>
    @exclusivity(unchecked) var attempts: [ConnectionAttempt] = []
    @exclusivity(unchecked) private var exchanges: [HTTPExchange] = []
    /// The number of exchanges that only open a connection.
    @exclusivity(unchecked) private(set) var preconnectionCount = 0
    private let completions = CompletionQueue()
    @exclusivity(unchecked) var isShutDown = false
    /// A number that changes when the idle connections are closed. Connections of an earlier generation are closed after their exchange.
    @exclusivity(unchecked) var generation = 0
    /// When to check the deadlines. It can be earlier than necessary.
    @exclusivity(unchecked) private(set) var nextDeadline = UInt64.max

    init(configuration: ConnectionConfiguration, tls: TLSContext) throws {
        let loop = try EventLoop<HTTPEngine>()
        self.loop = loop
        (maximumIdleTime, pingInterval, self.tls) = (configuration.maximumIdleTime, configuration.pingInterval, tls)
        addressDelay = UInt64(configuration.happyEyeballsMilliseconds) * 1_000_000
        pool = ConnectionPool(
            limitPerHost: configuration.maximumConnectionsPerHost, idleLimit: configuration.maximumIdleConnections,
            minimumPerHost: configuration.minimumIdleConnectionsPerHost)
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
            guard let (waiting, addresses) = resolver.receive(answer, at: loop.now) else { return }
            for attempt in waiting { attempt.receive(addresses) }
        case .resolved(let attempt, let addresses): attempt.resolved(addresses)
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
        if exchange.isPreconnection { preconnectionCount += 1 }
        if isShutDown || exchange.isCancelled { exchange.state.fail(.cancelled) }
        exchange.state.setSuspended(exchange.hop.exchange.control.isSuspended, at: loop.now)
        guard exchange.state.fault == nil else { return finish(exchange) }
        noteDeadline(of: exchange)
        requestConnection(for: exchange)
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
        // A broken shared connection isn't assigned again, so only HTTP/1.1 requires a new connection.
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

    /// Ends the evaluations for an exchange that has received its response. If other exchanges wait for the same evaluation, a new
    /// one starts for one of them.
    private func endEvaluations(for exchange: HTTPExchange) {
        guard exchange.key.isEvaluated else { return }
        for attempt in attempts where attempt.key == exchange.key { attempt.withdraw(exchange) }
    }

    func finish(_ exchange: HTTPExchange, phase: TransportError.Phase? = nil) {
        let phase = phase ?? exchange.phase
        if exchange.isWaiting, exchange.state.phase != .queued {
            exchange.lastAttempt = attempts.first { $0.key == exchange.key }
        }
        guard exchange.state.finish() else { return }
        if exchange.isPreconnection { preconnectionCount -= 1 }
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
}

extension HTTPEngine: TransportLoop {
    func post(_ request: LoopRequest) { loop.post(.loop(request)) }
}

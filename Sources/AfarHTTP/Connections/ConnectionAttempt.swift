import AfarTransport
import Foundation

/// An attempt to open a connection. It connects to an address of the host or of the proxy (RFC 8305), negotiates with the proxy if
/// there is one, and starts TLS. An attempt belongs to its engine.
///
/// The address families alternate. If an address doesn't respond in time, the next one is tried concurrently, and the first
/// connection wins.
final class ConnectionAttempt: @unchecked Sendable {
    // Sendable because only its engine uses it. Other threads only pass it back to the engine.

    /// A socket that is connecting.
    private final class Candidate: LoopSocket {
        let descriptor: Int32
        let address: SocketAddress
        private unowned let attempt: ConnectionAttempt

        init(_ descriptor: Int32, to address: SocketAddress, of attempt: ConnectionAttempt) {
            (self.descriptor, self.address, self.attempt) = (descriptor, address, attempt)
        }

        func update(_ event: SocketEvent) { if event.isWritable { attempt.update(self) } }

        func takeTurn() {}
    }

    /// A step after the socket is connected.
    private enum Step {
        case proxyTLS(host: String)
        /// Looks up the host, because the SOCKS proxy needs the host's address.
        case hostLookup
        case socks
        case tunnel
        case hostTLS
    }

    /// How long to wait for room in a Unix socket's queue, in nanoseconds.
    private static let retryDelay: UInt64 = 10_000_000

    let key: ConnectionKey
    /// The index in the engine's list; nil after the attempt has ended.
    var index: Int?
    private unowned let engine: HTTPEngine
    /// When the attempt times out, even if requests are still waiting for it.
    let deadline: UInt64
    private(set) var times: ConnectionTimes
    /// The name that is being looked up, if any.
    private(set) var name: String?
    /// The running lookup of the key's resolver, if any.
    private var lookup: HostLookup?
    /// The host's addresses that haven't been tried through the SOCKS proxy yet.
    private var hostAddresses: ArraySlice<SocketAddress> = []
    private var steps: ArraySlice<Step> = []
    /// The negotiation with the proxy, if the current step is a negotiation.
    private var negotiation: (any ProxyNegotiation)?
    /// The last address that was tried or, if none was tried, the first one that was refused.
    private(set) var address: SocketAddress?
    private var addresses: ArraySlice<SocketAddress> = []
    private var candidates: [Candidate] = []
    private var nextAddressTime = UInt64.max
    private(set) var phase = TransportError.Phase.resolving
    /// The connection on which steps are performed.
    private(set) var connection: HTTPConnection?
    /// The exchange for which the server's certificates are being evaluated.
    private var evaluatedExchange: HTTPExchange?
    /// Whether this attempt waits while another attempt evaluates the host's certificates.
    private var awaitsEvaluation = false
    /// Whether the connection had to wait for an evaluation.
    private var hasWaited = false
    /// The last failure; nil if no address has been tried.
    private var fault: Fault?
    /// The policy's reason for the first refusal.
    private var refusal: Fault?

    init(_ key: ConnectionKey, engine: HTTPEngine, deadline: UInt64) {
        (self.key, self.engine, self.deadline) = (key, engine, deadline)
        times = ConnectionTimes(lookupStart: MonotonicClock.now)
    }

    private var peer: (host: String, port: Int) { key.route?.peer ?? (key.host, key.port) }

    /// Starts the lookup of the name, or connects to a Unix socket.
    func start() {
        if let path = key.route?.unixSocket {
            connect(to: SocketAddress(unixSocket: path).map { [$0] } ?? [])
        } else {
            lookUp(peer.host)
        }
    }

    private func lookUp(_ name: String) {
        self.name = name
        guard let resolver = key.route?.resolver else { return engine.lookUp(name, for: self) }
        if let addresses = SocketAddress.addressesWithoutLookup(of: name) { return receive(.success(addresses)) }
        lookup = HostLookup(of: name, with: resolver) { [self, loop = engine.loop] addresses in
            loop.post(.resolved(self, addresses))
        }
    }

    /// Receives the result of the key's resolver.
    func resolved(_ addresses: Result<[SocketAddress], Fault>) {
        // The attempt may have ended since the result was posted.
        guard index != nil, lookup != nil else { return }
        lookup = nil
        receive(addresses)
    }

    /// When to call ``check(at:)``. It can be earlier than necessary.
    var nextDeadline: UInt64 { min(deadline, nextAddressTime) }

    /// Receives the result of looking up ``name``.
    func receive(_ addresses: Result<[SocketAddress], Fault>) {
        let permitted = addresses.flatMap { addresses in
            Result { () throws(Fault) in try key.route?.permitted(addresses, of: name ?? "the host") ?? addresses }
        }
        name = nil
        switch (permitted, connection) {
        case (.success(let addresses), nil): connect(to: addresses)
        case (.success(let addresses), let connection?):
            hostAddresses = addresses[...]
            finishStep(on: connection)
        case (.failure(let fault), nil):
            let proxy = key.route?.proxy
            end(
                with: proxy.map {
                    Fault(
                        .proxyFailed, "the proxy \($0) cannot be found: \(fault.message)", underlying: fault.underlying)
                } ?? fault)
        case (.failure(let fault), _?): end(with: fault)
        }
    }

    /// Connects a socket to one of the addresses.
    func connect(to addresses: [SocketAddress]) {
        times.lookupEnd = MonotonicClock.now
        phase = .connecting
        self.addresses = Self.alternating(addresses)[...]
        tryNext()
    }

    /// Returns the addresses with alternating families, beginning with the family of the first address (RFC 8305, section 4).
    static func alternating(_ addresses: [SocketAddress]) -> [SocketAddress] {
        let first = addresses.filter { $0.family == addresses.first?.family }
        let second = addresses.filter { $0.family != addresses.first?.family }
        return (0..<max(first.count, second.count)).flatMap { index in
            [first, second].compactMap { $0.indices.contains(index) ? $0[index] : nil }
        }
    }

    /// Tries the next address if the delay has passed. Returns whether the attempt has timed out.
    func check(at now: UInt64) -> Bool {
        if now >= nextAddressTime { tryNext() }
        return now >= deadline
    }

    /// Ends the lookup of the key's resolver, if one is running.
    func endLookup() { lookup.take()?.cancel() }

    func cancel() {
        endLookup()
        stopConnecting()
        connection?.close()
        guard isEvaluating, let chain = connection?.tls?.presentedChain else { return }
        evaluatedExchange = nil
        engine.evaluationEnded(key, nil, of: chain)
    }

    private func stopConnecting() {
        for candidate in candidates { close(candidate) }
        candidates = []
        (addresses, nextAddressTime) = ([], .max)
    }

    private func close(_ candidate: Candidate) {
        engine.loop.remove(candidate)
        Foundation.close(candidate.descriptor)
    }

    /// Opens a socket to the next address.
    private func tryNext() {
        while let address = addresses.popFirst()?.with(port: peer.port) {
            nextAddressTime = .max
            guard permits(address) else { continue }
            self.address = address
            guard let descriptor = openSocket(address.family) else { continue }
            if address.withPointer({ Foundation.connect(descriptor, $0, $1) }) == 0 {
                return succeed(descriptor, address)
            }
            guard errno == EINPROGRESS else {
                let code = errno
                fail(code)
                Foundation.close(descriptor)
                // The Unix socket's queue is full.
                guard code == EAGAIN, address.family == AF_UNIX else { continue }
                addresses = [address] + addresses
                nextAddressTime = MonotonicClock.now + Self.retryDelay
                return engine.noteDeadline(nextAddressTime)
            }
            let candidate = Candidate(descriptor, to: address, of: self)
            guard engine.loop.add(candidate) else {
                fail(errno)
                Foundation.close(descriptor)
                continue
            }
            candidates.append(candidate)
            nextAddressTime = addresses.isEmpty ? .max : MonotonicClock.now + engine.addressDelay
            return engine.noteDeadline(nextAddressTime)
        }
        nextAddressTime = .max
        guard candidates.isEmpty else { return }
        engine.attemptFailed(self, failure)
    }

    /// Why no connection could be opened. A refusal by the policy is the reason only if there was no other failure.
    private var failure: Fault {
        if fault == nil, let refusal { return refusal }
        let fault = fault ?? Fault(.cannotFindHost, "the host has no address")
        guard let proxy = key.route?.proxy, fault.code != .outOfResources else { return fault }
        return Fault(.proxyFailed, "the proxy \(proxy) cannot be reached", systemError: fault.systemError)
    }

    /// Returns whether the policy permits an address, and records a refusal.
    private func permits(_ address: SocketAddress) -> Bool {
        guard let refusal = key.refusal(of: address) else { return true }
        if self.refusal == nil { self.refusal = refusal }
        if self.address == nil { self.address = address }
        return false
    }

    /// Opens a socket. If the process has no free descriptor, closes idle connections first.
    private func openSocket(_ family: Int32) -> Int32? {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        var descriptor = socket(family, kind, 0)
        while descriptor < 0, errno == EMFILE || errno == ENFILE, engine.closeOldestIdleConnection() {
            descriptor = socket(family, kind, 0)
        }
        guard descriptor >= 0 else {
            fail(errno)
            return nil
        }
        if family != AF_UNIX, let code = key.route?.prepare(descriptor, family), code != 0 {
            fail(code)
            Foundation.close(descriptor)
            return nil
        }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    private func fail(_ code: Int32) {
        let isOutOfResources = [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
        let isUnreachable = [ENETUNREACH, EHOSTUNREACH, ENETDOWN].contains(code)
        // Keep the failure of an address that responded, because it is more informative.
        if isUnreachable, fault?.code == .cannotConnect { return }
        fault = Fault(
            isOutOfResources ? .outOfResources : isUnreachable ? .notConnected : .cannotConnect,
            isOutOfResources ? "no socket could be opened" : "the host could not be reached", systemError: code)
    }

    private func update(_ candidate: Candidate) {
        guard let index = candidates.firstIndex(where: { $0 === candidate }) else { return }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        if getsockopt(candidate.descriptor, SOL_SOCKET, SO_ERROR, &code, &length) != 0 { code = errno }
        candidates.remove(at: index)
        guard code != 0 else {
            engine.loop.remove(candidate, isClosing: false)
            return succeed(candidate.descriptor, candidate.address)
        }
        fail(code)
        close(candidate)
        tryNext()
    }

    private func succeed(_ descriptor: Int32, _ address: SocketAddress) {
        stopConnecting()
        times.connectEnd = MonotonicClock.now
        let connection = HTTPConnection(descriptor, to: address, key: key, times: times, engine: engine)
        self.connection = connection
        guard engine.loop.add(connection) else {
            return end(with: Fault(.outOfResources, "the connection could not be watched"))
        }
        steps = makeSteps()[...]
        if !steps.isEmpty { connection.attempt = self }
        startStep(on: connection)
    }

    private func makeSteps() -> [Step] {
        var steps: [Step] = []
        switch key.route?.proxy?.kind {
        case .https: steps.append(.proxyTLS(host: peer.host))
        case .socks5: steps += hostAddresses.isEmpty ? [.hostLookup, .socks] : [.socks]
        case .socks5h: steps.append(.socks)
        case .http, nil: break
        }
        if key.route?.isTunnel == true { steps.append(.tunnel) }
        if key.security != nil { steps.append(.hostTLS) }
        return steps
    }

    private func end(with fault: Fault) {
        connection?.close()
        engine.attemptFailed(self, fault)
    }

    /// Starts the next step, or ends the attempt.
    private func startStep(on connection: HTTPConnection) {
        guard let step = steps.first else {
            // The server may have closed the connection during the evaluation.
            let canReceiveFirst = key.purpose == .otherProtocol || key.version != .http1
            if hasWaited, canReceiveFirst ? connection.hasHungUp : !connection.isUsable() {
                (hasWaited, hostAddresses) = (false, [])
                return reconnect(connection)
            }
            (connection.times, connection.attempt) = (times, nil)
            return engine.attemptSucceeded(self, connection)
        }
        do throws(Fault) {
            switch step {
            case .proxyTLS(let host):
                connection.add(try engine.makeTLS(over: connection, toProxy: host), isToHost: false)
            case .hostLookup: return lookUp(key.route?.host ?? key.host)
            case .socks:
                negotiation = try key.route.map { route throws(Fault) in
                    try SOCKSNegotiation(
                        to: route.host.withoutZone, port: route.port, address: hostAddresses.popFirst(),
                        credential: route.proxy?.credential)
                }
            case .tunnel:
                negotiation = try key.route.map { route throws(Fault) in
                    try TunnelNegotiation(
                        to: route.host.withoutZone, port: route.port, authorization: route.proxyAuthorization)
                }
            case .hostTLS:
                (phase, times.secureStart) = (.tlsHandshake, MonotonicClock.now)
                connection.add(try engine.makeTLS(over: connection), isToHost: true)
            }
        } catch {
            return end(with: error)
        }
        proceed(on: connection)
    }

    private func finishStep(on connection: HTTPConnection) {
        steps = steps.dropFirst()
        startStep(on: connection)
    }

    /// Continues the current step as far as possible.
    func proceed(on connection: HTTPConnection) {
        guard let step = steps.first, evaluatedExchange == nil, !awaitsEvaluation else { return }
        do throws(Fault) {
            switch step {
            case .hostLookup: return
            case .socks, .tunnel:
                guard try negotiation?.proceed(on: connection.stream) == true else { return }
                times.connectEnd = MonotonicClock.now
            case .proxyTLS, .hostTLS:
                guard let tls = connection.outerTLS else { return }
                switch try tls.handshake() {
                case .wouldBlock:
                    if tls.canRead { connection.queueTurn() }
                    return
                case .undecided: return evaluateTrust(of: tls)
                case .done:
                    let now = MonotonicClock.now
                    if case .hostTLS = step { times.secureEnd = now } else { times.connectEnd = now }
                }
            }
        } catch {
            // If a SOCKS proxy could not connect to an address of the host, try the next address over a new connection.
            guard case .socks = step, !hostAddresses.isEmpty else { return end(with: error) }
            return reconnect(connection)
        }
        finishStep(on: connection)
    }

    /// Opens a new connection to the same address.
    private func reconnect(_ connection: HTTPConnection) {
        connection.close()
        self.connection = nil
        addresses = [connection.address]
        tryNext()
    }

    /// Evaluates the server's certificates for the first exchange that waits for the connection. The connect timeout keeps running.
    private func evaluateTrust(of tls: TLSStream) {
        hasWaited = true
        awaitsEvaluation = engine.isEvaluating(key)
        guard !awaitsEvaluation else { return }
        guard let evaluatedExchange = engine.firstWaiter(for: self), let security = key.security?.settings else {
            return engine.cancel(self)
        }
        self.evaluatedExchange = evaluatedExchange
        // Half of the remaining time can be spent waiting for a thread. The other half is for the evaluation.
        let end = evaluatedExchange.state.nextDeadline
        let timeLeft = Duration.nanoseconds(Int64(clamping: max(end, engine.loop.now) - engine.loop.now)) / 2
        evaluatedExchange.hop.run { [engine, undecided = tls.undecidedTrust] in
            let refusal = await evaluatedExchange.hop.refusal(of: undecided, under: security, waitingAtMost: timeLeft)
            engine.loop.post(.evaluated(self, for: evaluatedExchange, refusal))
        }
    }

    /// Receives the result of an evaluation.
    func receive(_ refusal: Fault?, for evaluatedExchange: HTTPExchange) {
        guard let connection, let tls = connection.tls, self.evaluatedExchange === evaluatedExchange else { return }
        self.evaluatedExchange = nil
        let chain = tls.presentedChain
        let isFinal = refusal.map { ![.cancelled, .timedOut, .outOfResources].contains($0.code) } ?? true
        if let refusal {
            connection.close()
            engine.attemptFailed(self, refusal, failing: evaluatedExchange, isForAll: isFinal)
        } else {
            tls.trustServer()
            proceed(on: connection)
        }
        engine.evaluationEnded(key, isFinal ? refusal : nil, of: chain)
    }

    /// Whether the server's certificates are being evaluated.
    var isEvaluating: Bool { evaluatedExchange != nil }

    /// Receives the result of another attempt's evaluation. If the same certificates were refused, this attempt fails too.
    func evaluationEnded(_ refusal: Fault?, of chain: PresentedChain) {
        guard awaitsEvaluation, let connection, let tls = connection.tls else { return }
        awaitsEvaluation = false
        if let refusal, tls.presentedChain.id == chain.id { end(with: refusal) } else { proceed(on: connection) }
    }

    /// Called when an exchange has stopped waiting. If its task was running the evaluation, another evaluation begins.
    func withdraw(_ exchange: HTTPExchange) {
        guard evaluatedExchange === exchange, let tls = connection?.tls else { return }
        let chain = tls.presentedChain
        evaluatedExchange = nil
        evaluateTrust(of: tls)
        if !isEvaluating { engine.evaluationEnded(key, nil, of: chain) }
    }
}

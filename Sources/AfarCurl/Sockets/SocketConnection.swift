import AfarTransport
import AfarTrust
import CLibcurl
import Foundation

/// A connection over a socket, with TLS or without.
final class SocketConnection: Connection {
    fileprivate struct State {
        var tls: TLSEngine?
        /// What is to be sent before anything else.
        var unsent: [UInt8] = []
        var unsentStart = 0
        var metrics: TransactionMetrics
        /// Bytes that arrived with the response's head.
        var unread = Data()
        /// Whether the peer has announced that nothing more comes.
        var isAtEnd = false
    }

    /// How often TLS is given more to read before others have their turn.
    private static let roundLimit = 64

    private let socket: WatchedSocket
    private let tls: TLSSettings
    private let owner: CurlTransport
    private let url: String
    private let peer: String?
    private let connectTimeout: TimeInterval
    private let state: Locked<State>

    init(
        _ socket: WatchedSocket, to target: ConnectionTarget, report: TransportReport, tls: TLSSettings,
        owner: CurlTransport
    ) {
        self.socket = socket
        self.tls = tls
        self.owner = owner
        url = target.description
        connectTimeout = target.options.connectTimeout
        let metrics = report.transactions.last ?? TransactionMetrics()
        peer = metrics.remoteAddress.map { HostName.authority($0, port: metrics.remotePort ?? 0) }
        state = Locked(State(metrics: metrics))
    }

    deinit { socket.close() }

    var metrics: TransactionMetrics { state.withLock { $0.metrics } }

    // MARK: Reading

    func read(atMost limit: Int, timeout: TimeInterval?) async throws -> Data {
        let deadline = timeout.map { ContinuousClock.now + Duration(timeout: $0) }
        while true {
            try checkCancellation()
            if let bytes = try state.withLock({ try receive(atMost: max(1, limit), &$0) }) { return bytes }
            try await wait(for: .reading, until: deadline, phase: .receiving)
        }
    }

    /// Puts bytes back, so that the next read returns them first.
    func putBack(_ bytes: Data) { state.withLock { $0.unread = bytes + $0.unread } }

    /// What has come; nil when nothing has.
    private func receive(atMost limit: Int, _ state: inout State) throws -> Data? {
        guard state.unread.isEmpty else {
            let bytes = Data(state.unread.prefix(limit))
            state.unread = Data(state.unread.dropFirst(limit))
            return bytes
        }
        guard !state.isAtEnd else { return Data() }
        let bytes = try withUnsafeTemporaryAllocation(byteCount: min(limit, 64 * 1024), alignment: 1) { buffer in
            try receive(into: buffer, &state).map { Data(UnsafeRawBufferPointer(rebasing: buffer[..<$0])) }
        }
        guard let bytes else { return nil }
        if bytes.isEmpty { state.isAtEnd = true }
        state.metrics.countOfResponseBodyBytesReceived += Int64(bytes.count)
        return bytes
    }

    private func receive(into buffer: UnsafeMutableRawBufferPointer, _ state: inout State) throws -> Int? {
        guard let tls = state.tls else { return try received(socket.receive(into: buffer), .receiving) }
        // What brings no bytes does not hold the lock for ever.
        for _ in 0..<Self.roundLimit {
            do {
                if let count = try tls.read(into: buffer) { return count }
            } catch {
                throw failure(error, .receiving)
            }
            // A message of the handshake may want an answer. What came before a connection broke is still read.
            let flushed = Result { try flush(&state, .receiving) }
            guard let count = try feed(tls, .receiving) else {
                try flushed.get()
                return nil
            }
            guard count > 0 else {
                throw failure(.connectionLost, .receiving, "the connection closed without TLS's end")
            }
        }
        return nil
    }

    /// Has TLS take what has come: how many bytes, nil when nothing has, 0 at the end.
    private func feed(_ tls: TLSEngine, _ phase: TransportError.Phase) throws -> Int? {
        try withUnsafeTemporaryAllocation(byteCount: 32 * 1024, alignment: 1) { buffer in
            guard let count = try received(socket.receive(into: buffer), phase) else { return nil }
            do { try tls.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])) } catch {
                throw failure(error, phase)
            }
            return count
        }
    }

    private func received(_ outcome: WatchedSocket.Outcome, _ phase: TransportError.Phase) throws -> Int? {
        switch outcome {
        case .bytes(let count): return count
        case .wouldBlock: return nil
        case .failed(let code): throw failure(code, phase)
        }
    }

    // MARK: Writing

    func write(_ bytes: Data, timeout: TimeInterval?) async throws {
        try checkCancellation()
        try state.withLock { state in
            state.metrics.countOfRequestBodyBytesSent += Int64(bytes.count)
            try bytes.withUnsafeBytes { bytes in
                guard let tls = state.tls else { return try send(bytes, &state) }
                do { try tls.write(bytes) } catch { throw failure(error, .sending) }
                try flush(&state, .sending)
            }
        }
        try await sendRest(timeout: timeout)
    }

    func finishWriting() async throws {
        try state.withLock { state in
            state.tls?.finishWriting()
            try flush(&state, .sending)
        }
        try await sendRest(timeout: connectTimeout)
        socket.finishWriting()
    }

    /// Waits until all has been taken.
    private func sendRest(timeout: TimeInterval?) async throws {
        var left = Int.max
        var deadline: ContinuousClock.Instant?
        while true {
            let count = try state.withLock { state in
                try flush(&state, .sending)
                return state.unsent.count - state.unsentStart
            }
            guard count > 0 else { return }
            try checkCancellation()
            if count < left { deadline = timeout.map { .now + Duration(timeout: $0) } }
            left = count
            try await wait(for: .writing, until: deadline, phase: .sending)
        }
    }

    /// Sends bytes that need no TLS; what the system does not take is kept.
    private func send(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws {
        try flush(&state, .sending)
        var count = 0
        if state.unsent.isEmpty {
            switch socket.send(bytes) {
            case .bytes(let sent): count = sent
            case .wouldBlock: break
            case .failed(let code): throw failure(code, .sending)
            }
        }
        if count < bytes.count { state.unsent.append(contentsOf: bytes[count...]) }
    }

    /// Sends what is to be sent, as far as the system takes it.
    private func flush(_ state: inout State, _ phase: TransportError.Phase) throws {
        if let output = state.tls?.takeOutput(), !output.isEmpty {
            if state.unsent.isEmpty { state.unsent = output } else { state.unsent += output }
        }
        while state.unsentStart < state.unsent.count {
            let outcome = state.unsent.withUnsafeBytes {
                socket.send(UnsafeRawBufferPointer(rebasing: $0[state.unsentStart...]))
            }
            switch outcome {
            case .bytes(let sent): state.unsentStart += sent
            case .wouldBlock: return
            case .failed(let code): throw reasonToClose(state) ?? failure(code, phase)
            }
        }
        (state.unsent, state.unsentStart) = ([], 0)
    }

    // MARK: TLS

    /// Why the peer has closed a secured connection, if it has said so before.
    private func reasonToClose(_ state: State) -> TransportError? {
        guard let tls = state.tls else { return nil }
        do {
            for _ in 0..<Self.roundLimit { guard let count = try feed(tls, .receiving), count > 0 else { break } }
        } catch {
            return nil
        }
        do {
            try tls.look()
            return nil
        } catch {
            return failure(error, .receiving)
        }
    }

    func startTLS(to target: ConnectionTarget) async throws {
        guard state.withLock({ $0.tls == nil }) else {
            throw failure(.invalidUse, .tlsHandshake, "the connection is secured already")
        }
        // Read later, they would be taken for bytes that came over TLS.
        guard state.withLock({ $0.unread.isEmpty }) else {
            throw failure(.secureConnectionFailed, .tlsHandshake, "bytes that came before TLS have not been read")
        }
        let engine: TLSEngine
        do { engine = try TLSEngine(target, tls) } catch { throw failure(error, .tlsHandshake) }
        // Handed over: from here on it is touched under the lock only.
        nonisolated(unsafe) let handed = engine
        state.withLock { state in
            state.metrics.secureConnectionStartDate = Date()
            state.tls = handed
        }
        do {
            try await secure(target)
        } catch {
            // Nobody is to go on with it, secured by halves.
            socket.close()
            throw error
        }
    }

    private func secure(_ target: ConnectionTarget) async throws {
        let deadline = ContinuousClock.now + Duration(timeout: target.options.connectTimeout)
        var isAccepted = false
        while true {
            try checkCancellation()
            switch try state.withLock({ try shakeHands(&$0) }) {
            case .isDone:
                if !isAccepted { try await decide(on: target) }
                return state.withLock { $0.noteAgreement() }
            case .needsDecision:
                try await decide(on: target)
                isAccepted = true
            case .needsInput: try await wait(for: .reading, until: deadline, phase: .tlsHandshake)
            }
        }
    }

    private func shakeHands(_ state: inout State) throws -> TLSEngine.Progress {
        guard let tls = state.tls else { return .isDone }
        while true {
            let progress: TLSEngine.Progress
            do { progress = try tls.handshake() } catch {
                // The peer is told why.
                try? flush(&state, .tlsHandshake)
                throw failure(error, .tlsHandshake)
            }
            try flush(&state, .tlsHandshake)
            guard case .needsInput = progress, let count = try feed(tls, .tlsHandshake) else { return progress }
            guard count > 0 else {
                throw failure(
                    .secureConnectionFailed, .tlsHandshake, "the server closed the connection in the handshake")
            }
        }
    }

    /// Has it decided whether the server is the right one.
    private func decide(on target: ConnectionTarget) async throws {
        let chain = state.withLock { $0.tls?.connection?.presentedChain }
        guard let chain else { return }
        let undecided = UndecidedTrust(chain, authorities: tls.authorities)
        do {
            if let decide = target.decide {
                try await decide(undecided)
            } else if let security = target.options.security, security.evaluation != nil {
                guard security.accepts(chain) else { throw undecided }
            } else {
                let trust = try undecided.trust(ofHost: target.host)
                try trust.validate()
                try trust.validateHost(target.host)
            }
        } catch {
            throw refusal(error)
        }
        state.withLock { $0.tls?.acceptServer() }
    }

    private func refusal(_ error: any Error) -> TransportError {
        if let error = error as? TransportError { return error }
        let message =
            if error is UndecidedTrust { "nobody has decided on the server's certificates" } else { "\(error)" }
        var refusal = failure(
            (error as? ServerTrustError)?.code.transportCode ?? .certificateUntrusted, .tlsHandshake, message)
        refusal.underlying = error
        return refusal
    }

    // MARK: The end

    func close() {
        state.withLock { state in
            state.tls?.finishWriting()
            try? flush(&state, .sending)
        }
        socket.close()
    }

    // MARK: Waiting and failing

    private func wait(
        for direction: WatchedSocket.Direction, until deadline: ContinuousClock.Instant?, phase: TransportError.Phase
    ) async throws {
        if let deadline, deadline <= .now {
            throw failure(.timedOut, phase, "nothing happened on the connection for too long")
        }
        await socket.wait(for: direction, until: deadline)
    }

    private func checkCancellation() throws(TransportError) {
        if Task.isCancelled { throw failure(.cancelled, .receiving, "the task was cancelled") }
    }

    private func failure(_ code: Int32, _ phase: TransportError.Phase) -> TransportError {
        if code == ECANCELED { return failure(.cancelled, phase, "the connection was closed on this side") }
        var error = failure(.connectionLost, phase, "the connection broke")
        error.systemError = code
        return error
    }

    /// TLS went wrong.
    private func failure(_ error: any Error, _ phase: TransportError.Phase) -> TransportError {
        if let error = error as? TransportError { return error }
        let message = (error as? TLSEngine.Failure)?.message ?? "\(error)"
        return failure(CurlFailure(ofTLS: message).transportCode, phase, message)
    }

    private func failure(_ code: TransportError.Code, _ phase: TransportError.Phase, _ message: String)
        -> TransportError
    {
        TransportError(code, phase: phase, url: url, peer: peer, message: message)
    }
}

extension SocketConnection.State {
    /// The handshake is over.
    fileprivate mutating func noteAgreement() {
        metrics.secureConnectionEndDate = Date()
        metrics.connectEndDate = metrics.secureConnectionEndDate
        metrics.note(tls?.connection?.agreement)
    }
}

extension CurlFailure {
    /// What a failure of TLS is, by what OpenSSL says.
    fileprivate init(ofTLS message: String) {
        self.init(code: CURLE_SSL_CONNECT_ERROR, message: message, systemError: 0, verifyResult: 0, isConnected: true)
    }
}

import AfarTransport
import AfarTrust
import Foundation
import HTTPTypes

/// A connection for protocols other than HTTP, such as WebSocket.
///
/// Tasks read and write directly. They wait for the loop only if the socket would block.
final class RawConnection: Connection {
    private struct State {
        var metrics: TransactionMetrics
        /// Bytes that arrived with the head of a response.
        var unread: Data
        /// Bytes to send before any others.
        var unsent: [UInt8] = []
        var isSecure: Bool
        var isAtEnd = false
    }

    private let socket: any RawStream
    private let tls: TLSContext
    /// The transport. It is retained because its threads must run while the connection is used.
    private let owner: (any AnyObject & Sendable)?
    private let url: String
    private let peer: String?
    private let connectTimeout: TimeInterval
    private let state: Locked<State>

    init(
        _ socket: any RawStream, unread: [UInt8] = [], for hop: Hop, _ metrics: TransactionMetrics, isSecure: Bool,
        _ tls: TLSContext, owner: (any AnyObject & Sendable)?
    ) {
        (self.socket, self.tls, self.owner) = (socket, tls, owner)
        url = "\(isSecure ? "tls" : "tcp")://\(hop.exchange.request.authority ?? "")"
        peer = metrics.remoteAddress.map { HostName.authority($0, port: metrics.remotePort ?? 0) }
        connectTimeout = hop.exchange.options.connectTimeout
        var metrics = metrics
        metrics.countOfResponseBodyBytesReceived += Int64(unread.count)
        state = Locked(State(metrics: metrics, unread: Data(unread), isSecure: isSecure))
    }

    deinit { close() }

    var metrics: TransactionMetrics { state.withLock { $0.metrics } }

    // MARK: Reading

    func read(atMost limit: Int, timeout: TimeInterval?) async throws -> Data {
        let deadline = timeout.map { ContinuousClock.now + Duration(timeout: $0) }
        while true {
            try checkCancellation()
            if let bytes = try receive(atMost: max(1, limit)) { return bytes }
            try await wait(until: deadline, phase: .receiving, unless: { $0.canRead })
        }
    }

    /// Returns the bytes that have arrived. Returns nil if no bytes have arrived, and empty data at the end of the stream.
    private func receive(atMost limit: Int) throws -> Data? {
        let early = state.withLock { state -> Data? in
            guard state.unread.isEmpty else {
                let bytes = Data(state.unread.prefix(limit))
                state.unread = Data(state.unread.dropFirst(limit))
                return bytes
            }
            return state.isAtEnd ? Data() : nil
        }
        if let early { return early }
        let bytes = try withUnsafeTemporaryAllocation(byteCount: min(limit, 64 * 1024), alignment: 1) {
            buffer -> Data? in
            switch try stream(.receiving, { $0.read(into: buffer) }) {
            case .bytes(let count): return Data(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            case .wouldBlock: return nil
            case .end(let isClean):
                guard isClean else {
                    throw failure(
                        Fault(.connectionLost, "the connection closed without a TLS alert (close_notify)"), .receiving)
                }
                return Data()
            case .failed(let fault): throw failure(fault, .receiving)
            }
        }
        guard let bytes else { return nil }
        state.withLock { state in
            if bytes.isEmpty { state.isAtEnd = true }
            state.metrics.countOfResponseBodyBytesReceived += Int64(bytes.count)
        }
        return bytes
    }

    // MARK: Writing

    func write(_ bytes: Data, timeout: TimeInterval?) async throws {
        try checkCancellation()
        state.withLock { state in
            state.metrics.countOfRequestBodyBytesSent += Int64(bytes.count)
            state.unsent += bytes
        }
        try await sendRemaining(timeout: timeout)
    }

    func finishWriting() async throws {
        try await sendRemaining(timeout: connectTimeout)
        let deadline = ContinuousClock.now + Duration(timeout: connectTimeout)
        while try stream(.sending, { ($0 as? TLSStream)?.shutDown() == false }) {
            try checkCancellation()
            try await wait(until: deadline, phase: .sending, unless: { $0.canWrite })
        }
        socket.finishWriting()
    }

    /// Waits until all bytes have been sent. The timeout restarts whenever bytes are sent.
    private func sendRemaining(timeout: TimeInterval?) async throws {
        var left = Int.max
        var deadline: ContinuousClock.Instant?
        while true {
            let count = try flush()
            guard count > 0 else { return }
            try checkCancellation()
            if count < left { deadline = timeout.map { .now + Duration(timeout: $0) } }
            left = count
            try await wait(until: deadline, phase: .sending, unless: { $0.canWrite })
        }
    }

    /// Sends as many bytes as possible. Returns the number of remaining bytes.
    private func flush() throws -> Int {
        let fault = try stream(.sending) { stream in
            state.withLock { state -> Fault? in
                var sent = 0
                defer { state.unsent.removeFirst(sent) }
                while sent < state.unsent.count {
                    let result = state.unsent.withUnsafeBytes {
                        stream.write(UnsafeRawBufferPointer(rebasing: $0[sent...]))
                    }
                    switch result {
                    case .bytes(let count): sent += count
                    case .wouldBlock: return nil
                    case .end: return Fault(.connectionLost, "the peer has closed the connection")
                    case .failed(let fault): return fault
                    }
                }
                return nil
            }
        }
        if let fault { throw failure(reasonToClose() ?? fault, .sending) }
        return state.withLock { $0.unsent.count }
    }

    /// Returns the alert with which the peer closed a TLS connection, if the alert arrived before sending failed.
    private func reasonToClose() -> Fault? {
        socket.withStream { stream in
            socket.expectBytes()
            return (stream as? TLSStream)?.receivedAlert()
        } ?? nil
    }

    // MARK: TLS

    func startTLS(to target: ConnectionTarget) async throws {
        // The bytes of earlier writes must be sent before TLS starts.
        try await sendRemaining(timeout: target.options.connectTimeout)
        try state.withLock { state in
            guard !state.isSecure else {
                throw failure(Fault(.invalidUse, "the connection already uses TLS"), .tlsHandshake)
            }
            // TLS would mistake the unread bytes for its own.
            guard state.unread.isEmpty else {
                let problem = "bytes received from \(target.host) before TLS haven't been read"
                throw failure(
                    Fault(.secureConnectionFailed, "\(problem). Read them before you start TLS"), .tlsHandshake)
            }
            state.isSecure = true
            state.metrics.secureConnectionStartDate = Date()
        }
        do {
            try tls.prepare(isEvaluated: target.options.security?.evaluation != nil)
            try socket.add { lower in
                try TLSStream(
                    over: lower, to: target.host, minimumVersion: target.options.minimumTLSVersion,
                    target.options.security, tls, applicationProtocols: target.applicationProtocols)
            }
            try await performHandshake(with: target)
        } catch {
            // A connection whose handshake has failed can't be used.
            socket.close { _ in }
            throw (error as? Fault).map { failure($0, .tlsHandshake) } ?? error
        }
    }

    private func performHandshake(with target: ConnectionTarget) async throws {
        let deadline = ContinuousClock.now + Duration(timeout: target.options.connectTimeout)
        while true {
            try checkCancellation()
            let (isDone, undecided, agreement) = try stream(.tlsHandshake) { stream in
                guard let tls = stream as? TLSStream else {
                    return (true, nil as UndecidedTrust?, nil as TLSAgreement?)
                }
                switch try tls.handshake() {
                case .done: return (true, nil, tls.agreement)
                case .wouldBlock: return (false, nil, nil)
                case .undecided: return (false, tls.undecidedTrust, nil)
                }
            }
            if isDone {
                return state.withLock { state in
                    state.metrics.secureConnectionEndDate = Date()
                    state.metrics.connectEndDate = state.metrics.secureConnectionEndDate
                    state.metrics.note(agreement)
                }
            }
            if let undecided {
                try await decide(on: undecided, of: target)
                _ = socket.withStream { ($0 as? TLSStream)?.trustServer() }
            } else {
                try await wait(until: deadline, phase: .tlsHandshake) { $0.canRead }
            }
        }
    }

    private func decide(on undecided: UndecidedTrust, of target: ConnectionTarget) async throws {
        do {
            guard let decide = target.decide else { throw undecided }
            try await decide(undecided)
        } catch let error as TransportError {
            throw error
        } catch {
            let code = (error as? ServerTrustError)?.code.transportCode ?? .certificateUntrusted
            let message =
                error is UndecidedTrust ? "the server's certificates were not evaluated" : "\(error)"
            throw failure(Fault(code, message, underlying: error), .tlsHandshake)
        }
    }

    // MARK: The end

    func close() {
        socket.close { stream in
            state.withLock { state in
                if !state.unsent.isEmpty { _ = state.unsent.withUnsafeBytes { stream.write($0) } }
            }
            (stream as? TLSStream)?.shutDown()
        }
    }

    // MARK: Waiting and failing

    private func stream<Value: Sendable>(
        _ phase: TransportError.Phase, _ body: (any ByteStream) throws -> Value
    ) throws -> Value {
        guard let value = try socket.withStream(body) else {
            throw failure(Fault(.cancelled, "the connection was closed locally"), phase)
        }
        return value
    }

    private func wait(
        until deadline: ContinuousClock.Instant?, phase: TransportError.Phase,
        unless isPossible: (any ByteStream) -> Bool
    ) async throws {
        if let deadline, deadline <= .now {
            throw failure(Fault(.timedOut, "no data was transferred before the timeout"), phase)
        }
        await socket.wait(until: deadline, unless: isPossible)
    }

    private func checkCancellation() throws(TransportError) {
        if Task.isCancelled { throw failure(Fault(.cancelled, "the task was cancelled"), .receiving) }
    }

    private func failure(_ fault: Fault, _ phase: TransportError.Phase) -> TransportError {
        TransportError(fault, phase: phase, url: url, peer: peer)
    }
}

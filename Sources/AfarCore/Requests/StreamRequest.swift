public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request that opens a TCP connection, with or without TLS, to read and write bytes. It doesn't use HTTP.
///
/// ```swift
/// let connection = AF.stream(withHostName: "example.com", port: 7)
/// try await connection.write(Data("hello".utf8))
/// let (echo, _) = try await connection.readData(ofMinLength: 5, maxLength: 1024)
/// connection.close()
/// ```
///
/// The connection uses the session's proxies, server trust evaluators and client identities. Reads run in the order of their
/// calls, and writes run in the order of theirs. The first read or write starts the request, unless automatic starting is
/// turned off. The request finishes when ``close()`` or `cancel()` is called, or when the connection is lost.
public final class StreamRequest: Request, @unchecked Sendable {
    // Sendable: locks protect its state.

    /// The requested host: a name or an IP address.
    public let hostName: String
    /// The requested port.
    public let port: Int
    private let connection = ConnectionSink()
    private let reads = Locked(Reads())
    private let reading = CallbackLock()
    private let writing = CallbackLock()

    private struct Reads {
        var isReadingClosed = false
        /// The bytes that a failed read had received. The next read returns them.
        var unread = Data()
    }

    init(
        hostName: String, port: Int, isSecure: Bool, session: SessionState, interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?
    ) {
        (self.hostName, self.port) = (hostName, port)
        super.init(
            convertible: StreamAddress(host: hostName, port: port, isSecure: isSecure), sink: connection,
            session: session, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    // MARK: The request

    private func openConnection() async throws -> any Connection {
        startIfAutomatic()
        let opened = Deferred<(any Connection)?>()
        connection.pendingConnection.whenOpen { opened.fulfill($0) }
        let connection = await opened.value(ifCancelled: nil)
        guard let connection, !Task.isCancelled else {
            throw error
                ?? TransportError(
                    .cancelled, phase: .queued, url: nil,
                    message: Task.isCancelled ? "the task was cancelled" : "the connection to \(hostName) is closed")
        }
        return connection
    }

    /// Runs an operation after all earlier operations. Then enqueues a closure on a queue, before the next operation runs.
    private func perform<Value: Sendable>(
        _ turns: [Turn], on queue: DispatchQueue,
        _ operation: @escaping @Sendable (any Connection) async throws -> Value,
        then completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await run(after: turns, operation)) } catch { result = .failure(error) }
            queue.async { completion(result) }
            for turn in turns { turn.end() }
        }
    }

    /// Runs an operation after all earlier operations.
    private func perform<Value: Sendable>(
        _ turns: [Turn], _ operation: (any Connection) async throws -> Value
    ) async throws -> Value {
        defer { for turn in turns { turn.end() } }
        return try await run(after: turns, operation)
    }

    private func run<Value: Sendable>(
        after turns: [Turn], _ operation: (any Connection) async throws -> Value
    ) async throws -> Value {
        for turn in turns { await turn.wait() }
        let connection = try await openConnection()
        do {
            return try await operation(connection)
        } catch {
            // A timeout or cancellation doesn't affect the connection.
            if !Task.isCancelled, (error as? TransportError)?.code != .timedOut {
                self.connection.closed.fulfill(.failure(error))
            }
            throw error
        }
    }

    // MARK: Reading

    /// Reads bytes.
    ///
    /// - Parameters:
    ///   - minBytes: The number of bytes to wait for. At the end of the stream, fewer can be returned.
    ///   - maxBytes: The maximum number of bytes to return.
    ///   - timeout: The maximum time to wait for more data, in seconds. The default is 0, which means no limit. After a timeout,
    ///     the next read returns the bytes that arrived before the timeout.
    /// - Returns: The bytes, or nil if none remain, and a Boolean value that indicates whether the stream has ended.
    /// - Throws: The request's `AFError` if the connection isn't open. A `TransportError` if the connection is lost.
    public func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval = 0
    ) async throws -> (Data?, Bool) {
        try await perform([Turn(reading)]) { try await read(minBytes, maxBytes, timeout, over: $0) }
    }

    /// Reads bytes, then calls a closure with the bytes, a Boolean value that indicates whether the stream has ended, and the
    /// error. The closure is called on the main queue by default. A timeout of 0 means no limit.
    @preconcurrency
    public func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval, queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        perform([Turn(reading)], on: queue) { [self] connection in
            try await read(minBytes, maxBytes, timeout, over: connection)
        } then: { result in
            switch result {
            case .success((let data, let isAtEnd)): completionHandler(data, isAtEnd, nil)
            case .failure(let error): completionHandler(nil, false, error)
            }
        }
    }

    private func read(
        _ minBytes: Int, _ maxBytes: Int, _ timeout: TimeInterval, over connection: any Connection
    ) async throws -> (Data?, Bool) {
        let maximum = max(1, maxBytes)
        var data = takeUnread(maximum)
        do {
            while data.count < min(max(1, minBytes), maximum) {
                guard !reads.withLock({ $0.isReadingClosed }) else { return (data.isEmpty ? nil : data, true) }
                let part = try await connection.read(
                    atMost: maximum - data.count, timeout: timeout > 0 ? timeout : nil)
                guard !part.isEmpty else { return (data.isEmpty ? nil : data, true) }
                if data.isEmpty { data = part } else { data.append(part) }
            }
        } catch {
            reads.withLock { [data] in $0.unread = data + $0.unread }
            throw error
        }
        return (data, false)
    }

    /// Removes and returns at most this number of the bytes that a failed read had received.
    private func takeUnread(_ maximum: Int) -> Data {
        reads.withLock { state in
            let data = state.unread.prefix(maximum)
            state.unread = Data(state.unread.dropFirst(maximum))
            return Data(data)
        }
    }

    // MARK: Writing

    /// Writes bytes. The method returns after the system has accepted them, so a slow peer slows down the writer.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - timeout: The maximum time to wait until the system accepts more bytes, in seconds. The default is 0, which means no
    ///     limit.
    /// - Throws: The request's `AFError` if the connection isn't open. A `TransportError` if the connection is lost.
    public func write(_ data: Data, timeout: TimeInterval = 0) async throws {
        try await perform([Turn(writing)]) { try await $0.write(data, timeout: timeout > 0 ? timeout : nil) }
    }

    /// Writes bytes and calls a closure with the error, or with nil after the system has accepted the bytes. The closure is
    /// called on the main queue by default. A timeout of 0 means no limit.
    @preconcurrency
    public func write(
        _ data: Data, timeout: TimeInterval, queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        perform([Turn(writing)], on: queue) { connection in
            try await connection.write(data, timeout: timeout > 0 ? timeout : nil)
        } then: { result in
            if case .failure(let error) = result { completionHandler(error) } else { completionHandler(nil) }
        }
    }

    // MARK: TLS and closing

    /// Starts TLS after all earlier reads and writes have finished.
    ///
    /// - Parameter peerName: The host name that the certificate must match. The default is nil, which uses ``hostName``.
    /// - Throws: The request's `AFError` if the connection isn't open. A `TransportError` if TLS can't be established. This
    ///   failure also ends the request.
    public func startSecureConnection(expecting peerName: String? = nil) async throws {
        try await secure(expecting: peerName, turnsForBoth())
    }

    /// Starts TLS after all earlier reads and writes have finished. Later reads and writes wait, and fail if TLS can't be
    /// established.
    @_disfavoredOverload
    public func startSecureConnection() {
        let turns = turnsForBoth()
        Task { try await secure(expecting: nil, turns) }
    }

    /// Requests the turns for reading and writing under one lock. Without this lock, two callers could deadlock, because each
    /// could hold one of the turns.
    private func turnsForBoth() -> [Turn] { reads.withLock { _ in [Turn(reading), Turn(writing)] } }

    private func secure(expecting peerName: String?, _ turns: [Turn]) async throws {
        defer { for turn in turns { turn.end() } }
        do {
            try await run(after: turns) { connection in
                try await secure(connection, expecting: peerName ?? hostName)
            }
        } catch {
            // Close the connection before the next read or write starts, so that no later write is sent without TLS.
            self.connection.pendingConnection.connection?.close()
            self.connection.closed.fulfill(.failure(error))
            throw error
        }
    }

    private func secure(_ connection: any Connection, expecting host: String) async throws {
        // A later read would return unread, unencrypted bytes as data received over TLS.
        guard reads.withLock({ $0.unread.isEmpty }) else {
            throw TransportError(
                .secureConnectionFailed, phase: .tlsHandshake, url: nil,
                message: "bytes received from \(hostName) before TLS haven't been read. Read them before you start TLS")
        }
        var target = ConnectionTarget(
            host: HostName(host).text, port: port, isSecure: true, options: try stack.options.get())
        options.apply(to: &target.options)
        try await stack.security.secure(&target, asking: serverTrustHandler)
        try await connection.startTLS(to: target)
    }

    /// After all earlier writes, notifies the peer that no more data follows. Reading remains possible.
    public func closeWrite() {
        let turn = Turn(writing)
        Task { try await perform([turn]) { try await $0.finishWriting() } }
    }

    /// Stops reading. Later reads return the end of the stream.
    public func closeRead() { reads.withLock { $0.isReadingClosed = true } }

    /// Closes the connection after all earlier writes. The request finishes without an error. If the request hasn't started, it
    /// is canceled.
    public func close() {
        guard !isInitialized else {
            cancel()
            return
        }
        let turn = Turn(writing)
        Task {
            try? await perform([turn]) { try await $0.finishWriting() }
            self.connection.closed.fulfill(.success(()))
        }
    }
}

/// A position in the queue of a lock.
private final class Turn: Sendable {
    private struct State {
        var isAcquired = false
        var isEnded = false
    }

    private let lock: CallbackLock
    private let acquired = Deferred<Void>()
    private let state = Locked(State())

    init(_ lock: CallbackLock) {
        self.lock = lock
        lock.lock { [self] in
            let isEnded = state.withLock { state in
                state.isAcquired = true
                return state.isEnded
            }
            // Unlocks asynchronously, because unlocking directly would recurse for many abandoned turns.
            if isEnded { DispatchQueue.global().async { lock.unlock() } } else { acquired.fulfill(()) }
        }
    }

    /// Waits until the lock is acquired or the task is canceled.
    func wait() async { await acquired.value(ifCancelled: ()) }

    /// Releases the lock, or skips this turn if the lock hasn't been acquired yet.
    func end() {
        let isAcquired = state.withLock { state in
            state.isEnded = true
            return state.isAcquired
        }
        if isAcquired { lock.unlock() }
    }
}

struct StreamAddress: URLRequestConvertible {
    /// The HTTP scheme that an exchange uses for each scheme of a stream.
    static let httpSchemes = ["tcp": "http", "tls": "https"]

    let host: String
    let port: Int
    let isSecure: Bool

    func asURLRequest() throws -> URLRequest {
        let invalid = AFError.invalidURL(url: "\(isSecure ? "tls" : "tcp")://\(host):\(port)")
        // `URLComponents` traps on a negative port.
        guard (1...65_535).contains(port), !host.isEmpty else { throw invalid }
        var components = URLComponents()
        components.scheme = isSecure ? "tls" : "tcp"
        components.host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        components.port = port
        guard let url = components.url else { throw invalid }
        return URLRequest(url: url)
    }
}

extension SessionSecurity {
    /// Sets the client's identity for a host and the evaluator of the host's certificates.
    fileprivate func secure(
        _ target: inout ConnectionTarget, asking handler: ServerTrustHandler?
    ) async throws {
        let found: Result<ConnectionSecurity?, any Error> =
            switch self.security(forHost: target.host, hasLeftOrigin: false, requiresDecision: handler != nil) {
            case .now(let result): result
            case .wait(let work): await work()
            }
        guard let security = try found.get() else { return }
        target.options.security = security
        guard security.evaluation != nil else { return }
        target.decide = { [target] undecided in
            let decision = await security.decide(
                on: undecided, ofHost: target.host, port: target.port, handler: handler,
                within: Duration(timeout: target.options.totalTimeout), waitingAtMost: target.options.longestWait)
            switch decision {
            case .accepted: return
            case .refused(let error as NoTrustDecision):
                throw TransportError(
                    error.code, phase: .tlsHandshake, url: target.description, message: error.description)
            case .refused(let error): throw error
            case .abandoned: throw CancellationError()
            }
        }
    }
}

public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A connection of TCP, with TLS or without, over which bytes go both ways: nothing of HTTP about it.
///
/// ```swift
/// let connection = AF.stream(withHostName: "example.com", port: 7)
/// try await connection.write(Data("hello".utf8))
/// let (echo, _) = try await connection.readData(ofMinLength: 5, maxLength: 1024)
/// connection.close()
/// ```
///
/// It goes through the session's proxies, and is secured under its trust and with its identities. Reads are served in the order
/// in which they were asked for, and so are writes. The first of them starts the request, if handlers start requests
/// in the session. The request is over when ``close()`` or `cancel()` was called, or when the connection breaks.
public final class StreamRequest: Request, @unchecked Sendable {
    // Sendable because what it adds is behind a lock.

    /// The host that was asked for: a name or an address.
    public let hostName: String
    /// The port that was asked for.
    public let port: Int
    private let connection = ConnectionSink()
    private let reads = Locked(Reads())
    private let reading = CallbackLock()
    private let writing = CallbackLock()

    private struct Reads {
        var isReadingClosed = false
        /// What came for a read that failed.
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

    /// The connection, once it is there.
    private func opened() async throws -> any Connection {
        startIfHandlersDo()
        let opened = Deferred<(any Connection)?>()
        connection.pendingConnection.whenOpen { opened.fulfil($0) }
        let connection = await withTaskCancellationHandler {
            await opened.value
        } onCancel: {
            opened.fulfil(nil)
        }
        guard let connection, !Task.isCancelled else {
            throw error
                ?? TransportError(
                    .cancelled, phase: .queued, url: nil,
                    message: Task.isCancelled ? "the task was cancelled" : "the connection to \(hostName) is closed")
        }
        return connection
    }

    /// Runs an operation when its turn has come, after those that were asked for before, and calls back on a queue before the
    /// next one's turn.
    private func perform<Value: Sendable>(
        _ turns: [Turn], on queue: DispatchQueue,
        _ operation: @escaping @Sendable (any Connection) async throws -> Value,
        then completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await waiting(for: turns, operation)) } catch { result = .failure(error) }
            queue.async { completion(result) }
            for turn in turns { turn.end() }
        }
    }

    /// Runs an operation when its turn has come: after those that were asked for before.
    private func perform<Value: Sendable>(
        _ turns: [Turn], _ operation: (any Connection) async throws -> Value
    ) async throws -> Value {
        defer { for turn in turns { turn.end() } }
        return try await waiting(for: turns, operation)
    }

    private func waiting<Value: Sendable>(
        for turns: [Turn], _ operation: (any Connection) async throws -> Value
    ) async throws -> Value {
        for turn in turns { await turn.wait() }
        let connection = try await opened()
        do {
            return try await operation(connection)
        } catch {
            // What is out of time, or not wanted any more, leaves the connection as it is.
            if !Task.isCancelled, (error as? TransportError)?.code != .timedOut {
                self.connection.closed.fulfil(.failure(error))
            }
            throw error
        }
    }

    // MARK: Reading

    /// Reads bytes.
    ///
    /// - Parameters:
    ///   - minBytes: How many to wait for; at the end of the stream there may be fewer.
    ///   - maxBytes: How many to return at most.
    ///   - timeout: How long nothing may come, in seconds; 0, which is the default, waits as long as it takes. What came
    ///     before it passed is for the next read.
    /// - Returns: The bytes, nil when there are none any more; and whether the stream is at its end.
    /// - Throws: The request's `AFError` when there is no connection, a `TransportError` when it breaks.
    public func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval = 0
    ) async throws -> (Data?, Bool) {
        try await perform([Turn(reading)]) { try await read(minBytes, maxBytes, timeout, over: $0) }
    }

    /// Reads bytes, and calls back.
    ///
    /// - Parameters:
    ///   - minBytes: How many to wait for; at the end of the stream there may be fewer.
    ///   - maxBytes: How many to return at most.
    ///   - timeout: How long nothing may come, in seconds; 0 waits as long as it takes.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - completionHandler: Called once: with the bytes, whether the stream is at its end, and what went wrong.
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

    /// What a read that failed has left.
    private func takeUnread(_ maximum: Int) -> Data {
        reads.withLock { state in
            let data = state.unread.prefix(maximum)
            state.unread = Data(state.unread.dropFirst(maximum))
            return Data(data)
        }
    }

    // MARK: Writing

    /// Writes bytes; returns when the system has taken them, so that a slow peer holds the writer back.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - timeout: How long none of them may be taken, in seconds; 0, which is the default, waits as long as it takes.
    /// - Throws: The request's `AFError` when there is no connection, a `TransportError` when it breaks.
    public func write(_ data: Data, timeout: TimeInterval = 0) async throws {
        try await perform([Turn(writing)]) { try await $0.write(data, timeout: timeout > 0 ? timeout : nil) }
    }

    /// Writes bytes, and calls back.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - timeout: How long none of them may be taken, in seconds; 0 waits as long as it takes.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - completionHandler: Called once: with what went wrong, nil when the system has taken the bytes.
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

    // MARK: TLS and the end

    /// Secures the connection, when all that was asked for before has been read and written.
    ///
    /// - Parameter peerName: Whose certificates are expected; nil, which is the default, for ``hostName``.
    /// - Throws: The request's `AFError` when there is no connection, a `TransportError` when it cannot be secured. The request is
    ///   over then.
    public func startSecureConnection(expecting peerName: String? = nil) async throws {
        try await secure(expecting: peerName, turnsForBoth())
    }

    /// Secures the connection, when all that was asked for before has been read and written. What is asked for later waits; it
    /// fails when the connection cannot be secured.
    @_disfavoredOverload
    public func startSecureConnection() {
        let turns = turnsForBoth()
        Task { try await secure(expecting: nil, turns) }
    }

    /// In one step, or two who ask for both would wait for each other.
    private func turnsForBoth() -> [Turn] { reads.withLock { _ in [Turn(reading), Turn(writing)] } }

    private func secure(expecting peerName: String?, _ turns: [Turn]) async throws {
        defer { for turn in turns { turn.end() } }
        do {
            try await waiting(for: turns) { connection in
                try await secure(connection, expecting: peerName ?? hostName)
            }
        } catch {
            // Before others have their turn: what they write was to be secured.
            self.connection.pendingConnection.connection?.close()
            self.connection.closed.fulfil(.failure(error))
            throw error
        }
    }

    private func secure(_ connection: any Connection, expecting host: String) async throws {
        // Read later, it would be taken for what came over TLS.
        guard reads.withLock({ $0.unread.isEmpty }) else {
            throw TransportError(
                .secureConnectionFailed, phase: .tlsHandshake, url: nil,
                message: "bytes that came from \(hostName) before TLS have not been read")
        }
        var target = ConnectionTarget(
            host: HostName(host).text, port: port, isSecure: true, options: try stack.options.get())
        options.apply(to: &target.options)
        try await stack.security.secure(&target, asking: serverTrustHandler)
        try await connection.startTLS(to: target)
    }

    /// Tells the peer that nothing more comes, after all that was written before. Reading goes on.
    public func closeWrite() {
        let turn = Turn(writing)
        Task { try await perform([turn]) { try await $0.finishWriting() } }
    }

    /// Nothing is read any more: reads from now on find the end.
    public func closeRead() { reads.withLock { $0.isReadingClosed = true } }

    /// Closes the connection, after all that was written before. The request ends without an error. One that was not started
    /// is cancelled.
    public func close() {
        guard !isInitialized else {
            cancel()
            return
        }
        let turn = Turn(writing)
        Task {
            try? await perform([turn]) { try await $0.finishWriting() }
            self.connection.closed.fulfil(.success(()))
        }
    }
}

/// A place in a line.
private final class Turn: Sendable {
    private struct Reads {
        var hasCome = false
        var isOver = false
    }

    private let lock: CallbackLock
    private let come = Deferred<Void>()
    private let reads = Locked(Reads())

    init(_ lock: CallbackLock) {
        self.lock = lock
        lock.lock { [self] in
            let isOver = reads.withLock { state in
                state.hasCome = true
                return state.isOver
            }
            // Many may have given up, and each would call the next one's.
            if isOver { DispatchQueue.global().async { lock.unlock() } } else { come.fulfil(()) }
        }
    }

    /// Returns when the turn has come, or the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await come.value
        } onCancel: { [come] in
            come.fulfil(())
        }
    }

    /// Gives the place up, whether the turn has come or not.
    func end() {
        let hasCome = reads.withLock { state in
            state.isOver = true
            return state.hasCome
        }
        if hasCome { lock.unlock() }
    }
}

/// Where a stream goes, as a `URLRequest`.
struct StreamAddress: URLRequestConvertible {
    /// The schemes of the exchanges that stand for streams.
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
    /// Fills in who the client is to a host, and who decides on its certificates.
    fileprivate func secure(
        _ target: inout ConnectionTarget, asking handler: ServerTrustHandler?
    ) async throws {
        let found: Result<ConnectionSecurity?, any Error> =
            switch self.security(forHost: target.host, hasLeftOrigin: false, isDecided: handler != nil) {
            case .now(let result): result
            case .wait(let work): await work()
            }
        guard let security = try found.get() else { return }
        target.options.security = security
        guard security.evaluation != nil else { return }
        target.decide = { [target] undecided in
            let decision = await security.decide(
                on: undecided, ofHost: target.host, port: target.port, asking: handler,
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

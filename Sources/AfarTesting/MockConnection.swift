import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The client's end of a WebSocket connection in memory. The frames of the client are parsed when they are written.
final class MockConnection: Connection {
    private let pipe: MockPipe
    private let url: String

    init(_ pipe: MockPipe, url: String) { (self.pipe, self.url) = (pipe, url) }

    deinit { close() }

    var metrics: TransactionMetrics { pipe.change { $0.metrics } }

    func read(atMost limit: Int, timeout: TimeInterval?) async throws -> Data {
        let deadline = timeout.map { .now + Duration.seconds($0 < 1e9 ? max($0, 0) : 1e9) } as ContinuousClock.Instant?
        do {
            return try await pipe.wait(until: deadline) { pipe in
                guard !pipe.isClosedByClient else { throw Self.closed }
                return try pipe.takeOutput(atMost: max(limit, 1))
            }
        } catch {
            throw failure(error, .receiving)
        }
    }

    func write(_ bytes: Data, timeout: TimeInterval?) async throws {
        do {
            try pipe.change { pipe in
                guard !pipe.isClosedByClient else { throw Self.closed }
                try pipe.receive(bytes)
            }
        } catch {
            throw failure(error, .sending)
        }
    }

    func finishWriting() async throws { pipe.change { $0.isEndedByClient = true } }

    func startTLS(to target: ConnectionTarget) async throws {
        throw failure(MockPipe.Failure(.invalidUse, "a mock connection doesn't support TLS"), .tlsHandshake)
    }

    func close() { pipe.change { ($0.isClosedByClient, $0.isEndedByClient) = (true, true) } }

    private static let closed = MockPipe.Failure(.cancelled, "the connection was closed locally")

    private func failure(_ error: any Error, _ phase: TransportError.Phase) -> any Error {
        guard let failure = error as? MockPipe.Failure else { return error }
        return TransportError(failure.code, phase: phase, url: url, message: failure.message)
    }
}

/// A WebSocket connection in memory, which the client and the server share. Tasks can wait for its changes.
final class MockPipe: Sendable {
    /// A failure whose phase and URL are added later.
    struct Failure: Error {
        let code: TransportError.Code
        let message: String

        init(_ code: TransportError.Code, _ message: String) { (self.code, self.message) = (code, message) }
    }

    /// The state of the connection.
    struct State {
        var metrics = TransactionMetrics()

        /// Whether the client has ended or closed the connection.
        var isEndedByClient = false
        var isClosedByClient = false
        private var frames = WebSocketFrames()
        /// The messages that the server hasn't received yet.
        var messages: ArraySlice<URLSessionWebSocketTask.Message> = []
        /// The payloads of the pongs that have arrived.
        var pongs: Set<Data> = []
        /// The code of the client's close frame.
        var clientCode: WebSocketCloseCode?

        /// The bytes that the client hasn't read yet.
        private var output = Data()
        private(set) var hasSentClose = false
        /// The end of the server's byte stream, or `nil` if the server can still send.
        private(set) var end: Result<Void, TransportError>?

        /// Whether the client sends no more messages.
        var hasClientLeft: Bool { clientCode != nil || isEndedByClient }

        // MARK: The client

        /// Returns bytes, empty data at the end, or `nil` if nothing has arrived.
        mutating func takeOutput(atMost limit: Int) throws -> Data? {
            guard output.isEmpty else {
                let bytes = Data(output.prefix(limit))
                output = Data(output.dropFirst(limit))
                metrics.countOfResponseBodyBytesReceived += Int64(bytes.count)
                return bytes
            }
            return try end.map { end in
                try end.get()
                return Data()
            }
        }

        mutating func receive(_ bytes: Data) throws {
            guard end == nil else { throw Failure(.connectionLost, "the server has closed the connection") }
            metrics.countOfRequestBodyBytesSent += Int64(bytes.count)
            frames.append(bytes)
            do {
                // Frames after a close frame are ignored (RFC 6455, section 5.5.1).
                while clientCode == nil, let event = try frames.next() { receive(event) }
            } catch {
                isEndedByClient = true
                throw Failure(.invalidUse, "the client violated the WebSocket protocol: \(error.description)")
            }
        }

        private mutating func receive(_ event: WebSocketFrames.Event) {
            switch event {
            case .message(let message): if !hasSentClose { messages.append(message) }
            case .ping(let payload): if !hasSentClose { output += WebSocketFrames.pong(payload) }
            case .pong(let payload): pongs.insert(payload)
            case .close(let code): clientCode = code
            }
        }

        // MARK: The server

        /// The number of unread bytes at which the server waits.
        private static let capacity = 256 * 1024

        /// Sends frames unless the client has many unread bytes.
        ///
        /// - Returns: `nil` if nothing was sent.
        mutating func send(_ frames: Data) throws -> Void? {
            guard !hasSentClose, end == nil else { throw Failure(.invalidUse, "the server has closed the WebSocket") }
            guard !hasClientLeft else { throw Failure(.connectionLost, "the client has closed the WebSocket") }
            guard output.count < Self.capacity else { return nil }
            output += frames
            return ()
        }

        /// Sends a close frame, or answers the client's close frame. Messages that arrive later are ignored.
        mutating func sendClose(_ code: WebSocketCloseCode, reason: String) {
            guard !hasSentClose, end == nil else { return }
            hasSentClose = true
            messages = []
            output += WebSocketFrames.close(clientCode ?? code, reason: clientCode == nil ? reason : "")
        }

        /// Ends the server's byte stream. The client can still read the remaining bytes.
        mutating func finish(_ end: Result<Void, TransportError> = .success(())) {
            if self.end == nil { self.end = end }
        }
    }

    private struct Storage {
        var state = State()
        /// The number of changes.
        var version = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let storage = Locked(Storage())

    /// Changes the state and wakes the tasks that wait for a change.
    func change<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        var waiting: [CheckedContinuation<Void, Never>] = []
        defer { waiting.forEach { $0.resume() } }
        return try storage.withLock { storage in
            defer {
                storage.version += 1
                swap(&waiting, &storage.waiting)
            }
            return try body(&storage.state)
        }
    }

    /// Waits until a closure returns a value.
    ///
    /// - Parameters:
    ///   - deadline: The time when the wait fails, or `nil` for no limit.
    ///   - body: A closure that returns `nil`, and changes nothing, until the task can continue.
    /// - Throws: An error of the closure, or a ``Failure`` if the deadline passes or the task is canceled.
    func wait<Value>(
        until deadline: ContinuousClock.Instant? = nil, _ body: (inout State) throws -> Value?
    ) async throws -> Value {
        while true {
            let (value, version) = try storage.withLock { (try body(&$0.state), $0.version) }
            if let value {
                change { _ in }
                return value
            }
            if Task.isCancelled { throw Failure(.cancelled, "the task was cancelled") }
            if let deadline, deadline <= .now { throw Failure(.timedOut, "no data arrived before the timeout") }
            await waitForChange(after: version, until: deadline)
        }
    }

    private func waitForChange(after version: Int, until deadline: ContinuousClock.Instant?) async {
        let timer = deadline.map { deadline in
            let timer = DispatchSource.makeTimerSource()
            timer.setEventHandler { [weak self] in self?.change { _ in } }
            timer.schedule(deadline: .now() + max(0, ContinuousClock.now.duration(to: deadline) / .seconds(1)))
            timer.resume()
            return timer
        }
        defer { timer?.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = storage.withLock { storage in
                    guard storage.version == version, !Task.isCancelled else { return false }
                    storage.waiting.append(continuation)
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            change { _ in }
        }
    }
}

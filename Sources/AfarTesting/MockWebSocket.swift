public import AfarCore
import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// The server's side of a WebSocket that a ``MockTransport`` has accepted.
///
/// A script of ``Step``s is often sufficient. A closure can implement any server:
///
/// ```swift
/// Stub(.get, "/echo", .webSocket { socket in
///     while let message = try await socket.receive() { try await socket.send(message) }
/// })
/// ```
///
/// Pings of the client are answered automatically. Messages from the client are stored until ``receive()`` returns them. If the
/// client doesn't read, ``send(_:)`` waits.
public final class MockWebSocket: Sendable {
    /// The request that opened the WebSocket, including the values of the stub's placeholders.
    public let request: MockRequest
    private let delays: MockTransport.Delays
    private let pipe: MockPipe

    init(_ request: MockRequest, delays: MockTransport.Delays, over pipe: MockPipe) {
        (self.request, self.delays, self.pipe) = (request, delays, pipe)
    }

    /// Sends a message. A message of more than 16 KiB is sent in several frames. If more than 256 KiB are unread, this method first waits
    /// until the client reads.
    ///
    /// - Throws: A `TransportError` if either side has closed the WebSocket, or if the task is canceled.
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        try await write(WebSocketFrames.encode(message))
    }

    /// Returns the next message, or `nil` after the client has closed the WebSocket. Waits if no message has arrived.
    ///
    /// - Throws: A `TransportError` if the client ends the connection without closing the WebSocket, or if the task is canceled.
    public func receive() async throws -> URLSessionWebSocketTask.Message? {
        switch try await next() {
        case .message(let message): return message
        case .closed: return nil
        case .lost: throw failure(.connectionLost, "the client has ended the connection")
        }
    }

    /// Performs the steps of a script in order.
    ///
    /// If the client closes the WebSocket or ends the connection, delays end, and steps that send do nothing. Steps that expect something
    /// still receive earlier messages. Then the method throws an error.
    ///
    /// - Throws: A `TransportError`. If the client sends something unexpected, the error's code is
    ///   ``TransportError/Code-swift.struct/invalidUse``, and the error's text contains the expected and the received message.
    public func perform(_ steps: Step...) async throws { try await perform(steps) }

    func perform(_ steps: [Step]) async throws {
        var failure: (any Error)?
        for step in steps {
            do { try await step.action(self) } catch {
                let isMistake = (error as? TransportError)?.code == .invalidUse
                guard !isMistake, pipe.change({ $0.hasClientLeft }) else { throw error }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}

// MARK: - Scripts

extension MockWebSocket {
    /// A step of a server's script.
    ///
    /// ```swift
    /// Stub(.get, "/chat", .webSocket(.expect(.string("hello")), .delay(.seconds(1)), .send(.string("welcome")), .expectClose()))
    /// ```
    public struct Step: Sendable {
        let action: @Sendable (MockWebSocket) async throws -> Void

        /// Sends a message.
        public static func send(_ message: URLSessionWebSocketTask.Message) -> Step {
            Step { try await $0.send(message) }
        }

        /// Sends a JSON value as text. The keys are sorted.
        public static func send(json value: some Encodable & Sendable) -> Step {
            Step { socket in
                let text: String
                do { text = String(decoding: try JSONEncoder.sortingKeys.encode(value), as: UTF8.self) } catch {
                    throw socket.failure(.invalidUse, "a message can't be encoded as JSON: \(error)")
                }
                try await socket.send(.string(text))
            }
        }

        /// Waits for a message. The script fails if a different message arrives, or if the client closes the WebSocket instead.
        public static func expect(_ message: URLSessionWebSocketTask.Message) -> Step {
            expect(message.summary) { $0.isEqual(to: message) }
        }

        /// Waits for a text or binary message whose bytes match a pattern: `.expect(matching: .json(["type": "subscribe"]))`.
        public static func expect(matching pattern: BodyPattern) -> Step {
            expect("a message with \(pattern)") { message in
                switch message {
                case .string(let text): pattern.matches(Data(text.utf8))
                case .data(let data): pattern.matches(data)
                @unknown default: false
                }
            }
        }

        /// Waits for a message that meets a condition.
        ///
        /// - Parameters:
        ///   - description: A description of the expected message, such as "a price". The error for a different message contains the
        ///     description.
        ///   - isExpected: A closure that returns whether a message meets the condition.
        public static func expect(
            _ description: String, _ isExpected: @escaping @Sendable (URLSessionWebSocketTask.Message) -> Bool
        ) -> Step {
            Step { try await $0.expect(description, isExpected) }
        }

        /// Waits until the client closes the WebSocket. The script fails if a message arrives first.
        ///
        /// - Parameter code: The expected code, or `nil` (the default) for any code.
        public static func expectClose(_ code: WebSocketCloseCode? = nil) -> Step {
            Step { try await $0.expectClose(code) }
        }

        /// Waits for some time, unless the mock skips delays. The session's `timeSource` measures the time.
        public static func delay(_ duration: Duration) -> Step {
            Step { try await $0.pause(for: duration) }
        }

        /// Sends a ping, and waits until the client answers it.
        public static let ping = Step { try await $0.ping() }

        /// Closes the WebSocket, and waits until the client has answered.
        ///
        /// - Parameters:
        ///   - code: The close code. The default is ``WebSocketCloseCode/normalClosure``.
        ///   - reason: Text of at most 123 bytes in UTF-8. Longer text is truncated.
        public static func close(_ code: WebSocketCloseCode = .normalClosure, reason: String = "") -> Step {
            Step { await $0.close(code, reason: reason) }
        }

        /// Ends the connection without closing the WebSocket, as if the network had failed.
        public static let disconnect = Step { $0.pipe.change { $0.finish() } }
    }
}

extension MockWebSocket {
    private enum Incoming {
        case message(URLSessionWebSocketTask.Message)
        case closed(WebSocketCloseCode)
        /// The client has ended the connection without closing the WebSocket.
        case lost
    }

    private func next() async throws -> Incoming {
        try await wait { pipe in
            if let message = pipe.messages.popFirst() { return .message(message) }
            return pipe.clientCode.map { .closed($0) } ?? (pipe.isEndedByClient ? .lost : nil)
        }
    }

    private func expect(
        _ description: String, _ isExpected: (URLSessionWebSocketTask.Message) -> Bool
    ) async throws {
        switch try await next() {
        case .message(let message):
            guard !isExpected(message) else { return }
            throw mismatch(description, "sent \(message.summary)")
        case .closed(let code): throw mismatch(description, "closed the WebSocket with the code \(code.rawValue)")
        case .lost: throw failure(.connectionLost, "the client has ended the connection")
        }
    }

    private func expectClose(_ expected: WebSocketCloseCode?) async throws {
        let description = "a close" + (expected.map { " with the code \($0.rawValue)" } ?? "")
        switch try await next() {
        case .message(let message): throw mismatch(description, "sent \(message.summary)")
        case .closed(let code):
            guard expected == nil || code == expected else {
                throw mismatch(description, "closed the WebSocket with the code \(code.rawValue)")
            }
        case .lost: throw failure(.connectionLost, "the client has ended the connection")
        }
    }

    private func mismatch(_ expected: String, _ received: String) -> TransportError {
        failure(.invalidUse, "the mock WebSocket \(request.path) expected \(expected), but the client \(received)")
    }

    private func pause(for duration: Duration) async throws {
        try await delays.pause(for: duration, request.exchange)
    }

    private func ping() async throws {
        let payload = withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { Data($0) }
        try await write(WebSocketFrames.ping(payload))
        try await wait { pipe in
            if pipe.pongs.remove(payload) != nil { return () }
            if pipe.hasClientLeft { throw MockPipe.Failure(.connectionLost, "the client has closed the WebSocket") }
            return nil
        }
    }

    private func close(_ code: WebSocketCloseCode, reason: String) async {
        pipe.change { $0.sendClose(code, reason: reason) }
        // If the client leaves, this task is canceled. The wait then throws an error, which is ignored.
        try? await wait { $0.hasClientLeft || $0.end != nil ? () : nil }
    }

    private func write(_ frames: Data) async throws { try await wait { try $0.send(frames) } }

    private func wait<Value>(_ body: (inout MockPipe.State) throws -> Value?) async throws -> Value {
        do { return try await pipe.wait(body) } catch let error as MockPipe.Failure {
            throw failure(error.code, error.message)
        }
    }

    private func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
        TransportError(code, phase: .receiving, url: request.url, message: message)
    }
}

// MARK: - Serving

extension MockWebSocket {
    typealias Server = @Sendable (MockWebSocket) async throws -> Void

    /// Runs the server until it has ended and either side has closed the WebSocket.
    ///
    /// - Parameter report: Called with an error's message if the error is a mistake in the client or in the test. The client
    ///   receives the error afterward.
    func run(_ serve: @escaping Server, reporting report: (String) -> Void) async {
        let serving = Task {
            try await serve(self)
            await close(.normalClosure, reason: "")
        }
        let watching = Task {
            try? await wait { $0.hasClientLeft || $0.end != nil ? () : nil }
            serving.cancel()
        }
        let result = await serving.result
        watching.cancel()
        guard case .failure(let error) = result else { return pipe.change { $0.finish() } }
        let failure = TransportError(ofMock: error, phase: .receiving, url: request.url)
        if failure.code == .invalidUse { report(failure.message) }
        pipe.change { pipe in
            if pipe.hasClientLeft {
                pipe.sendClose(.normalClosure, reason: "")
                pipe.finish()
            } else {
                pipe.finish(.failure(failure))
            }
        }
    }
}

extension MockResponse {
    /// Returns a response that accepts a WebSocket and runs a script.
    ///
    /// ```swift
    /// Stub(.get, "wss://example.com/chat", .webSocket(.expect(.string("hello")), .send(.string("welcome"))))
    /// ```
    ///
    /// After the last step, the server closes the WebSocket with ``WebSocketCloseCode/normalClosure``. To wait for the client instead, end
    /// the script with ``MockWebSocket/Step/expectClose(_:)``. If the client sends something unexpected, its request fails with an error
    /// that contains the expected and the received message. The error is also in ``MockTransport/failedExpectations``.
    ///
    /// To refuse a WebSocket, use another response, such as `.status(403)`. A request that isn't for a WebSocket fails with
    /// ``TransportError/Code-swift.struct/invalidUse``.
    ///
    /// - Parameters:
    ///   - protocol: The subprotocol to select (RFC 6455, section 1.9). If the client doesn't offer it, the client's request fails. The
    ///     default is none.
    ///   - script: The steps.
    public static func webSocket(protocol: String? = nil, _ script: MockWebSocket.Step...) -> MockResponse {
        webSocket(protocol: `protocol`) { try await $0.perform(script) }
    }

    /// Returns a response that accepts a WebSocket and calls a closure.
    ///
    /// When the closure returns, the server closes the WebSocket with ``WebSocketCloseCode/normalClosure``. If the closure throws
    /// an error, the client's connection fails with that error (see ``MockTransport``). When the client closes the WebSocket or
    /// ends the connection, the closure's task is canceled. ``MockWebSocket/receive()`` then still returns messages that arrived
    /// earlier.
    ///
    /// - Parameters:
    ///   - protocol: The subprotocol to select. If the client doesn't offer it, the client's request fails. The default is none.
    ///   - serve: The closure.
    public static func webSocket(
        protocol: String? = nil, _ serve: @escaping @Sendable (MockWebSocket) async throws -> Void
    ) -> MockResponse {
        var response = MockResponse(status: 101, fields: [.upgrade: "websocket", .connection: "Upgrade"])
        response.fields[.secWebSocketProtocol] = `protocol`
        response.webSocket = serve
        return response
    }
}

extension URLSessionWebSocketTask.Message {
    /// A description with at most a kilobyte of the message.
    fileprivate var summary: String {
        switch self {
        case .string(let text): "the text \"\(Excerpt(Data(text.utf8)).text ?? "")\""
        case .data(let data): "\(data.count) bytes of data"
        @unknown default: "an unknown message"
        }
    }

    fileprivate func isEqual(to other: URLSessionWebSocketTask.Message) -> Bool {
        switch (self, other) {
        case (.string(let text), .string(let other)): text == other
        case (.data(let data), .data(let other)): data == other
        default: false
        }
    }
}

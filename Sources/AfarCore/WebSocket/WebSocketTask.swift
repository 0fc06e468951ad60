public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A handle for sending and receiving the messages of a ``WebSocketRequest`` with `await`.
///
/// ```swift
/// let socket = AF.webSocketRequest(to: "wss://example.com/chat").webSocketTask()
/// try await socket.send(.string("hello"))
/// for try await message in socket.messages {
///     print(message)
/// }
/// ```
///
/// Events that occur before the first iteration are buffered. Without a buffering policy, each message is read when the loop
/// requests it, so a slow loop slows the server down. With a buffering policy, messages are read and buffered as they arrive.
///
/// Leaving a loop early, or canceling its task, cancels the request, unless `automaticallyCancelling` is false. The server
/// receives a close frame only if you first call ``close(sending:reason:)-(WebSocketCloseCode,_)``.
public struct WebSocketTask: Sendable {
    /// A sequence of the events of a WebSocket.
    public typealias EventStreamOf<Success: Sendable, Failure: Error> = StreamOf<
        WebSocketRequest.Event<Success, Failure>
    >

    private let request: WebSocketRequest

    init(_ request: WebSocketRequest) {
        self.request = request
        request.messages.bufferEarlyEvents()
    }

    /// The messages until the WebSocket closes. Iterating starts the request, unless automatic starting is turned off. Leaving
    /// the loop early cancels the request. If the connection can't be established or breaks, the iteration throws the request's
    /// ``AFError``.
    public var messages: WebSocketMessages { WebSocketMessages(streamingMessageEvents()) }

    /// Returns a sequence of all events, with the messages unchanged. By default, events aren't buffered.
    public func streamingMessageEvents(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: EventStreamOf<URLSessionWebSocketTask.Message, Never>.BufferingPolicy? = nil
    ) -> EventStreamOf<URLSessionWebSocketTask.Message, Never> {
        streamingEvents(.passthrough, shouldAutomaticallyCancel, bufferingPolicy)
    }

    /// Returns a sequence of all events, with values decoded from the messages. By default, events aren't buffered, and the
    /// session's decoder decodes the values.
    public func streamingDecodableEvents<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        using decoder: any DataDecoder = SessionDecoder(),
        bufferingPolicy: EventStreamOf<Value, any Error>.BufferingPolicy? = nil
    ) -> EventStreamOf<Value, any Error> {
        streamingEvents(
            DecodableWebSocketMessageDecoder<Value>(decoder: decoder), shouldAutomaticallyCancel, bufferingPolicy)
    }

    /// Returns a sequence of only the messages, unchanged. The sequence ends with the request, whether it succeeds or fails. By
    /// default, all messages are buffered.
    public func streamingMessages(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: StreamOf<URLSessionWebSocketTask.Message>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionWebSocketTask.Message> {
        streamingValues(.passthrough, shouldAutomaticallyCancel, bufferingPolicy)
    }

    /// Returns a sequence of the values decoded from the messages. The sequence ends with the request, whether it succeeds or
    /// fails. Messages that can't be decoded are skipped. By default, all values are buffered, and the session's decoder
    /// decodes them.
    public func streamingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        using decoder: any DataDecoder = SessionDecoder(),
        bufferingPolicy: StreamOf<Value>.BufferingPolicy = .unbounded
    ) -> StreamOf<Value> {
        streamingValues(
            DecodableWebSocketMessageDecoder<Value>(decoder: decoder), shouldAutomaticallyCancel, bufferingPolicy)
    }

    private func streamingEvents<Serializer: WebSocketMessageSerializer>(
        _ serializer: Serializer, _ shouldAutomaticallyCancel: Bool,
        _ bufferingPolicy: EventStreamOf<Serializer.Output, Serializer.Failure>.BufferingPolicy?
    ) -> EventStreamOf<Serializer.Output, Serializer.Failure> {
        let onTermination = onTermination(cancels: shouldAutomaticallyCancel)
        guard let bufferingPolicy else {
            return StreamOf(onTermination: onTermination) { [request] handoff in
                request.addListener(
                    serializer, each: { await handoff.send($1) }, last: { handoff.finish(with: [$0]) })
            }
        }
        return StreamOf(bufferingPolicy: bufferingPolicy, onTermination: onTermination) { [request] continuation in
            request.addListener(serializer, each: { continuation.yield($1) }) { last in
                continuation.yield(last)
                continuation.finish()
            }
        }
    }

    private func streamingValues<Serializer: WebSocketMessageSerializer>(
        _ serializer: Serializer, _ shouldAutomaticallyCancel: Bool,
        _ bufferingPolicy: StreamOf<Serializer.Output>.BufferingPolicy
    ) -> StreamOf<Serializer.Output> {
        StreamOf(
            bufferingPolicy: bufferingPolicy, onTermination: onTermination(cancels: shouldAutomaticallyCancel)
        ) { [request] continuation in
            request.addListener(
                serializer, each: { _, event in if let message = event.message { continuation.yield(message) } },
                last: { _ in continuation.finish() })
        }
    }

    private func onTermination(cancels: Bool) -> @Sendable () -> Void {
        { [request] in if cancels { request.cancel() } }
    }

    /// Sends a message after the WebSocket has opened, and waits until the system has accepted the message. A slow server
    /// therefore slows the sender down. This method starts the request, unless automatic starting is turned off.
    ///
    /// - Throws: The request's ``AFError`` if the WebSocket can't be opened; a `TransportError` if the WebSocket is closed.
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        request.startIfAutomatic()
        try await request.send(message)
    }

    /// Closes the WebSocket. See ``WebSocketRequest/close(sending:reason:)-(WebSocketCloseCode,_)``.
    public func close(sending closeCode: WebSocketCloseCode, reason: Data? = nil) {
        request.close(sending: closeCode, reason: reason)
    }

    /// Closes the WebSocket with one of Foundation's close codes.
    @_disfavoredOverload
    public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) {
        request.close(sending: closeCode, reason: reason)
    }

    /// Cancels the request. See ``WebSocketRequest/cancel()``.
    public func cancel() { request.cancel() }
    /// Resumes the request.
    public func resume() { request.resume() }
    /// Suspends the request.
    public func suspend() { request.suspend() }
}

extension WebSocketRequest {
    /// Returns a handle for sending and receiving the WebSocket's messages with `await`.
    public func webSocketTask() -> WebSocketTask { WebSocketTask(self) }
}

/// The messages of a WebSocket as an asynchronous sequence. See ``WebSocketTask/messages``.
public struct WebSocketMessages: AsyncSequence, Sendable {
    /// A text or binary message.
    public typealias Element = URLSessionWebSocketTask.Message

    private let events: StreamOf<WebSocketRequest.Event<Element, Never>>

    init(_ events: StreamOf<WebSocketRequest.Event<Element, Never>>) { self.events = events }

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

    /// An iterator over the messages.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: StreamOf<WebSocketRequest.Event<Element, Never>>.Iterator

        /// Returns the next message, or nil after the WebSocket has closed.
        ///
        /// - Throws: The request's ``AFError``.
        public mutating func next() async throws -> Element? {
            while let event = await events.next() {
                switch event.kind {
                case .receivedMessage(let message): return message
                case .completed(let completion): if let error = completion.error { throw error }
                case .connected, .disconnected: break
                }
            }
            return nil
        }
    }
}

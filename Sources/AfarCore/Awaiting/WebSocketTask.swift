public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A ``WebSocketRequest`` whose messages are awaited.
///
/// ```swift
/// let socket = AF.webSocketRequest(to: "wss://example.com/chat").webSocketTask()
/// try await socket.send(.string("hello"))
/// for try await message in socket.messages {
///     print(message)
/// }
/// ```
///
/// What comes before anybody listens is kept. Without a buffering policy the next message is read when the loop asks for it, so
/// a slow loop holds the server back; with one, messages are kept as it says. A loop that is left early cancels the request,
/// and the server is told nothing; unless ``close(sending:reason:)-(WebSocketCloseCode,_)`` was called before.
public struct WebSocketTask: Sendable {
    /// What happens on a WebSocket, as a sequence.
    public typealias EventStreamOf<Success: Sendable, Failure: Error> = StreamOf<
        WebSocketRequest.Event<Success, Failure>
    >

    private let request: WebSocketRequest

    init(_ request: WebSocketRequest) {
        self.request = request
        request.messages.bufferEarlyEvents()
    }

    /// The messages, up to the close. The request starts with the iteration, or with a send, if handlers start requests here;
    /// it is cancelled when the loop is left early. A connection that breaks, or is never made, throws the request's
    /// ``AFError``.
    public var messages: WebSocketMessages { WebSocketMessages(streamingMessageEvents()) }

    /// All that happens, messages as they are.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - bufferingPolicy: Which events are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingMessageEvents(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: EventStreamOf<URLSessionWebSocketTask.Message, Never>.BufferingPolicy? = nil
    ) -> EventStreamOf<URLSessionWebSocketTask.Message, Never> {
        streamingEvents(.passthrough, shouldAutomaticallyCancel, bufferingPolicy)
    }

    /// All that happens, messages decoded.
    ///
    /// - Parameters:
    ///   - type: What is decoded.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - decoder: What decodes. The default is a `JSONDecoder`.
    ///   - bufferingPolicy: Which events are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingDecodableEvents<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        using decoder: any DataDecoder = JSONDecoder(),
        bufferingPolicy: EventStreamOf<Value, any Error>.BufferingPolicy? = nil
    ) -> EventStreamOf<Value, any Error> {
        streamingEvents(
            DecodableWebSocketMessageDecoder<Value>(decoder: decoder), shouldAutomaticallyCancel, bufferingPolicy)
    }

    /// The messages alone, as they are. The sequence ends with the request, whatever it has come to.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - bufferingPolicy: Which messages are kept for a loop that falls behind. The default is all.
    public func streamingMessages(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: StreamOf<URLSessionWebSocketTask.Message>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionWebSocketTask.Message> {
        streamingValues(.passthrough, shouldAutomaticallyCancel, bufferingPolicy)
    }

    /// Values decoded from the messages alone. The sequence ends with the request, whatever it has come to; what cannot be
    /// decoded is left out.
    ///
    /// - Parameters:
    ///   - type: What is decoded.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - decoder: What decodes. The default is a `JSONDecoder`.
    ///   - bufferingPolicy: Which values are kept for a loop that falls behind. The default is all.
    public func streamingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        using decoder: any DataDecoder = JSONDecoder(),
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
                    serializer, each: { await handoff.give($1) }, last: { handoff.finish(with: [$0]) })
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

    /// Sends a message, and waits until the system has taken it, so that a slow server holds the sender back. Starts the
    /// request if handlers start requests here, and waits until the WebSocket is open.
    ///
    /// - Throws: The request's ``AFError`` when the WebSocket is not opened; a `TransportError` when it is closed.
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        request.startIfHandlersDo()
        try await request.send(message)
    }

    /// Closes the WebSocket: see ``WebSocketRequest/close(sending:reason:)-(WebSocketCloseCode,_)``.
    public func close(sending closeCode: WebSocketCloseCode, reason: Data? = nil) {
        request.close(sending: closeCode, reason: reason)
    }

    /// The same with Foundation's type.
    @_disfavoredOverload
    public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) {
        request.close(sending: closeCode, reason: reason)
    }

    /// Cancels the request: see ``WebSocketRequest/cancel()``.
    public func cancel() { request.cancel() }
    /// Resumes the request.
    public func resume() { request.resume() }
    /// Suspends the request.
    public func suspend() { request.suspend() }
}

extension WebSocketRequest {
    /// The WebSocket's messages, to await.
    public func webSocketTask() -> WebSocketTask { WebSocketTask(self) }
}

/// The messages of a WebSocket, to await; ``WebSocketTask/messages``.
public struct WebSocketMessages: AsyncSequence, Sendable {
    /// A text, or bytes.
    public typealias Element = URLSessionWebSocketTask.Message

    private let events: StreamOf<WebSocketRequest.Event<Element, Never>>

    init(_ events: StreamOf<WebSocketRequest.Event<Element, Never>>) { self.events = events }

    /// Begins an iteration.
    public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

    /// One iteration.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: StreamOf<WebSocketRequest.Event<Element, Never>>.Iterator

        /// The next message; nil when the WebSocket is closed.
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

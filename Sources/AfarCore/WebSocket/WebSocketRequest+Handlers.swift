public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension WebSocketRequest {
    /// A closure that is called for each event.
    public typealias EventHandler<Success: Sendable, Failure: Error> = @Sendable (Event<Success, Failure>) -> Void

    /// Adds a handler that receives all events, with messages decoded by a serializer.
    ///
    /// - Parameters:
    ///   - serializer: Creates values from messages. The serializer runs on the session's serialization queue if there is one,
    ///     and otherwise in the request's task.
    ///   - queue: The queue on which the handler is called. The default is the main queue. If the main thread is blocked, the
    ///     handler isn't called and the request waits.
    ///   - handler: Called for each event. The last event is the completion.
    @preconcurrency
    @discardableResult
    public func streamSerializer<Serializer: WebSocketMessageSerializer>(
        _ serializer: Serializer, on queue: DispatchQueue = .main,
        handler: @escaping EventHandler<Serializer.Output, Serializer.Failure>
    ) -> Self {
        addListener(serializer, on: queue, handler)
        return self
    }

    /// Adds a handler that receives all events, with values decoded from messages. The default decoder is the session's.
    @preconcurrency
    @discardableResult
    public func streamDecodableEvents<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = SessionDecoder(),
        handler: @escaping EventHandler<Value, any Error>
    ) -> Self {
        streamSerializer(DecodableWebSocketMessageDecoder<Value>(decoder: decoder), on: queue, handler: handler)
    }

    /// Adds a handler that receives only the values decoded from messages. The default decoder is the session's.
    @preconcurrency
    @discardableResult
    public func streamDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = SessionDecoder(),
        handler: @escaping @Sendable (Value) -> Void
    ) -> Self {
        streamDecodableEvents(type, on: queue, using: decoder) { event in event.message.map(handler) }
    }

    /// Adds a handler that receives all events, with unserialized messages.
    @preconcurrency
    @discardableResult
    public func streamMessageEvents(
        on queue: DispatchQueue = .main, handler: @escaping EventHandler<URLSessionWebSocketTask.Message, Never>
    ) -> Self {
        streamSerializer(.passthrough, on: queue, handler: handler)
    }

    /// Adds a handler that receives each message without serializing it. The handler doesn't receive the other events,
    /// such as the connection and the completion.
    @preconcurrency
    @discardableResult
    public func streamMessages(
        on queue: DispatchQueue = .main, handler: @escaping @Sendable (URLSessionWebSocketTask.Message) -> Void
    ) -> Self {
        streamMessageEvents(on: queue) { event in event.message.map(handler) }
    }

    private func addListener<Serializer: WebSocketMessageSerializer>(
        _ serializer: Serializer, on queue: DispatchQueue,
        _ handler: @escaping EventHandler<Serializer.Output, Serializer.Failure>
    ) {
        addListener(
            serializer,
            each: { request, event in await request.onQueue(queue) { if !request.hasEnded { handler(event) } } },
            last: { event in queue.async { handler(event) } })
    }

    /// Adds a listener, and starts the request unless automatic starting is turned off.
    ///
    /// - Parameters:
    ///   - each: Called for each event except the last. The next message is read after the closure returns.
    ///   - last: Called once, with the completion.
    func addListener<Serializer: WebSocketMessageSerializer>(
        _ serializer: Serializer,
        each: @escaping @Sendable (WebSocketRequest, Event<Serializer.Output, Serializer.Failure>) async -> Void,
        last: @escaping @Sendable (Event<Serializer.Output, Serializer.Failure>) -> Void
    ) {
        let listener: MessageSink.Listener = { [weak self] incoming in
            guard let self else { return }
            let kind = await onQueue(session.queues.serialization) {
                withSessionDecoder { Event<Serializer.Output, Serializer.Failure>.Kind(incoming, by: serializer) }
            }
            await each(self, Event(kind, of: self))
        }
        messages.append(listener, of: self) { [self] in
            addHandler(Completion.init(of:)) { [weak self] completion in last(Event(.completed(completion), of: self)) }
        }
    }
}

extension WebSocketRequest.Event.Kind {
    fileprivate init<Serializer: WebSocketMessageSerializer>(
        _ incoming: MessageSink.Incoming, by serializer: Serializer
    ) where Serializer.Output == Success, Serializer.Failure == Failure {
        switch incoming {
        case .connected(let name): self = .connected(protocol: name)
        case .disconnected(let code, let reason): self = .disconnected(closeCode: code, reason: reason)
        case .message(let message):
            do { self = .receivedMessage(try serializer.decode(message)) } catch {
                // A serializer that can't fail never reaches this line.
                self =
                    (error as? Failure).map { .serializerFailed($0) }
                    ?? .disconnected(closeCode: .invalid, reason: nil)
            }
        }
    }
}

/// A type that creates values from a WebSocket's messages.
public protocol WebSocketMessageSerializer<Output, Failure>: Sendable {
    /// The type of the values.
    associatedtype Output: Sendable
    /// The type of errors.
    associatedtype Failure: Error = any Error

    /// Creates a value from a message.
    ///
    /// - Throws: An error if the message can't be decoded.
    func decode(_ message: URLSessionWebSocketTask.Message) throws -> Output
}

extension WebSocketMessageSerializer where Self == PassthroughWebSocketMessageDecoder {
    /// Returns messages unchanged.
    public static var passthrough: Self { Self() }
}

extension WebSocketMessageSerializer {
    /// Decodes JSON from text and binary messages.
    public static func json<Value: Decodable>(
        decoding _: Value.Type = Value.self, using decoder: JSONDecoder = JSONDecoder()
    ) -> DecodableWebSocketMessageDecoder<Value> where Self == DecodableWebSocketMessageDecoder<Value> {
        DecodableWebSocketMessageDecoder(decoder: decoder)
    }
}

/// A serializer that returns messages unchanged.
public struct PassthroughWebSocketMessageDecoder: WebSocketMessageSerializer {
    /// The type of errors. This serializer never throws.
    public typealias Failure = Never

    /// Creates a serializer.
    public init() {}

    /// Returns the message.
    public func decode(_ message: URLSessionWebSocketTask.Message) -> URLSessionWebSocketTask.Message { message }
}

/// A serializer that decodes values from messages. Text is decoded from its UTF-8 representation.
public struct DecodableWebSocketMessageDecoder<Value: Decodable & Sendable>: WebSocketMessageSerializer {
    /// The errors of the serializer.
    public enum Error: Swift.Error {
        /// The decoder failed.
        case decoding(any Swift.Error)
        /// The message is neither text nor bytes.
        case unknownMessage(description: String)
    }

    /// The decoder.
    public let decoder: any DataDecoder

    /// Creates a serializer.
    public init(decoder: any DataDecoder) { self.decoder = decoder }

    /// Decodes a value.
    ///
    /// - Throws: ``Error``.
    public func decode(_ message: URLSessionWebSocketTask.Message) throws -> Value {
        let data =
            switch message {
            case .data(let data): data
            case .string(let text): Data(text.utf8)
            @unknown default: throw Error.unknownMessage(description: "\(message)")
            }
        do {
            return try decoder.decode(Value.self, from: data)
        } catch {
            throw Error.decoding(error)
        }
    }
}

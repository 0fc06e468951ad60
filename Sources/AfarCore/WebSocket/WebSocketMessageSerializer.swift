public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

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
    /// This serializer never fails.
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

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes values of a WebSocket's messages.
public protocol WebSocketMessageSerializer<Output, Failure>: Sendable {
    /// What is made.
    associatedtype Output: Sendable
    /// What may go wrong.
    associatedtype Failure: Error = any Error

    /// Makes a value of a message.
    ///
    /// - Throws: When that is not possible.
    func decode(_ message: URLSessionWebSocketTask.Message) throws -> Output
}

extension WebSocketMessageSerializer where Self == PassthroughWebSocketMessageDecoder {
    /// Hands messages on as they are.
    public static var passthrough: Self { Self() }
}

extension WebSocketMessageSerializer {
    /// Decodes JSON in messages of either kind.
    public static func json<Value: Decodable>(
        decoding _: Value.Type = Value.self, using decoder: JSONDecoder = JSONDecoder()
    ) -> DecodableWebSocketMessageDecoder<Value> where Self == DecodableWebSocketMessageDecoder<Value> {
        DecodableWebSocketMessageDecoder(decoder: decoder)
    }
}

/// Hands messages on as they are.
public struct PassthroughWebSocketMessageDecoder: WebSocketMessageSerializer {
    /// It does not fail.
    public typealias Failure = Never

    /// Makes a serializer.
    public init() {}

    /// The message.
    public func decode(_ message: URLSessionWebSocketTask.Message) -> URLSessionWebSocketTask.Message { message }
}

/// Decodes values from messages; texts are decoded as their UTF-8.
public struct DecodableWebSocketMessageDecoder<Value: Decodable & Sendable>: WebSocketMessageSerializer {
    /// What can go wrong.
    public enum Error: Swift.Error {
        /// The decoder failed.
        case decoding(any Swift.Error)
        /// The message is neither text nor bytes.
        case unknownMessage(description: String)
    }

    /// What decodes.
    public let decoder: any DataDecoder

    /// Makes a serializer.
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

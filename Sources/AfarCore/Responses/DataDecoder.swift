public import Foundation

/// A type that decodes values from bytes. Foundation's decoders conform to it.
public protocol DataDecoder: Sendable {
    /// Decodes a value.
    ///
    /// - Throws: The decoder's error.
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D

    /// Decodes a value from a response's bytes. The default implementation ignores the head.
    ///
    /// - `head`: The response's head, for formats that specify their encoding in the `Content-Type` header.
    /// - Throws: The decoder's error.
    func decode<D: Decodable>(_ type: D.Type, from data: Data, of head: ResponseHead?) throws -> D
}

extension DataDecoder {
    /// Decodes a value and ignores the head.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data, of head: ResponseHead?) throws -> D {
        try decode(type, from: data)
    }
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}

/// A decoder that stands for the session's decoder, ``SessionConfiguration/decoder``.
///
/// It is the default of the methods and serializers that decode values. Use it as the default of your own methods that have a
/// decoder as a parameter. Outside of a request, this decoder uses a `JSONDecoder`.
public struct SessionDecoder: DataDecoder {
    /// The decoder of the session whose serializer or parser is running.
    @TaskLocal static var current: (any DataDecoder)?

    /// Creates the value.
    public init() {}

    /// Decodes a value with the session's decoder.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        try resolved.decode(type, from: data)
    }

    /// Decodes a value with the session's decoder.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data, of head: ResponseHead?) throws -> D {
        try resolved.decode(type, from: data, of: head)
    }
}

extension DataDecoder {
    /// The decoder that a ``SessionDecoder`` stands for. Any other decoder stands for itself.
    package var resolved: any DataDecoder {
        guard self is SessionDecoder else { return self }
        guard let decoder = SessionDecoder.current, !(decoder is SessionDecoder) else { return JSONDecoder() }
        return decoder
    }
}

extension Request {
    /// Runs a serializer or a parser. While it runs, a ``SessionDecoder`` stands for the session's decoder.
    func withSessionDecoder<Value>(_ body: () throws -> Value) rethrows -> Value {
        try SessionDecoder.$current.withValue(session.configuration.decoder, operation: body)
    }
}

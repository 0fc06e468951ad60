public import Foundation

/// A type that decodes values from bytes. Foundation's decoders conform to it.
public protocol DataDecoder: Sendable {
    /// Decodes a value.
    ///
    /// - Throws: The decoder's error.
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D

    /// Decodes a value from a response's bytes. The default implementation ignores the head.
    ///
    /// - `head`: The response's head, for formats whose encoding the `Content-Type` header specifies.
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

/// The decoder of the session: ``SessionConfiguration/decoder``.
///
/// This value is the default of the methods and serializers that decode values. A serializer that isn't used by a request decodes
/// with a `JSONDecoder` instead.
public struct SessionDecoder: DataDecoder {
    /// Creates the value.
    public init() {}

    /// Decodes a value with a `JSONDecoder`.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        try JSONDecoder().decode(type, from: data)
    }
}

extension DataDecoder {
    /// Returns the session's decoder instead of a ``SessionDecoder``. Without a session, it is a `JSONDecoder`.
    package func resolved(with sessionDecoder: (any DataDecoder)?) -> any DataDecoder {
        self is SessionDecoder ? sessionDecoder ?? JSONDecoder() : self
    }
}

/// A serializer or parser that decodes values without a ``SerializationInput``.
package protocol DecodingSerializer {
    var decoder: any DataDecoder { get }

    /// Returns a copy with another decoder.
    func replacingDecoder(with decoder: any DataDecoder) -> Self
}

extension Request {
    /// Returns a serializer or parser that uses the session's decoder instead of a ``SessionDecoder``.
    func resolvingDecoder<Serializer>(of serializer: Serializer) -> Serializer {
        guard let decoding = serializer as? any DecodingSerializer, decoding.decoder is SessionDecoder else {
            return serializer
        }
        return decoding.replacingDecoder(with: session.configuration.decoder) as? Serializer ?? serializer
    }
}

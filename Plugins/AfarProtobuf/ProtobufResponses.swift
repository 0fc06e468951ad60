public import AfarCore
public import Foundation
import HTTPTypes
public import SwiftProtobuf

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Decodes a message of Protocol Buffers from a response.
///
/// The response's Content-Type says how: `application/json`, `text/json` and types ending in `+json` mean JSON, all others,
/// and none, the binary format (`application/x-protobuf`, `application/protobuf`, `application/vnd.google.protobuf`). In the
/// binary format a body without bytes is a message in which nothing is set.
public final class ProtobufResponseSerializer<M: Message>: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// How messages are decoded, and what they may cost.
    public let options: ProtobufDecodingOptions

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - options: How messages are decoded, and what they may cost.
    public init(
        dataPreprocessor: any DataPreprocessor = ProtobufResponseSerializer.defaultDataPreprocessor,
        options: ProtobufDecodingOptions = ProtobufDecodingOptions()
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.options = options
    }

    /// The message.
    ///
    /// - Throws: ``AfarCore/AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` with a ``ProtobufError``,
    ///   the input's error, the preprocessor's.
    public func serialize(_ input: SerializationInput) throws -> M {
        if let error = input.error { throw error }
        let format = ProtobufFormat(contentType: input.head?.values(for: .contentType).last)
        let data = input.data ?? Data()
        if data.isEmpty, format == .json {
            throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
        }
        let bytes = data.isEmpty ? data : try dataPreprocessor.preprocess(data)
        do {
            return try options.decode(M.self, from: bytes, as: format)
        } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }

    /// The message.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> M {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer {
    /// Decodes a message of Protocol Buffers, in the binary format or, where the Content-Type says so, in JSON.
    ///
    /// - Parameters:
    ///   - type: The message's type.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - options: How messages are decoded, and what they may cost.
    public static func protobuf<M: Message>(
        of type: M.Type,
        dataPreprocessor: any DataPreprocessor = ProtobufResponseSerializer<M>.defaultDataPreprocessor,
        options: ProtobufDecodingOptions = ProtobufDecodingOptions()
    ) -> ProtobufResponseSerializer<M> where Self == ProtobufResponseSerializer<M> {
        ProtobufResponseSerializer(dataPreprocessor: dataPreprocessor, options: options)
    }
}

public import AfarCore
public import Foundation
import HTTPTypes
public import SwiftProtobuf

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer that decodes a Protocol Buffers message from a response.
///
/// The Content-Type of the response determines the format. `application/json`, `text/json` and types that end in `+json` mean JSON. A
/// missing Content-Type and other types, such as `application/x-protobuf`, `application/protobuf` and
/// `application/vnd.google.protobuf`, mean the binary format. In the binary format, an empty body is a message with no fields set.
public final class ProtobufResponseSerializer<M: Message>: ResponseSerializer {
    /// The preprocessor that is applied to the body before decoding.
    public let dataPreprocessor: any DataPreprocessor
    /// The options and limits for decoding.
    public let options: ProtobufDecodingOptions

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor that is applied to the body before decoding.
    ///   - options: The options and limits for decoding.
    public init(
        dataPreprocessor: any DataPreprocessor = ProtobufResponseSerializer.defaultDataPreprocessor,
        options: ProtobufDecodingOptions = ProtobufDecodingOptions()
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.options = options
    }

    /// Returns the message.
    ///
    /// - Throws: ``AfarCore/AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` with a ``ProtobufError``, or the
    ///   error of the input or the preprocessor.
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

    /// Returns the message.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> M {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer {
    /// Returns a serializer that decodes a Protocol Buffers message in the binary format, or in JSON if the Content-Type is JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the message.
    ///   - dataPreprocessor: The preprocessor that is applied to the body before decoding.
    ///   - options: The options and limits for decoding.
    public static func protobuf<M: Message>(
        of type: M.Type,
        dataPreprocessor: any DataPreprocessor = ProtobufResponseSerializer<M>.defaultDataPreprocessor,
        options: ProtobufDecodingOptions = ProtobufDecodingOptions()
    ) -> ProtobufResponseSerializer<M> where Self == ProtobufResponseSerializer<M> {
        ProtobufResponseSerializer(dataPreprocessor: dataPreprocessor, options: options)
    }
}

/// A parser that decodes each message of a stream in the binary format. Chunks can end anywhere. The length of each message
/// precedes it as a varint. Functions such as `writeDelimitedTo` write this format.
///
/// For a message that can't be decoded or is too large, the parser returns a failure and continues with the next message. After
/// an invalid length, it stops.
public struct ProtobufMessagesParser<M: Message>: DataStreamParser {
    /// The options and limits for each message.
    public let options: ProtobufDecodingOptions
    private var state = State.length(LengthPrefix())
    private var index = 0

    private enum State {
        case length(LengthPrefix)
        /// The start of a message, and the number of missing bytes.
        case message(Data, missing: Int)
        /// A skipped message that is too large, and the number of missing bytes.
        case skipping(missing: Int)
        case ended
    }

    /// Creates a parser.
    ///
    /// - Parameter options: The options and limits for each message.
    public init(options: ProtobufDecodingOptions = ProtobufDecodingOptions()) { self.options = options }

    /// Returns the messages that a chunk completes.
    public mutating func parse(_ chunk: Data) -> [Result<M, AFError>] {
        var results: [Result<M, AFError>] = []
        var rest = chunk
        while !rest.isEmpty {
            switch state {
            case .length(var prefix):
                guard let byte = rest.popFirst() else { continue }
                switch prefix.take(byte) {
                case nil: state = .length(prefix)
                case .some(nil):
                    fail(.malformedLength, &results)
                    state = .ended
                case .some(let length?): begin(length, &results)
                }
            case .message(let begin, let missing):
                let piece = rest.prefix(missing)
                rest = rest.dropFirst(missing)
                // Releases the state's reference to the message, so that changes don't copy it.
                state = .ended
                guard begin.isEmpty, piece.count == missing else {
                    var message = begin
                    message.append(piece)
                    take(message, missing: missing - piece.count, &results)
                    continue
                }
                take(piece, missing: 0, &results)
            case .skipping(let missing):
                let count = min(missing, rest.count)
                rest = rest.dropFirst(count)
                state = missing == count ? .length(LengthPrefix()) : .skipping(missing: missing - count)
            case .ended: return results
            }
        }
        return results
    }

    /// Returns a failure if the body ended within a message.
    public mutating func finish() -> [Result<M, AFError>] {
        var results: [Result<M, AFError>] = []
        switch state {
        case .length(let prefix) where prefix.isEmpty: break
        case .length, .message: fail(.truncatedStream, &results)
        // The failure has already been returned.
        case .skipping, .ended: break
        }
        return results
    }

    private mutating func begin(_ length: Int, _ results: inout [Result<M, AFError>]) {
        guard length <= options.maximumSize else {
            fail(.tooLarge(maximum: options.maximumSize), &results)
            state = .skipping(missing: length)
            return
        }
        take(Data(), missing: length, &results)
    }

    private mutating func take(_ message: Data, missing: Int, _ results: inout [Result<M, AFError>]) {
        guard missing == 0 else {
            state = .message(message, missing: missing)
            return
        }
        state = .length(LengthPrefix())
        results.append(
            Result { () throws(ProtobufError) in
                try options.decode(M.self, from: message, as: .binary, index: index)
            }.mapError { .responseSerializationFailed(reason: .decodingFailed(error: $0)) })
        index += 1
    }

    private mutating func fail(_ reason: ProtobufError.Reason, _ results: inout [Result<M, AFError>]) {
        let error = ProtobufError(reason, messageName: M.protoMessageName, index: index)
        results.append(.failure(.responseSerializationFailed(reason: .decodingFailed(error: error))))
        index += 1
    }
}

/// A length as a varint: seven bits per byte, in little-endian order.
private struct LengthPrefix {
    private var value: UInt64 = 0
    private var shift: UInt64 = 0

    var isEmpty: Bool { shift == 0 }

    /// Adds a byte.
    ///
    /// - Returns: Nil if more bytes follow. Otherwise, the length, or an inner nil if it's invalid or at least 2 GiB.
    mutating func take(_ byte: UInt8) -> Int?? {
        value |= UInt64(byte & 0x7F) << shift
        shift += 7
        // A varint has at most ten bytes. Only one bit of the tenth is significant.
        if byte < 0x80 { return .some(value <= UInt64(Int32.max) ? Int(value) : nil) }
        return shift < 70 ? nil : .some(nil)
    }
}

extension DataStreamParser {
    /// Returns a parser that decodes each message of a stream of length-delimited messages.
    ///
    /// - Parameters:
    ///   - type: The type of the messages.
    ///   - options: The options and limits for each message.
    public static func protobufMessages<M: Message>(
        of type: M.Type, options: ProtobufDecodingOptions = ProtobufDecodingOptions()
    ) -> Self where Self == ProtobufMessagesParser<M> {
        ProtobufMessagesParser(options: options)
    }
}

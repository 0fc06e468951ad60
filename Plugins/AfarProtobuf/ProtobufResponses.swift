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

// MARK: - Streams

/// Decodes each message of a stream in the binary format, wherever its chunks end. Before each stands its length as a varint,
/// as `writeDelimitedTo` and its like write it.
///
/// A message that cannot be decoded, or is too large, is a failure; the messages after it are read. Where a length cannot be
/// read, nothing after it can be.
public struct ProtobufMessagesParser<M: Message>: DataStreamParser {
    /// How messages are decoded, and what each may cost.
    public let options: ProtobufDecodingOptions
    private var state = State.length(LengthPrefix())
    private var index = 0

    private enum State {
        case length(LengthPrefix)
        /// The begin of a message, and how many bytes are missing.
        case message(Data, missing: Int)
        /// A message that is too large, of which so many bytes are still to come.
        case passing(missing: Int)
        case ended
    }

    /// Makes a parser.
    ///
    /// - Parameter options: How messages are decoded, and what each may cost.
    public init(options: ProtobufDecodingOptions = ProtobufDecodingOptions()) { self.options = options }

    /// The messages that a chunk completes.
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
                // The copy that the state has would make this one copy what it changes.
                state = .ended
                guard begin.isEmpty, piece.count == missing else {
                    var message = begin
                    message.append(piece)
                    take(message, missing: missing - piece.count, &results)
                    continue
                }
                take(piece, missing: 0, &results)
            case .passing(let missing):
                let count = min(missing, rest.count)
                rest = rest.dropFirst(count)
                state = missing == count ? .length(LengthPrefix()) : .passing(missing: missing - count)
            case .ended: return results
            }
        }
        return results
    }

    /// A failure if the body has ended within a message.
    public mutating func finish() -> [Result<M, AFError>] {
        var results: [Result<M, AFError>] = []
        switch state {
        case .length(let prefix) where prefix.isEmpty: break
        case .length, .message: fail(.truncatedStream, &results)
        // The failure has come.
        case .passing, .ended: break
        }
        return results
    }

    private mutating func begin(_ length: Int, _ results: inout [Result<M, AFError>]) {
        guard length <= options.maximumSize else {
            fail(.tooLarge(maximum: options.maximumSize), &results)
            state = .passing(missing: length)
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

/// A varint that is a length: seven bits a byte, the lowest first.
private struct LengthPrefix {
    private var value: UInt64 = 0
    private var shift: UInt64 = 0

    var isEmpty: Bool { shift == 0 }

    /// Takes a byte.
    ///
    /// - Returns: The length, if this was the last byte; nil in it for what is no length of a message, which has less than
    ///   2 GiB.
    mutating func take(_ byte: UInt8) -> Int?? {
        value |= UInt64(byte & 0x7F) << shift
        shift += 7
        // Ten bytes are the most that a varint has; what counts in the tenth is one bit.
        if byte < 0x80 { return .some(value <= UInt64(Int32.max) ? Int(value) : nil) }
        return shift < 70 ? nil : .some(nil)
    }
}

extension DataStreamParser {
    /// Decodes each message of a stream of length-delimited ones.
    ///
    /// - Parameters:
    ///   - type: The messages' type.
    ///   - options: How messages are decoded, and what each may cost.
    public static func protobufMessages<M: Message>(
        of type: M.Type, options: ProtobufDecodingOptions = ProtobufDecodingOptions()
    ) -> Self where Self == ProtobufMessagesParser<M> {
        ProtobufMessagesParser(options: options)
    }
}

public import Foundation
public import SwiftProtobuf

#if !Protobuf
    #error("AfarProtobuf needs the package trait Protobuf: .package(url: …, traits: [\"Protobuf\"])")
#endif

/// How messages are decoded, and what they may cost.
public struct ProtobufDecodingOptions: Sendable {
    /// The bytes of a message; one of more fails with a ``ProtobufError``. The default is 4 MiB, as with gRPC. In memory a
    /// message takes more: one of many that are empty, each two bytes, may take a hundred times as much.
    public var maximumSize: Int
    /// How the binary format is decoded: how deep messages may be nested, by default 100 levels, and whether unknown fields
    /// are kept.
    public var binary: BinaryDecodingOptions
    /// How JSON is decoded: how deep messages may be nested, by default 100 levels, and whether unknown fields are an error,
    /// which they are by default.
    public var json: JSONDecodingOptions
    /// The extensions that are known. The default is nil: none, so that in the binary format they stay unknown fields.
    public var extensions: (any ExtensionMap)?

    /// Makes options.
    public init(
        maximumSize: Int = 4 << 20,
        binary: BinaryDecodingOptions = BinaryDecodingOptions(),
        json: JSONDecodingOptions = JSONDecodingOptions(),
        extensions: (any ExtensionMap)? = nil
    ) {
        self.maximumSize = maximumSize
        self.binary = binary
        self.json = json
        self.extensions = extensions
    }

    /// Decodes a message.
    ///
    /// - Parameters:
    ///   - index: The message's number in its stream; nil where there is one message only.
    func decode<M: Message>(
        _ type: M.Type, from bytes: some SwiftProtobufContiguousBytes, as format: ProtobufFormat, index: Int? = nil
    ) throws(ProtobufError) -> M {
        guard bytes.count <= maximumSize else {
            throw ProtobufError(.tooLarge(maximum: maximumSize), messageName: M.protoMessageName, index: index)
        }
        do {
            return switch format {
            case .binary: try M(serializedBytes: bytes, extensions: extensions, options: binary)
            case .json: try M(jsonUTF8Bytes: bytes, extensions: extensions, options: json)
            }
        } catch {
            throw ProtobufError(.malformed(format, error), messageName: M.protoMessageName, index: index)
        }
    }
}

// MARK: - Formats

/// How a message is written.
public enum ProtobufFormat: String, Sendable, Hashable {
    /// The binary wire format.
    case binary
    /// The JSON format of Protocol Buffers ("ProtoJSON").
    case json

    /// `application/x-protobuf` or `application/json`.
    public var contentType: String {
        switch self {
        case .binary: "application/x-protobuf"
        case .json: "application/json"
        }
    }

    /// How a message of a Content-Type is written. Of several types it is the first.
    init(contentType: String?) {
        let bytes = (contentType ?? "").utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        let type = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespaces).lowercased()
        self = type == "application/json" || type == "text/json" || type.hasSuffix("+json") ? .json : .binary
    }
}

// MARK: - Errors

/// A message of Protocol Buffers that cannot be read.
public struct ProtobufError: Error, Sendable {
    /// What was wrong.
    public enum Reason: Sendable {
        /// The bytes are no such message; the error is swift-protobuf's.
        case malformed(ProtobufFormat, any Error)
        /// The message has more bytes than ``ProtobufDecodingOptions/maximumSize``.
        case tooLarge(maximum: Int)
        /// What stands before a message in a stream is no length below 2 GiB. Nothing is read after it.
        case malformedLength
        /// A stream has come to its end within a message.
        case truncatedStream
    }

    /// What was wrong.
    public let reason: Reason
    /// The full name of the message's type, `google.protobuf.Timestamp` say.
    public let messageName: String
    /// The message's number in its stream; the first is 0. Nil where there is one message only.
    public let index: Int?

    /// Makes an error.
    public init(_ reason: Reason, messageName: String, index: Int?) {
        self.reason = reason
        self.messageName = messageName
        self.index = index
    }
}

extension ProtobufError: LocalizedError, CustomStringConvertible {
    /// What was wrong, where, and what can be done.
    public var description: String {
        let message = messageName + (index.map { " at index \($0) of the stream" } ?? "")
        return switch reason {
        case .malformed(.binary, let error):
            "The bytes are no message \(message): \(error). Look whether the response is of this type and in the binary "
                + "format; as JSON it is read if its Content-Type says so."
        case .malformed(.json, let error):
            "The JSON is no message \(message): \(error). Look whether the response is of this type, and whether unknown "
                + "fields should be ignored (ProtobufDecodingOptions.json)."
        case .tooLarge(let maximum):
            "The message \(message) has more than \(maximum) bytes. Decode it with larger limits "
                + "(ProtobufDecodingOptions.maximumSize) if its sender can be trusted."
        case .malformedLength:
            "What stands before the message \(message) is no length. Look whether the stream has length-delimited messages."
        case .truncatedStream: "The stream has come to its end within the message \(message)."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

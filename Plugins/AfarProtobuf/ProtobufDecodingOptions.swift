public import Foundation
public import SwiftProtobuf

#if !Protobuf
    #error("AfarProtobuf requires the package trait Protobuf: .package(url: …, traits: [.defaults, \"Protobuf\"])")
#endif

/// Options and limits for decoding messages.
public struct ProtobufDecodingOptions: Sendable {
    /// The maximum size of a message in bytes. A larger message fails with a ``ProtobufError``. The default is 4 MiB, as in gRPC. A
    /// decoded message uses more memory than its encoded form, up to a hundred times as much if it consists of many empty messages
    /// of two bytes.
    public var maximumSize: Int
    /// The options for the binary format, such as the maximum nesting depth of messages (100 by default) and whether unknown fields are
    /// kept.
    public var binary: BinaryDecodingOptions
    /// The options for JSON, such as the maximum nesting depth of messages (100 by default) and whether unknown fields are an error (the
    /// default).
    public var json: JSONDecodingOptions
    /// The known extensions. If it's nil (the default), extensions in the binary format are unknown fields.
    public var extensions: (any ExtensionMap)?

    /// Creates options.
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
    ///   - index: The index of the message in its stream; nil for a single message.
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

/// A format of messages.
public enum ProtobufFormat: String, Sendable, Hashable {
    /// The binary wire format.
    case binary
    /// The JSON format of Protocol Buffers ("ProtoJSON").
    case json

    /// The content type: `application/x-protobuf` or `application/json`.
    public var contentType: String {
        switch self {
        case .binary: "application/x-protobuf"
        case .json: "application/json"
        }
    }

    /// Creates the format for a Content-Type. Uses the first of several types.
    init(contentType: String?) {
        let bytes = (contentType ?? "").utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        let type = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespaces).lowercased()
        self = type == "application/json" || type == "text/json" || type.hasSuffix("+json") ? .json : .binary
    }
}

/// An error that occurs when a Protocol Buffers message is decoded.
public struct ProtobufError: Error, Sendable {
    /// The cause of an error.
    public enum Reason: Sendable {
        /// The bytes aren't a valid message of the type. The associated error is from swift-protobuf.
        case malformed(ProtobufFormat, any Error)
        /// The message has more bytes than ``ProtobufDecodingOptions/maximumSize``.
        case tooLarge(maximum: Int)
        /// The length before a message in a stream is invalid or at least 2 GiB. The rest of the stream isn't read.
        case malformedLength
        /// The stream ended within a message.
        case truncatedStream
    }

    /// The cause of the error.
    public let reason: Reason
    /// The full name of the message's type, such as `google.protobuf.Timestamp`.
    public let messageName: String
    /// The index of the message in its stream, starting from 0. Nil for a single message.
    public let index: Int?

    /// Creates an error.
    public init(_ reason: Reason, messageName: String, index: Int?) {
        self.reason = reason
        self.messageName = messageName
        self.index = index
    }
}

extension ProtobufError: LocalizedError, CustomStringConvertible {
    /// A description of the cause, the position, and a possible solution.
    public var description: String {
        let message = messageName + (index.map { " at index \($0) of the stream" } ?? "")
        return switch reason {
        case .malformed(.binary, let error):
            "The bytes are not a valid message \(message): \(error). Check the type of the response and its format. It's "
                + "decoded as JSON only if its Content-Type is JSON."
        case .malformed(.json, let error):
            "The JSON is not a valid message \(message): \(error). Check the type of the response, and whether to ignore "
                + "unknown fields (ProtobufDecodingOptions.json)."
        case .tooLarge(let maximum):
            "The message \(message) has more than \(maximum) bytes. If you trust its sender, increase "
                + "ProtobufDecodingOptions.maximumSize."
        case .malformedLength:
            "The length of the message \(message) is invalid. Check that the messages of the stream are length-delimited."
        case .truncatedStream: "The stream ended within the message \(message)."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

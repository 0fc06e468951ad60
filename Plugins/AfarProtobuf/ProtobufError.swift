public import Foundation

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

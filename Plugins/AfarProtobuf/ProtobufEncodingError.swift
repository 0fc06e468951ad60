public import Foundation

/// Parameters that cannot be written as they should. Their content is not in the error, which may end in a log.
public struct ProtobufEncodingError: Error, Hashable, Sendable {
    /// What was wrong.
    public enum Reason: Hashable, Sendable {
        /// The parameters of a ``ProtobufParameterEncoder`` are no ``ProtobufBody``.
        case noMessage
        /// Another encoder than a ``ProtobufParameterEncoder`` was to write a message.
        case otherEncoder
    }

    /// What was wrong.
    public let reason: Reason
    /// The type of the parameters, or the full name of the message's type, `google.protobuf.Timestamp` say.
    public let typeName: String

    /// Makes an error.
    public init(_ reason: Reason, typeName: String) {
        self.reason = reason
        self.typeName = typeName
    }
}

extension ProtobufEncodingError: LocalizedError, CustomStringConvertible {
    /// What was wrong, and what can be done.
    public var description: String {
        switch reason {
        case .noMessage: "\(typeName) is no message of Protocol Buffers. Pass a ProtobufBody."
        case .otherEncoder:
            "The message \(typeName) can be written by a ProtobufParameterEncoder only. Pass the encoder .protobuf."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

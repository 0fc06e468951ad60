public import SwiftProtobuf

/// A message of Protocol Buffers as the parameters of a request, for ``ProtobufParameterEncoder``: messages are not
/// `Encodable`, which parameters must be.
///
/// `AF.request(url, method: .post, protobuf: message)` makes one by itself.
public struct ProtobufBody<M: Message>: Encodable, Sendable {
    /// The message.
    public var message: M

    /// Makes parameters of a message.
    public init(_ message: M) { self.message = message }

    /// Refuses: only a ``ProtobufParameterEncoder`` can write messages.
    ///
    /// - Throws: A ``ProtobufEncodingError``.
    public func encode(to encoder: any Encoder) throws {
        throw ProtobufEncodingError(.otherEncoder, typeName: M.protoMessageName)
    }
}

/// Parameters that are a message, whatever its type.
protocol ProtobufParameters {
    associatedtype M: Message
    var message: M { get }
}

extension ProtobufBody: ProtobufParameters {}

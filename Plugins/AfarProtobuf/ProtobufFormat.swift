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
}

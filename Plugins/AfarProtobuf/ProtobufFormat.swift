import Foundation

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

import AfarCore
import AfarProtobuf
import Foundation
import SwiftProtobuf

extension Google_Protobuf_Timestamp {
    static let noon = Google_Protobuf_Timestamp(seconds: 1_714_996_800, nanos: 500)
}

extension Google_Protobuf_Struct {
    static let person: Google_Protobuf_Struct = {
        var person: Google_Protobuf_Struct = ["name": "Ada", "age": 36]
        person.fields["tags"] = Google_Protobuf_Value(listValue: ["a", true, nil])
        person.fields["more"] = Google_Protobuf_Value(structValue: ["deep": 1.5])
        return person
    }()
}

/// Returns a value with the given number of nested messages.
func nested(_ depth: Int) -> Google_Protobuf_Value {
    (0..<depth).reduce(Google_Protobuf_Value(numberValue: 1)) { value, _ in
        Google_Protobuf_Value(listValue: Google_Protobuf_ListValue.with { $0.values = [value] })
    }
}

extension Message {
    /// The message with a length prefix.
    var delimited: Data {
        get throws {
            let message: Data = try serializedBytes()
            var length = message.count
            var bytes = Data()
            while length >= 0x80 {
                bytes.append(UInt8(length & 0x7F) | 0x80)
                length >>= 7
            }
            return bytes + [UInt8(length)] + message
        }
    }
}

extension AFError {
    /// The plug-in's error.
    var protobuf: ProtobufError? { underlyingError as? ProtobufError }
}

import Foundation

/// Any JSON value. Numbers are doubles, and object members are sorted by name.
enum AnyJSON: Decodable, Equatable {
    case null, bool(Bool), number(Double), string(String)
    indirect case array([AnyJSON])
    indirect case object([String: AnyJSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([AnyJSON].self) {
            self = .array(value)
        } else if let value = try? container.decode([String: AnyJSON].self) {
            self = .object(value)
        } else {
            self = .number(try container.decode(Double.self))
        }
    }
}

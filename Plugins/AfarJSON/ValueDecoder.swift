import Foundation

/// Decodes one value.
struct ValueDecoder: Decoder {
    let value: JSONValue

    var codingPath: [any CodingKey] { value.document.path(to: value) }
    var userInfo: [CodingUserInfoKey: Any] { value.document.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try KeyedContainer<Key>(value))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try UnkeyedContainer(value) }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.document.isNull(value.node) }
    func decode(_ type: Bool.Type) throws -> Bool { try value.document.bool(at: value) }
    func decode(_ type: String.Type) throws -> String { try value.document.string(at: value) }
    func decode(_ type: Double.Type) throws -> Double { try value.document.double(at: value) }
    func decode(_ type: Float.Type) throws -> Float { try value.document.float(at: value) }
    func decode(_ type: Int.Type) throws -> Int { try value.document.integer(type, at: value) }
    func decode(_ type: Int8.Type) throws -> Int8 { try value.document.integer(type, at: value) }
    func decode(_ type: Int16.Type) throws -> Int16 { try value.document.integer(type, at: value) }
    func decode(_ type: Int32.Type) throws -> Int32 { try value.document.integer(type, at: value) }
    func decode(_ type: Int64.Type) throws -> Int64 { try value.document.integer(type, at: value) }
    func decode(_ type: Int128.Type) throws -> Int128 { try value.document.integer(type, at: value) }
    func decode(_ type: UInt.Type) throws -> UInt { try value.document.integer(type, at: value) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try value.document.integer(type, at: value) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try value.document.integer(type, at: value) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try value.document.integer(type, at: value) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try value.document.integer(type, at: value) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try value.document.integer(type, at: value) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try value.document.decode(type, at: value) }
}

import Foundation

/// Decodes one value.
struct ValueDecoder: Decoder {
    private let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    var codingPath: [any CodingKey] { value.isOpen ? value.path : [] }
    var userInfo: [CodingUserInfoKey: Any] { value.isOpen ? value.document.details.userInfo : [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try KeyedContainer<Key>(value.whileOpen))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try UnkeyedContainer(value.whileOpen) }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isOpen && value.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try value.whileOpen.bool() }
    func decode(_ type: String.Type) throws -> String { try value.whileOpen.string() }
    func decode(_ type: Double.Type) throws -> Double { try value.whileOpen.double() }
    func decode(_ type: Float.Type) throws -> Float { try value.whileOpen.float() }
    func decode(_ type: Int.Type) throws -> Int { try value.whileOpen.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try value.whileOpen.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try value.whileOpen.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try value.whileOpen.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try value.whileOpen.integer(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try value.whileOpen.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try value.whileOpen.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try value.whileOpen.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try value.whileOpen.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try value.whileOpen.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try value.whileOpen.integer(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try value.whileOpen.integer(type) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try value.whileOpen.decode(type) }
}

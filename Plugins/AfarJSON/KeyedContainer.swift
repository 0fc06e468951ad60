import Foundation

/// The members of an object.
struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let object: JSONValue
    private let index: JSONDocument.Index?

    init(_ value: JSONValue) throws {
        guard value.document.first(value.node) == UInt8(ascii: "{") else {
            throw value.document.mismatch([String: Any].self, at: value)
        }
        object = value
        index = try value.document.index(of: value)
    }

    private var document: JSONDocument { object.document }

    var codingPath: [any CodingKey] { document.path(to: object) }

    var allKeys: [Key] {
        if let index { return index.sorted { $0.value < $1.value }.compactMap { Key(stringValue: $0.key) } }
        return document.keys(of: object.node).compactMap { key in
            let number = document.keyNumber(key)
            return Key(
                stringValue: object.keepsKeys
                    ? document.names.written(number) : document.names.name(number, at: []))
        }
    }

    func contains(_ key: Key) -> Bool { member(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { document.isNull(try value(key).node) }

    // MARK: Finding

    private func member(_ key: Key) -> JSONValue? {
        let name = key.stringValue
        let found = if let index { index[name] } else { document.key(named: name, of: object) }
        guard let node = found else { return nil }
        return JSONValue(
            document: document, node: node + 1, parent: object.node, place: document.keyNumber(node))
    }

    private func value(_ key: Key) throws -> JSONValue {
        guard let value = member(key) else { throw document.noMember(key, in: object) }
        return value
    }

    /// The value; nil where there is none, or null.
    private func present(_ key: Key) -> JSONValue? {
        guard let value = member(key), !document.isNull(value.node) else { return nil }
        return value
    }

    // MARK: Decoding

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try document.bool(at: value(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try document.string(at: value(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try document.double(at: value(key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try document.float(at: value(key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try document.integer(type, at: value(key)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try document.integer(type, at: value(key)) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try document.integer(type, at: value(key)) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try document.integer(type, at: value(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try document.integer(type, at: value(key)) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try document.integer(type, at: value(key)) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try document.integer(type, at: value(key)) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try document.integer(type, at: value(key)) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try document.integer(type, at: value(key)) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try document.integer(type, at: value(key)) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try document.integer(type, at: value(key)) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try document.integer(type, at: value(key)) }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try document.decode(type, at: value(key))
    }

    // Each key is looked for once only, which the protocol's own forms of these don't do.

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(key).map { try document.bool(at: $0) }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try present(key).map { try document.string(at: $0) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present(key).map { try document.double(at: $0) }
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try present(key).map { try document.float(at: $0) }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present(key).map { try document.integer(type, at: $0) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try present(key).map { try document.integer(type, at: $0) }
    }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try present(key).map { try document.decode(type, at: $0) }
    }

    // MARK: Nesting

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        KeyedDecodingContainer(try KeyedContainer<NestedKey>(value(key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try UnkeyedContainer(value(key))
    }

    func superDecoder() -> any Decoder { superDecoder(named: JSONKey.super.stringValue) }
    func superDecoder(forKey key: Key) -> any Decoder { ValueDecoder(value: member(key) ?? absent) }

    private func superDecoder(named name: String) -> any Decoder {
        Key(stringValue: name).map { superDecoder(forKey: $0) } ?? ValueDecoder(value: absent)
    }
    private var absent: JSONValue { document.absent(in: object.node) }
}

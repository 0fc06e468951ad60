import Foundation

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

// MARK: - Objects

/// The members of an object.
struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let object: JSONValue
    /// The numbers of all keys. Nil if names depend on the path, or if ``JSONDocument/numbers(of:)`` returns nil.
    private let numbers: KeyNumbers?

    init(_ value: JSONValue) throws {
        try value.require(value.isObject, [String: Any].self)
        try value.checkNames()
        object = value
        numbers = value.document.namesDependOnPath ? nil : value.document.numbers(of: Key.self)
    }

    var codingPath: [any CodingKey] { object.isOpen ? object.path : [] }

    var allKeys: [Key] {
        guard object.isOpen else { return [] }
        let names = object.allNames
        return names.compactMap { Key(stringValue: $0) }
    }

    func contains(_ key: Key) -> Bool { object.isOpen && member(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

    // MARK: Finding

    @inline(__always)
    private func member(_ key: Key) -> JSONValue? {
        guard let numbers else { return member(named: key.stringValue) }
        let byte = MemoryLayout<Key>.size == 0 ? 0 : Int(unsafeBitCast(key, to: UInt8.self))
        if numbers[byte] == DecodedTypes.unknown {
            numbers[byte] = object.document.number(named: key.stringValue)
        }
        guard let node = object.key(numbered: numbers[byte]) else { return nil }
        return object.member(node)
    }

    private func member(named name: String) -> JSONValue? {
        guard let node = object.key(named: name) else { return nil }
        return object.member(node)
    }

    private func value(_ key: Key) throws -> JSONValue {
        guard object.isOpen else { throw JSONValue.closed }
        guard let value = member(key) else { throw object.missing(key) }
        return value
    }

    /// Returns the value, or nil if it's missing or null.
    private func present(_ key: Key) throws -> JSONValue? {
        guard object.isOpen else { throw JSONValue.closed }
        guard let value = member(key), !value.isNull else { return nil }
        return value
    }

    // MARK: Decoding

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key).bool() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key).string() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key).double() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key).float() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key).integer(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(key).integer(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(key).integer(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(key).integer(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(key).integer(type) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try value(key).integer(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(key).integer(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(key).integer(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(key).integer(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(key).integer(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(key).integer(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try value(key).integer(type) }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try value(key).decode(type)
    }

    // Unlike the protocol's implementations, these look up each key only once.

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(key)?.bool()
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try present(key)?.string()
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present(key)?.double()
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try present(key)?.float()
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present(key)?.integer(type)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try present(key)?.integer(type)
    }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try present(key)?.decode(type)
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

    func superDecoder() throws -> any Decoder { try superDecoder(named: "super") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder(named: key.stringValue) }

    private func superDecoder(named name: String) throws -> any Decoder {
        guard object.isOpen else { throw JSONValue.closed }
        return ValueDecoder(member(named: name) ?? object.document.absent(name, in: object.node))
    }
}

// MARK: - Arrays

/// The elements of an array.
struct UnkeyedContainer: UnkeyedDecodingContainer {
    private let array: JSONValue
    private var next: UInt32
    private(set) var currentIndex = 0
    private let length: Int

    init(_ value: JSONValue) throws {
        try value.require(value.isArray, [Any].self)
        array = value
        next = value.node + 3
        length = value.count
    }

    var codingPath: [any CodingKey] { array.isOpen ? array.path : [] }
    var count: Int? { length }
    var isAtEnd: Bool { currentIndex >= length }

    // MARK: Elements

    private func element(_ type: Any.Type) throws -> JSONValue {
        guard array.isOpen else { throw JSONValue.closed }
        guard !isAtEnd else { throw array.missing(type, at: currentIndex) }
        return JSONValue(document: array.document, node: next, parent: array.node, place: UInt32(currentIndex))
    }

    private mutating func advance() {
        next = array.document.end(of: next)
        currentIndex += 1
    }

    /// Reads an element. On success, advances to the next element.
    @inline(__always)
    private mutating func take<T>(_ type: T.Type, _ read: (JSONValue) throws -> T) throws -> T {
        let value = try read(element(type))
        advance()
        return value
    }

    // MARK: Decoding

    mutating func decodeNil() throws -> Bool {
        let isNull = try element(Any?.self).isNull
        if isNull { advance() }
        return isNull
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try take(type) { try $0.bool() } }
    mutating func decode(_ type: String.Type) throws -> String { try take(type) { try $0.string() } }
    mutating func decode(_ type: Double.Type) throws -> Double { try take(type) { try $0.double() } }
    mutating func decode(_ type: Float.Type) throws -> Float { try take(type) { try $0.float() } }
    mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try take(type) { try $0.decode(type) }
    }

    private mutating func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        try take(type) { try $0.integer(type) }
    }

    // MARK: Nesting

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try take(KeyedDecodingContainer<NestedKey>.self) {
            KeyedDecodingContainer(try KeyedContainer<NestedKey>($0))
        }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take((any UnkeyedDecodingContainer).self) { try UnkeyedContainer($0) }
    }

    mutating func superDecoder() throws -> any Decoder {
        try take((any Decoder).self) { ValueDecoder($0) }
    }
}

// Primitive types need methods of their own: the generic one would ask each to encode itself.

/// The fields of an object.
struct NestingLimitKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    /// Nil beyond the limit.
    private var base: KeyedEncodingContainer<Key>?
    private let limit: NestingLimit

    init(_ limit: NestingLimit, _ base: () -> KeyedEncodingContainer<Key>?) {
        self.base = limit.isOpen ? base() : nil
        self.limit = limit
    }

    var codingPath: [any CodingKey] { base?.codingPath ?? [] }

    mutating func encodeNil(forKey key: Key) throws { try base?.encodeNil(forKey: key) }
    mutating func encode(_ value: Bool, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: String, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Double, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Float, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int128, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt128, forKey key: Key) throws { try base?.encode(value, forKey: key) }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let passed = try limit.passed(value, at: codingPath + [key])
        try base?.encode(passed, forKey: key)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        let inside = limit.inContainer(at: codingPath + [key])
        return KeyedEncodingContainer(
            NestingLimitKeyedContainer<NestedKey>(inside) { base?.nestedContainer(keyedBy: keyType, forKey: key) })
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let inside = limit.inContainer(at: codingPath + [key])
        return NestingLimitUnkeyedContainer(inside) { base?.nestedUnkeyedContainer(forKey: key) }
    }

    mutating func superEncoder() -> any Encoder { NestingLimitEncoder(base: base?.superEncoder(), limit: limit) }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        NestingLimitEncoder(base: base?.superEncoder(forKey: key), limit: limit)
    }
}

/// The elements of an array.
struct NestingLimitUnkeyedContainer: UnkeyedEncodingContainer {
    /// Nil beyond the limit.
    private var base: (any UnkeyedEncodingContainer)?
    private let limit: NestingLimit

    init(_ limit: NestingLimit, _ base: () -> (any UnkeyedEncodingContainer)?) {
        self.base = limit.isOpen ? base() : nil
        self.limit = limit
    }

    var codingPath: [any CodingKey] { base?.codingPath ?? [] }
    var count: Int { base?.count ?? 0 }

    mutating func encodeNil() throws { try base?.encodeNil() }
    mutating func encode(_ value: Bool) throws { try base?.encode(value) }
    mutating func encode(_ value: String) throws { try base?.encode(value) }
    mutating func encode(_ value: Double) throws { try base?.encode(value) }
    mutating func encode(_ value: Float) throws { try base?.encode(value) }
    mutating func encode(_ value: Int) throws { try base?.encode(value) }
    mutating func encode(_ value: Int8) throws { try base?.encode(value) }
    mutating func encode(_ value: Int16) throws { try base?.encode(value) }
    mutating func encode(_ value: Int32) throws { try base?.encode(value) }
    mutating func encode(_ value: Int64) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt8) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt16) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt32) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt64) throws { try base?.encode(value) }
    mutating func encode(_ value: Int128) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt128) throws { try base?.encode(value) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        let passed = try limit.passed(value, at: codingPath)
        try base?.encode(passed)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        let inside = limit.inContainer(at: codingPath)
        return KeyedEncodingContainer(
            NestingLimitKeyedContainer<NestedKey>(inside) { base?.nestedContainer(keyedBy: keyType) })
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        NestingLimitUnkeyedContainer(limit.inContainer(at: codingPath)) { base?.nestedUnkeyedContainer() }
    }

    mutating func superEncoder() -> any Encoder { NestingLimitEncoder(base: base?.superEncoder(), limit: limit) }
}

/// One value.
struct NestingLimitSingleValueContainer: SingleValueEncodingContainer {
    /// Nil beyond the limit.
    var base: (any SingleValueEncodingContainer)?
    let limit: NestingLimit

    var codingPath: [any CodingKey] { base?.codingPath ?? [] }

    mutating func encodeNil() throws { try base?.encodeNil() }
    mutating func encode(_ value: Bool) throws { try base?.encode(value) }
    mutating func encode(_ value: String) throws { try base?.encode(value) }
    mutating func encode(_ value: Double) throws { try base?.encode(value) }
    mutating func encode(_ value: Float) throws { try base?.encode(value) }
    mutating func encode(_ value: Int) throws { try base?.encode(value) }
    mutating func encode(_ value: Int8) throws { try base?.encode(value) }
    mutating func encode(_ value: Int16) throws { try base?.encode(value) }
    mutating func encode(_ value: Int32) throws { try base?.encode(value) }
    mutating func encode(_ value: Int64) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt8) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt16) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt32) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt64) throws { try base?.encode(value) }
    mutating func encode(_ value: Int128) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt128) throws { try base?.encode(value) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        let passed = try limit.passed(value, at: codingPath)
        try base?.encode(passed)
    }
}

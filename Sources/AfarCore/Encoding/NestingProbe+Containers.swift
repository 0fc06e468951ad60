// Primitive types end where they are, and need methods of their own: the generic one would ask each to encode itself.

/// The fields of an object.
struct NestingProbeKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let probe: NestingProbe

    var codingPath: [any CodingKey] { probe.codingPath }

    func encodeNil(forKey key: Key) {}
    func encode(_ value: Bool, forKey key: Key) {}
    func encode(_ value: String, forKey key: Key) {}
    func encode(_ value: Double, forKey key: Key) {}
    func encode(_ value: Float, forKey key: Key) {}
    func encode(_ value: Int, forKey key: Key) {}
    func encode(_ value: Int8, forKey key: Key) {}
    func encode(_ value: Int16, forKey key: Key) {}
    func encode(_ value: Int32, forKey key: Key) {}
    func encode(_ value: Int64, forKey key: Key) {}
    func encode(_ value: UInt, forKey key: Key) {}
    func encode(_ value: UInt8, forKey key: Key) {}
    func encode(_ value: UInt16, forKey key: Key) {}
    func encode(_ value: UInt32, forKey key: Key) {}
    func encode(_ value: UInt64, forKey key: Key) {}
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try probe.at(key).take(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        probe.at(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { probe.at(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { probe }
    func superEncoder(forKey key: Key) -> any Encoder { probe.at(key) }
}

/// The elements of an array.
struct NestingProbeUnkeyedContainer: UnkeyedEncodingContainer {
    let probe: NestingProbe
    private(set) var count = 0

    init(probe: NestingProbe) {
        self.probe = probe
    }

    var codingPath: [any CodingKey] { probe.codingPath }

    mutating func encodeNil() { count += 1 }
    mutating func encode(_ value: Bool) { count += 1 }
    mutating func encode(_ value: String) { count += 1 }
    mutating func encode(_ value: Double) { count += 1 }
    mutating func encode(_ value: Float) { count += 1 }
    mutating func encode(_ value: Int) { count += 1 }
    mutating func encode(_ value: Int8) { count += 1 }
    mutating func encode(_ value: Int16) { count += 1 }
    mutating func encode(_ value: Int32) { count += 1 }
    mutating func encode(_ value: Int64) { count += 1 }
    mutating func encode(_ value: UInt) { count += 1 }
    mutating func encode(_ value: UInt8) { count += 1 }
    mutating func encode(_ value: UInt16) { count += 1 }
    mutating func encode(_ value: UInt32) { count += 1 }
    mutating func encode(_ value: UInt64) { count += 1 }

    mutating func encode<T: Encodable>(_ value: T) throws {
        count += 1
        try probe.take(value)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        count += 1
        return probe.container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        count += 1
        return probe.unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        count += 1
        return probe
    }
}

/// One value.
struct NestingProbeSingleValueContainer: SingleValueEncodingContainer {
    let probe: NestingProbe

    var codingPath: [any CodingKey] { probe.codingPath }

    func encodeNil() {}
    func encode(_ value: Bool) {}
    func encode(_ value: String) {}
    func encode(_ value: Double) {}
    func encode(_ value: Float) {}
    func encode(_ value: Int) {}
    func encode(_ value: Int8) {}
    func encode(_ value: Int16) {}
    func encode(_ value: Int32) {}
    func encode(_ value: Int64) {}
    func encode(_ value: UInt) {}
    func encode(_ value: UInt8) {}
    func encode(_ value: UInt16) {}
    func encode(_ value: UInt32) {}
    func encode(_ value: UInt64) {}
    func encode<T: Encodable>(_ value: T) throws { try probe.take(value) }
}

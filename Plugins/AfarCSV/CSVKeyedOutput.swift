/// The fields of a row, by the names of their columns.
struct CSVKeyedOutput<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let row: CSVRowEncoder

    var codingPath: [any CodingKey] { row.codingPath }

    func encodeNil(forKey key: Key) throws { try row.set(String?.none, forKey: key.stringValue) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }

    func encode(_ value: Int128, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encode(_ value: UInt128, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        row.refused(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { row.refused(key.stringValue) }

    /// What a superclass encodes stands beside the fields of the subclass.
    func superEncoder() -> any Encoder { row }

    func superEncoder(forKey key: Key) -> any Encoder { row.refused(key.stringValue) }
}

// MARK: Optionals
//
// For nil, the standard library's own answers leave the key out, and with it the column where all rows have nil. It has one
// for each of the primitive types, and prefers it to a generic method.

extension CSVKeyedOutput {
    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        try row.set(value, forKey: key.stringValue)
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try row.set(value, forKey: key.stringValue) }
}

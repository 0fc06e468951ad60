/// The fields of a row, by the names of their columns.
struct CSVKeyedFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: CSVRow

    var codingPath: [any CodingKey] { row.codingPath }

    var allKeys: [Key] {
        guard let columns = row.columns else {
            return row.record.fields.indices.compactMap { Key(intValue: $0) ?? Key(stringValue: String($0)) }
        }
        return columns.names.prefix(row.record.fields.count).compactMap { Key(stringValue: $0) }
    }

    func contains(_ key: Key) -> Bool { index(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try field(key).isNil }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try field(key).decode(type) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    /// What a superclass decodes stands beside the fields of the subclass.
    func superDecoder() throws -> any Decoder { row }

    func superDecoder(forKey key: Key) throws -> any Decoder { CSVFieldDecoder(field: try field(key)) }

    private func index(_ key: Key) -> Int? {
        let index: Int? =
            if let columns = row.columns {
                columns.index(of: key.stringValue)
            } else {
                key.intValue ?? Int(key.stringValue)
            }
        guard let index, row.record.fields.indices.contains(index) else { return nil }
        return index
    }

    private func field(_ key: Key) throws -> CSVField {
        guard let index = index(key) else {
            throw DecodingError.keyNotFound(key, row.context("The row has no such column.", nil))
        }
        if row.columns?.isDuplicate(key.stringValue) == true {
            throw DecodingError.dataCorrupted(row.context("Several columns have this name.", key))
        }
        return CSVField(row: row, index: index, key: key)
    }

    // MARK: What most fields are
    //
    // Without these, they would go through the generic method, which must find out their type.

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try field(key).text() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try Int(csv: field(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try Double(csv: field(key)) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try Bool(csv: field(key)) }

    // The standard library's own answers are that these are not supported, and it prefers them to a generic method.

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try Int128(csv: field(key)) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try UInt128(csv: field(key)) }
}

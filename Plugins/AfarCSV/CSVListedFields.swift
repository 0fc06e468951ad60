/// The fields of a row in their order.
struct CSVListedFields: UnkeyedDecodingContainer {
    let row: CSVRow
    private(set) var currentIndex = 0

    init(row: CSVRow) { self.row = row }

    var codingPath: [any CodingKey] { row.codingPath }
    var count: Int? { row.record.fields.count }
    var isAtEnd: Bool { currentIndex >= row.record.fields.count }

    mutating func decodeNil() throws -> Bool {
        guard try field(Never.self).isNil else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: String.Type) throws -> String {
        let text = try field(type).text()
        currentIndex += 1
        return text
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try decodeValue(type) }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try decodeValue(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try decodeValue(type) }

    private mutating func decodeValue<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try field(type).decode(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = CSVFieldDecoder(field: try field(Any.self))
        currentIndex += 1
        return decoder
    }

    private func field(_ type: Any.Type) throws -> CSVField {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(type, row.context("The row has no more fields.", CSVKey(currentIndex)))
        }
        return CSVField(row: row, index: currentIndex, key: CSVKey(currentIndex))
    }
}

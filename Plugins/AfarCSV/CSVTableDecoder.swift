/// Decodes the rows of a table one after the other: what is decoded pulls them.
final class CSVTableDecoder: Decoder {
    private var reader: CSVReader
    private let decoder: CSVDataDecoder
    private var upcoming: Result<CSVRecord, any Error>?
    /// The rows that were taken, also those that could not be decoded.
    private(set) var currentIndex = 0

    /// Takes a reader that has all the bytes.
    init(_ reader: CSVReader, _ decoder: CSVDataDecoder) {
        self.reader = reader
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { decoder.userInfo }

    /// Whether there is no other row.
    var isAtEnd: Bool {
        if upcoming == nil { upcoming = read() }
        return upcoming == nil
    }

    /// Decodes the next row. One that cannot be decoded is passed over.
    func decodeRow<Row: Decodable>(_ type: Row.Type) throws -> Row {
        guard let row = try takeRow() else {
            throw DecodingError.valueNotFound(
                type, DecodingError.Context(codingPath: path, debugDescription: "There are no more rows."))
        }
        return try row.decode(type)
    }

    /// The next row; nil when there are no more.
    func takeRow() throws -> CSVRow? {
        guard let result = upcoming ?? read() else { return nil }
        upcoming = nil
        defer { currentIndex += 1 }
        return CSVRow(try result.get(), currentIndex, reader, decoder)
    }

    /// The path of the next row.
    var path: [any CodingKey] { [CSVKey(currentIndex)] }

    private func read() -> Result<CSVRecord, any Error>? {
        if let result = reader.next() { return result.mapError { $0 } }
        do {
            try reader.finish()
        } catch {
            return .failure(error)
        }
        return reader.next().map { $0.mapError { $0 } }
    }
}

extension CSVTableDecoder {
    func unkeyedContainer() -> any UnkeyedDecodingContainer { CSVRows(table: self) }

    func singleValueContainer() -> any SingleValueDecodingContainer { CSVTableValue(table: self) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw isRows(KeyedDecodingContainer<Key>.self)
    }

    func isRows(_ type: Any.Type) -> DecodingError {
        .typeMismatch(
            type,
            DecodingError.Context(
                codingPath: [], debugDescription: "CSV is a sequence of rows. Decode an array of what a row is."))
    }
}

/// The rows of a table.
private struct CSVRows: UnkeyedDecodingContainer {
    let table: CSVTableDecoder

    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    var isAtEnd: Bool { table.isAtEnd }
    var currentIndex: Int { table.currentIndex }

    func decodeNil() -> Bool { false }

    func decode<Row: Decodable>(_ type: Row.Type) throws -> Row { try table.decodeRow(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try table.decodeRow(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try table.decodeRow(type) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try superDecoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try superDecoder().unkeyedContainer() }

    func superDecoder() throws -> any Decoder {
        guard let row = try table.takeRow() else { throw table.isRows(Any.self) }
        return row
    }
}

/// A table as the value of a type that wraps another, `Optional` for one.
private struct CSVTableValue: SingleValueDecodingContainer {
    let table: CSVTableDecoder

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard !(type is any CSVScalar.Type) else { throw table.isRows(type) }
        return try T(from: table)
    }
}

/// Decodes the rows of a table one after the other: what is decoded pulls them.
final class CSVTableDecoder: Decoder {
    private var reader: CSVReader
    private let decoder: CSVDataDecoder
    private var upcoming: Result<CSVRecord, any Error>?
    /// The rows that were taken or passed over.
    private(set) var currentIndex = 0
    /// The types that the next row has turned out not to be.
    private var failures: Set<ObjectIdentifier> = []

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

    /// Makes something of the next row, and takes the row if that succeeds.
    ///
    /// If not, the row stays, and can be tried as another type, as with `JSONDecoder`. Trying the same type again would only
    /// fail again: it passes over the row, so that a loop of `try?` comes to its end.
    func takeRow<Value>(as type: Any.Type, _ make: (CSVRow) throws -> Value) throws -> Value {
        if failures.contains(ObjectIdentifier(type)) { advance() }
        guard !isAtEnd, let result = upcoming else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(codingPath: [CSVKey(currentIndex)], debugDescription: "There are no more rows."))
        }
        do {
            let value = try make(CSVRow(result.get(), currentIndex, reader, decoder))
            advance()
            return value
        } catch {
            failures.insert(ObjectIdentifier(type))
            throw error
        }
    }

    private func advance() {
        upcoming = nil
        failures.removeAll()
        currentIndex += 1
    }

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

    func decode<Row: Decodable>(_ type: Row.Type) throws -> Row { try table.takeRow(as: type) { try $0.decode(type) } }
    func decode(_ type: Int128.Type) throws -> Int128 { try table.takeRow(as: type) { try $0.decode(type) } }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try table.takeRow(as: type) { try $0.decode(type) } }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try table.takeRow(as: KeyedDecodingContainer<Key>.self) { $0.container(keyedBy: type) }
    }

    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try table.takeRow(as: (any UnkeyedDecodingContainer).self) { $0.unkeyedContainer() }
    }

    func superDecoder() throws -> any Decoder { try table.takeRow(as: (any Decoder).self) { $0 } }
}

/// A table as the value of a type that wraps another, `Optional` for one.
private struct CSVTableValue: SingleValueDecodingContainer {
    let table: CSVTableDecoder

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard !(type is any CSVScalar.Type) else { throw table.isRows(type) }
        return try type.init(from: table)
    }
}

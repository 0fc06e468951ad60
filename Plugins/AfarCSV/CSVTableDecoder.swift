import AfarSerializers

/// Decodes the rows of a table in order, as the decoded type requests them.
final class CSVTableDecoder: Decoder {
    private var reader: CSVReader
    private let decoder: CSVDataDecoder
    private var upcoming: Result<CSVRecord, any Error>?
    /// The number of rows that were decoded or skipped.
    private(set) var currentIndex = 0
    /// The types that couldn't be decoded from the next row.
    private var failures: Set<ObjectIdentifier> = []

    /// - Parameter reader: A reader that has the entire body.
    init(_ reader: CSVReader, _ decoder: CSVDataDecoder) {
        self.reader = reader
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { decoder.userInfo }

    /// Whether all rows have been decoded.
    var isAtEnd: Bool {
        if upcoming == nil { upcoming = read() }
        return upcoming == nil
    }

    /// Decodes the next row, and advances to the following row on success.
    ///
    /// After a failure, the row can be decoded as another type, as with `JSONDecoder`. A second attempt with the same type
    /// would fail again, so the method skips the row and decodes the following one. This ensures that a loop with `try?` ends.
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
                codingPath: [], debugDescription: "CSV is a sequence of rows. Decode an array of rows."))
    }
}

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

/// Decodes a table for a type that wraps the sequence of rows, such as an optional array.
private struct CSVTableValue: SingleValueDecodingContainer {
    let table: CSVTableDecoder

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard !(type is any CSVScalar.Type) else { throw table.isRows(type) }
        return try type.init(from: table)
    }
}

// MARK: - Rows

final class CSVRow: Decoder {
    let record: CSVRecord
    /// The names of the columns, if any.
    let columns: CSVColumns?
    let options: CSVDataDecoder
    private let index: Int
    private let encoding: TextEncoding

    init(_ record: CSVRecord, _ index: Int, _ reader: CSVReader, _ options: CSVDataDecoder) {
        self.record = record
        self.index = index
        self.options = options
        columns = reader.columns
        encoding = reader.encoding
    }

    var codingPath: [any CodingKey] { [CSVKey(index)] }
    var userInfo: [CodingUserInfoKey: Any] { options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(CSVKeyedFields(row: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { CSVListedFields(row: self) }

    func singleValueContainer() -> any SingleValueDecodingContainer { CSVRowValue(row: self) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard type is any CSVScalar.Type else { return try make(type, from: self, nil) }
        return try onlyField(type).decode(type)
    }

    /// Creates a value with the `init(from:)` of its type.
    func make<T: Decodable>(_ type: T.Type, from decoder: any Decoder, _ key: (any CodingKey)?) throws -> T {
        do {
            return try type.init(from: decoder)
        } catch DecodingError.dataCorrupted where type is any RawRepresentable.Type {
            // The standard library's error contains the text of the field.
            throw DecodingError.dataCorrupted(context("The field is not a \(type).", key))
        }
    }

    func onlyField(_ type: Any.Type) throws -> CSVField {
        guard record.fields.count == 1 else {
            throw DecodingError.typeMismatch(
                type, context("A row of \(record.fields.count) fields is not a single value.", nil))
        }
        return CSVField(row: self, index: 0, key: nil)
    }

    func text(_ index: Int, _ key: (any CodingKey)?) throws -> String {
        guard let text = record.text(index, encoding) else {
            throw DecodingError.dataCorrupted(context("The field is not valid \(encoding).", key))
        }
        return text
    }

    /// Returns the context of an error, including the line number.
    func context(_ words: String, _ key: (any CodingKey)?) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: codingPath + [key].compactMap { $0 }, debugDescription: "\(words) (line \(record.line))")
    }
}

/// Decodes a row whose type decodes a single value: either the only field, or the row that the type wraps.
private struct CSVRowValue: SingleValueDecodingContainer {
    let row: CSVRow

    var codingPath: [any CodingKey] { row.codingPath }

    func decodeNil() -> Bool { row.record.fields.count == 1 && CSVField(row: row, index: 0, key: nil).isNil }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try row.decode(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try row.decode(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try row.decode(type) }
}

// MARK: - Fields by name

/// Decodes the fields of a row by column name.
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

    /// A superclass decodes its fields from the row of the subclass.
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

    // MARK: Frequent types
    //
    // These avoid the type checks of the generic method.

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try field(key).text() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try Int(csv: field(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try Double(csv: field(key)) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try Bool(csv: field(key)) }

    // Without these methods, overload resolution would prefer the standard library's implementations to the generic method. Those
    // implementations always throw.

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try Int128(csv: field(key)) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try UInt128(csv: field(key)) }
}

// MARK: - Fields in order

/// Decodes the fields of a row in order.
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

// MARK: - Keys

/// A coding key: the name of a column, or the number of a row or a column.
struct CSVKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ index: Int) {
        stringValue = String(index)
        intValue = index
    }

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) { self.init(intValue) }
}

import AfarSerializers

/// A row, as what is decoded from it sees it.
final class CSVRow: Decoder {
    let record: CSVRecord
    /// The names of the columns, if they have any.
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

    /// Decodes a value from the row.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard type is any CSVScalar.Type else { return try make(type, from: self, nil) }
        return try onlyField(type).decode(type)
    }

    /// Makes a value that decodes itself.
    func make<T: Decodable>(_ type: T.Type, from decoder: any Decoder, _ key: (any CodingKey)?) throws -> T {
        do {
            return try type.init(from: decoder)
        } catch DecodingError.dataCorrupted where type is any RawRepresentable.Type {
            // The standard library's words would tell what is in the field.
            throw DecodingError.dataCorrupted(context("The field is no \(type).", key))
        }
    }

    /// The field of a row that is a single value.
    func onlyField(_ type: Any.Type) throws -> CSVField {
        guard record.fields.count == 1 else {
            throw DecodingError.typeMismatch(
                type, context("A row of \(record.fields.count) fields is no single value.", nil))
        }
        return CSVField(row: self, index: 0, key: nil)
    }

    /// The text of a field.
    func text(_ index: Int, _ key: (any CodingKey)?) throws -> String {
        guard let text = record.text(index, encoding) else {
            throw DecodingError.dataCorrupted(context("The field is not valid \(encoding).", key))
        }
        return text
    }

    /// Where an error is.
    func context(_ words: String, _ key: (any CodingKey)?) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: codingPath + [key].compactMap { $0 }, debugDescription: "\(words) (line \(record.line))")
    }
}

/// A row as a single value, or as that of a type that wraps another.
private struct CSVRowValue: SingleValueDecodingContainer {
    let row: CSVRow

    var codingPath: [any CodingKey] { row.codingPath }

    func decodeNil() -> Bool { row.record.fields.count == 1 && CSVField(row: row, index: 0, key: nil).isNil }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try row.decode(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try row.decode(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try row.decode(type) }
}

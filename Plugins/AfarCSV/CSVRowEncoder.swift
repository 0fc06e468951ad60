/// Collects the fields of a row.
final class CSVRowEncoder: Encoder {
    private let table: CSVTableEncoder
    private let index: Int
    /// The fields, by column. What a row has no key for is nil.
    private(set) var fields: [String?] = []
    private(set) var hasKeys = false
    private var depth = 0

    init(_ table: CSVTableEncoder) {
        self.table = table
        index = table.rowCount
    }

    var codingPath: [any CodingKey] { [CSVKey(index)] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        hasKeys = true
        return KeyedEncodingContainer(CSVKeyedOutput(row: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { CSVListedOutput(row: self) }

    func singleValueContainer() -> any SingleValueEncodingContainer { CSVRowOutput(row: self) }

    /// Encodes what the row is.
    func encode<T: Encodable>(_ value: T) throws {
        if let text = try table.options.text(of: value, { error($0, nil) }) { return fields.append(text) }
        depth += 1
        defer { depth -= 1 }
        guard depth < 100 else { throw error(.endlessValue, nil) }
        try value.encode(to: self)
    }

    /// Adds a field, nil for nothing.
    func append<T: Encodable>(_ value: T?) throws {
        guard let value else { return fields.append(nil) }
        fields.append(try text(of: value, String(fields.count)))
    }

    /// Sets the field of a key, nil for nothing.
    func set<T: Encodable>(_ value: T?, forKey key: String) throws {
        let column = try table.column(of: key, row: index)
        var field: String?
        if let value { field = try text(of: value, key) }
        if column >= fields.count { fields += Array(repeating: nil, count: column + 1 - fields.count) }
        fields[column] = field
    }

    func refused(_ column: String?) -> CSVRefusal { CSVRefusal(error(.nestedValue, column), table) }

    private func text<T: Encodable>(of value: T, _ column: String) throws -> String? {
        if let text = try table.options.text(of: value, { error($0, column) }) { return text }
        return try CSVFieldEncoder(self, column, table.options).text(of: value)
    }

    func error(_ reason: CSVEncodingError.Reason, _ column: String?) -> CSVEncodingError {
        CSVEncodingError(reason, row: index, column: column)
    }
}

/// A row as a single value, or as that of a type that wraps another.
private struct CSVRowOutput: SingleValueEncodingContainer {
    let row: CSVRowEncoder

    var codingPath: [any CodingKey] { row.codingPath }

    func encodeNil() throws { try row.append(String?.none) }
    func encode<T: Encodable>(_ value: T) throws { try row.encode(value) }
    func encode(_ value: Int128) throws { try row.encode(value) }
    func encode(_ value: UInt128) throws { try row.encode(value) }
}

/// A row as a list of fields.
private struct CSVListedOutput: UnkeyedEncodingContainer {
    let row: CSVRowEncoder

    var codingPath: [any CodingKey] { row.codingPath }
    var count: Int { row.fields.count }

    func encodeNil() throws { try row.append(String?.none) }
    func encode<T: Encodable>(_ value: T) throws { try row.append(value) }
    func encode(_ value: Int128) throws { try row.append(value) }
    func encode(_ value: UInt128) throws { try row.append(value) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        row.refused(String(count)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { row.refused(String(count)) }
    func superEncoder() -> any Encoder { row.refused(String(count)) }
}

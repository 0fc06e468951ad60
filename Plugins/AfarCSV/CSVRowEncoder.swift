/// Collects the fields of a row.
final class CSVRowEncoder: Encoder {
    private let table: CSVTableEncoder
    private let index: Int
    /// The fields by column; nil for columns without a key in this row.
    private(set) var fields: [String?] = []
    /// The keys of the fields, if any.
    private var keys: [String?] = []
    /// Nil until the row has a key or a field without a key.
    private var isKeyed: Bool?
    private var depth = 0

    init(_ table: CSVTableEncoder) {
        self.table = table
        index = table.rowCount
    }

    var hasKeys: Bool { isKeyed == true }
    var codingPath: [any CodingKey] { [CSVKey(index)] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        isKeyed = isKeyed ?? true
        return KeyedEncodingContainer(CSVKeyedOutput(row: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { CSVListedOutput(row: self) }

    func singleValueContainer() -> any SingleValueEncodingContainer { CSVRowOutput(row: self) }

    func encode<T: Encodable>(_ value: T) throws {
        if let text = try table.options.text(of: value, { error($0, nil) }) { return try add(text) }
        depth += 1
        defer { depth -= 1 }
        guard depth < 100 else { throw error(.endlessValue, nil) }
        // Dictionaries have a random order, so sort the keys.
        for key in (value as? any UnorderedKeys)?.sortedNames ?? [] { _ = try table.column(of: key, row: index) }
        try value.encode(to: self)
    }

    func append<T: Encodable>(_ value: T?) throws {
        guard let value else { return try add(nil) }
        try add(text(of: value, String(fields.count)))
    }

    private func add(_ field: String?) throws(CSVEncodingError) {
        guard !hasKeys else { throw error(.mixedRows, nil) }
        isKeyed = false
        fields.append(field)
    }

    /// Sets the field of a key. The same key can be set again, but two keys can't share a column.
    func set<T: Encodable>(_ value: T?, forKey key: String) throws {
        guard hasKeys else { throw error(.mixedRows, nil) }
        let column = try table.column(of: key, row: index)
        while fields.count <= column {
            fields.append(nil)
            keys.append(nil)
        }
        guard keys[column] == nil || keys[column] == key else { throw error(.duplicateColumn, key) }
        keys[column] = key
        fields[column] = try value.flatMap { try text(of: $0, key) }
    }

    func failingEncoder(_ column: String?) -> CSVFailingEncoder {
        CSVFailingEncoder(error(.nestedValue, column), table)
    }

    private func text<T: Encodable>(of value: T, _ column: String) throws -> String? {
        if let text = try table.options.text(of: value, { error($0, column) }) { return text }
        return try CSVFieldEncoder(self, column, table.options).text(of: value)
    }

    func error(_ reason: CSVEncodingError.Reason, _ column: String?) -> CSVEncodingError {
        CSVEncodingError(reason, row: index, column: column)
    }
}

/// A row whose keys have no order of their own.
private protocol UnorderedKeys {
    /// The sorted names of the encoded keys. If the keys can't be converted to coding keys, the type encodes each key as a field, and this
    /// array is empty.
    var sortedNames: [String] { get }
}

extension Dictionary: UnorderedKeys {
    fileprivate var sortedNames: [String] {
        keys.compactMap { ($0 as? any CodingKeyRepresentable)?.codingKey.stringValue }.sorted()
    }
}

/// Encodes a row whose type uses a single-value container. The value is either the row's only field or a wrapped row.
private struct CSVRowOutput: SingleValueEncodingContainer {
    let row: CSVRowEncoder

    var codingPath: [any CodingKey] { row.codingPath }

    func encodeNil() throws { try row.append(String?.none) }
    func encode<T: Encodable>(_ value: T) throws { try row.encode(value) }
    func encode(_ value: Int128) throws { try row.encode(value) }
    func encode(_ value: UInt128) throws { try row.encode(value) }
}

/// Encodes a row as a list of fields.
private struct CSVListedOutput: UnkeyedEncodingContainer {
    let row: CSVRowEncoder

    var codingPath: [any CodingKey] { row.codingPath }
    var count: Int { row.fields.count }

    func encodeNil() throws { try row.append(String?.none) }
    func encode<T: Encodable>(_ value: T) throws { try row.append(value) }
    func encode(_ value: Int128) throws { try row.append(value) }
    func encode(_ value: UInt128) throws { try row.append(value) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        row.failingEncoder(String(count)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { row.failingEncoder(String(count)) }
    func superEncoder() -> any Encoder { row.failingEncoder(String(count)) }
}

// MARK: - Fields by name

/// Encodes the fields of a row by column name.
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
        row.failingEncoder(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { row.failingEncoder(key.stringValue) }

    /// A superclass encodes its fields into the row of the subclass.
    func superEncoder() -> any Encoder { row }

    func superEncoder(forKey key: Key) -> any Encoder { row.failingEncoder(key.stringValue) }
}

// MARK: Optionals
//
// The standard library's implementations omit the keys of nil values, so a column that is nil in all rows would be missing. The generic
// method isn't sufficient, because overload resolution prefers the standard library's methods for primitive types.

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

// MARK: - Values of fields

/// Encodes a value as the text of one field. The value's type must encode a single value, as an enum or a wrapper does.
final class CSVFieldEncoder: Encoder {
    let row: CSVRowEncoder
    let column: String
    private let options: CSVParameterEncoder
    private var text: String?
    private var depth = 0

    init(_ row: CSVRowEncoder, _ column: String, _ options: CSVParameterEncoder) {
        self.row = row
        self.column = column
        self.options = options
    }

    var codingPath: [any CodingKey] { row.codingPath + [CSVKey(stringValue: column)] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Returns the text of a value, or nil if the value encodes nil.
    func text<T: Encodable>(of value: T) throws -> String? {
        try encode(value)
        return text
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        row.failingEncoder(column).container(keyedBy: type)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { row.failingEncoder(column) }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension CSVFieldEncoder: SingleValueEncodingContainer {
    func encodeNil() { text = nil }

    func encode(_ value: Int128) throws { text = "\(value)" }
    func encode(_ value: UInt128) throws { text = "\(value)" }

    func encode<T: Encodable>(_ value: T) throws {
        if let scalar = try options.text(of: value, { row.error($0, column) }) {
            text = scalar
            return
        }
        depth += 1
        defer { depth -= 1 }
        guard depth < 100 else { throw row.error(.endlessValue, column) }
        try value.encode(to: self)
    }
}

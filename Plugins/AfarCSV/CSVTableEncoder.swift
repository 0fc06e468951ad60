import Foundation

/// Collects the rows of a table and writes them once all columns are known.
final class CSVTableEncoder {
    let options: CSVParameterEncoder
    private let syntax: CSVSyntax
    private var columns: [String] = []
    private var indices: [String: Int] = [:]
    private var rows: [[String?]] = []
    private var haveKeys: Bool?
    private var isSequence = false
    private var depth = 0
    /// The first error that couldn't be thrown where it occurred.
    private var fault: CSVEncodingError?

    static func encode(_ rows: some Encodable, _ options: CSVParameterEncoder) throws -> Data {
        let table = try CSVTableEncoder(options, CSVSyntax(options.format))
        try rows.encode(to: CSVTableOutput(table: table))
        if let fault = table.fault { throw fault }
        guard table.isSequence else { throw CSVEncodingError(.noRows, row: nil, column: nil) }
        return try table.body()
    }

    private init(_ options: CSVParameterEncoder, _ syntax: CSVSyntax) throws(CSVEncodingError) {
        self.options = options
        self.syntax = syntax
        if case .names(let names) = options.format.header { columns = names }
        columns = options.columns ?? columns
        for (index, name) in columns.enumerated() where indices.updateValue(index, forKey: name) != nil {
            throw CSVEncodingError(.duplicateColumn, row: nil, column: name)
        }
    }

    var rowCount: Int { rows.count }

    func beginRows() { isSequence = true }

    /// Calls a closure that encodes a wrapped value. Throws an error at a depth of 100.
    func nest(_ encode: () throws -> Void) throws {
        depth += 1
        defer { depth -= 1 }
        guard depth < 100 else { throw CSVEncodingError(.endlessValue, row: nil, column: nil) }
        try encode()
    }

    func fail(with error: CSVEncodingError) { fault = fault ?? error }

    func add(_ value: some Encodable) throws {
        let row = CSVRowEncoder(self)
        try row.encode(value)
        if let fault { throw fault }
        guard haveKeys != !row.hasKeys else { throw CSVEncodingError(.mixedRows, row: rows.count, column: nil) }
        haveKeys = row.hasKeys
        rows.append(row.fields)
    }

    /// Returns the index of a key's column. Adds a missing column if the columns weren't specified.
    func column(of key: String, row: Int) throws -> Int {
        let name = options.keyEncodingStrategy.name(of: key)
        if let index = indices[name] { return index }
        guard !hasFixedColumns else { throw CSVEncodingError(.unknownColumn, row: row, column: key) }
        columns.append(name)
        indices[name] = columns.count - 1
        return columns.count - 1
    }

    private var hasFixedColumns: Bool {
        if case .names = options.format.header { true } else { options.columns != nil }
    }

    // MARK: Writing

    private func body() throws -> Data {
        var writer = CSVWriter(syntax)
        if options.format.header == .firstRow, !columns.isEmpty || haveKeys != nil {
            guard !columns.isEmpty else { throw CSVEncodingError(.missingNames, row: nil, column: nil) }
            try writer.write(columns, row: nil)
        }
        let expected = haveKeys == true || hasFixedColumns ? columns.count : rows.first?.count ?? 0
        for (index, fields) in rows.enumerated() {
            // A row without fields would be an empty line.
            guard !fields.isEmpty || haveKeys == true && expected > 0 else {
                throw CSVEncodingError(.fieldCount(found: 0, expected: max(1, expected)), row: index, column: nil)
            }
            guard haveKeys != true else {
                try writer.write(fields + Array(repeating: nil, count: expected - fields.count), row: index)
                continue
            }
            guard fields.count == expected || options.format.allowsUnevenRows else {
                throw CSVEncodingError(.fieldCount(found: fields.count, expected: expected), row: index, column: nil)
            }
            try writer.write(fields, row: index)
        }
        return writer.data
    }
}

/// The encoder of the sequence of rows.
private struct CSVTableOutput: Encoder, UnkeyedEncodingContainer {
    let table: CSVTableEncoder

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int { table.rowCount }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        failingEncoder(.noRows).container(keyedBy: type)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        table.beginRows()
        return self
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { CSVWrappedRows(table: self) }

    func encodeNil() throws { try table.add(String?.none) }

    func encode<T: Encodable>(_ value: T) throws { try table.add(value) }
    func encode(_ value: Int128) throws { try table.add(value) }
    func encode(_ value: UInt128) throws { try table.add(value) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        failingEncoder(.nestedValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { failingEncoder(.nestedValue) }

    func superEncoder() -> any Encoder { failingEncoder(.nestedValue) }

    func failingEncoder(_ reason: CSVEncodingError.Reason) -> CSVFailingEncoder {
        CSVFailingEncoder(CSVEncodingError(reason, row: nil, column: nil), table)
    }
}

/// Encodes a table whose type wraps the sequence of rows, as an optional array does.
private struct CSVWrappedRows: SingleValueEncodingContainer {
    let table: CSVTableOutput

    var codingPath: [any CodingKey] { [] }

    func encodeNil() throws { try table.failingEncoder(.noRows).encodeNil() }

    func encode<T: Encodable>(_ value: T) throws {
        guard !(value is any CSVScalar) else { return try table.failingEncoder(.noRows).encodeNil() }
        try table.table.nest { try value.encode(to: table) }
    }
}

// MARK: - Unsupported values

/// An encoder for values that a table can't contain. All its methods throw.
struct CSVFailingEncoder: Encoder, UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let error: CSVEncodingError

    /// Creates an encoder that throws an error. The table throws this error even if nothing is encoded.
    init(_ error: CSVEncodingError, _ table: CSVTableEncoder) {
        self.error = error
        table.fail(with: error)
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int { 0 }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(CSVFailingKeys(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { self }
    func encodeNil() throws { throw error }
    func encode<T: Encodable>(_ value: T) throws { throw error }
}

private struct CSVFailingKeys<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: CSVFailingEncoder

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw encoder.error }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw encoder.error }
    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

// MARK: - Text of rows

/// Writes rows and quotes fields if necessary (RFC 4180, section 2).
struct CSVWriter {
    private let syntax: CSVSyntax
    private(set) var data = Data()

    init(_ syntax: CSVSyntax) { self.syntax = syntax }

    /// Writes a row. A nil field is empty and has no quotation marks unless it's the only field.
    ///
    /// - Throws: A ``CSVEncodingError`` if a field requires quotation marks and the format has none.
    mutating func write(_ fields: [String?], row: Int?) throws(CSVEncodingError) {
        // If a row's only field is nil, it's quoted, because an empty line isn't a row.
        let isAlone = fields.count == 1
        for (index, text) in fields.enumerated() {
            if index > 0 { data.append(syntax.delimiter) }
            let isQuoted = text.map { needsQuotes($0, isFirst: index == 0) } ?? isAlone
            guard isQuoted else {
                data.append(contentsOf: (text ?? "").utf8)
                continue
            }
            guard syntax.hasQuote else {
                guard text.map(\.isEmpty) ?? true, !isAlone || !syntax.skipsEmptyLines else {
                    throw CSVEncodingError(.unquotableText, row: row, column: String(index))
                }
                continue
            }
            writeQuoted(text ?? "")
        }
        data.append(contentsOf: [.carriageReturn, .lineFeed])
    }

    private mutating func writeQuoted(_ text: String) {
        data.append(syntax.quote)
        for byte in text.utf8 {
            if byte == syntax.quote { data.append(byte) }
            data.append(byte)
        }
        data.append(syntax.quote)
    }

    private func needsQuotes(_ text: String, isFirst: Bool) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last else { return true }
        // At the start of a body, U+FEFF would be a byte-order mark.
        if data.isEmpty, text.utf8.starts(with: [0xEF, 0xBB, 0xBF]) { return true }
        if syntax.isTrimmed(first) || syntax.isTrimmed(last) || (isFirst && first == syntax.comment) { return true }
        return text.utf8.contains {
            $0 == syntax.delimiter || $0 == syntax.quote || $0 == .lineFeed || $0 == .carriageReturn
        }
    }
}

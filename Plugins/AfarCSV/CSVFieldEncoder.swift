/// Makes the text of a field of a value that is a scalar only when it is asked: an enum, a type that wraps another.
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

    /// The text of a value; nil when it is nil.
    func text<T: Encodable>(of value: T) throws -> String? {
        try encode(value)
        return text
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        row.refused(column).container(keyedBy: type)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { row.refused(column) }

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

/// One field of a row.
struct CSVField {
    let row: CSVRow
    let index: Int
    let key: (any CodingKey)?

    var codingPath: [any CodingKey] { row.codingPath + [key].compactMap { $0 } }

    var isNil: Bool {
        let field = row.record.fields[index]
        switch row.options.nilDecodingStrategy {
        case .emptyField: return field.range.isEmpty
        case .emptyUnquotedField: return field.range.isEmpty && !field.isQuoted
        case .anyOf(let texts):
            let bytes = row.record.bytes[field.range]
            return texts.contains { bytes.elementsEqual($0.utf8) }
        }
    }

    func text() throws -> String { try row.text(index, key) }

    /// The text of what must have one: a number, say.
    func presentText(for type: Any.Type) throws -> String {
        guard !isNil else {
            throw DecodingError.valueNotFound(type, row.context("The field is nil, where \(type) is expected.", key))
        }
        return try text()
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let scalar = type as? any CSVScalar.Type else {
            return try row.make(type, from: CSVFieldDecoder(field: self), key)
        }
        guard let value = try scalar.init(csv: self) as? T else { throw mismatch(type, "The field is no \(type).") }
        return value
    }

    /// The error of a field that is none of a type's. What is in it is not told: errors end in logs.
    func mismatch(_ type: Any.Type, _ words: String) -> DecodingError {
        .typeMismatch(type, row.context(words, key))
    }
}

/// A field as the value of a type that wraps another.
struct CSVFieldDecoder: Decoder, SingleValueDecodingContainer {
    let field: CSVField

    var codingPath: [any CodingKey] { field.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { field.row.userInfo }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw field.mismatch(KeyedDecodingContainer<Key>.self, "A field has no other fields in it.")
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw field.mismatch((any UnkeyedDecodingContainer).self, "A field has no list in it.")
    }

    func decodeNil() -> Bool { field.isNil }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try field.decode(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try field.decode(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try field.decode(type) }
}

/// Takes what has no place in a table, and fails.
struct CSVRefusal: Encoder, UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let error: CSVEncodingError

    /// Makes one, whose error is thrown even if nothing is encoded.
    init(_ error: CSVEncodingError, _ table: CSVTableEncoder) {
        self.error = error
        table.refuse(error)
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int { 0 }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(CSVRefusedKeys(refusal: self))
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

private struct CSVRefusedKeys<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let refusal: CSVRefusal

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw refusal.error }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw refusal.error }
    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        refusal.container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { refusal }
    func superEncoder() -> any Encoder { refusal }
    func superEncoder(forKey key: Key) -> any Encoder { refusal }
}

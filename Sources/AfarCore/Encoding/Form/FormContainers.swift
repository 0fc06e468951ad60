// The generic methods serve for each primitive type too that the protocols name.

/// Writes the fields of an object.
struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoding: FormEncoding

    init(encoding: FormEncoding) {
        self.encoding = encoding
        encoding.node.makeObject()
    }

    var codingPath: [any CodingKey] { encoding.codingPath }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try encoding.field(key).write(value)
    }

    func encodeNil(forKey key: Key) {
        encoding.field(key).writeNil()
    }

    /// Foundation's default writes nothing at all for nil, where `nilEncoding` may want something.
    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value {
            try encode(value, forKey: key)
        } else {
            encodeNil(forKey: key)
        }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoding.field(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoding.field(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        encoding.field(FormKey.super)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        encoding.field(key)
    }
}

/// Writes the elements of a list.
struct FormUnkeyedContainer: UnkeyedEncodingContainer {
    let encoding: FormEncoding

    init(encoding: FormEncoding) {
        self.encoding = encoding
        encoding.node.makeList()
    }

    var codingPath: [any CodingKey] { encoding.codingPath }
    var count: Int { encoding.node.listCount }

    func encode<T: Encodable>(_ value: T) throws {
        try encoding.newElement().write(value)
    }

    func encodeNil() {
        encoding.newElement().writeNil()
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        encoding.newElement().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoding.newElement().unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        encoding.newElement()
    }
}

/// Writes one value.
struct FormSingleValueContainer: SingleValueEncodingContainer {
    let encoding: FormEncoding

    var codingPath: [any CodingKey] { encoding.codingPath }

    func encode<T: Encodable>(_ value: T) throws {
        try encoding.write(value)
    }

    func encodeNil() {
        encoding.writeNil()
    }
}

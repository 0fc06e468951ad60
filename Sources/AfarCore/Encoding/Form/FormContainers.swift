// The generic methods serve for each primitive type too that the protocols name, but for encodeIfPresent.

/// Writes the fields of an object.
struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoding: FormEncoding

    init(encoding: FormEncoding) {
        self.encoding = encoding
        encoding.node.makeObject()
    }

    var codingPath: [any CodingKey] { encoding.codingPath }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let field = encoding.field(key)
        field.node.content = .nothing
        try field.write(value)
    }

    func encodeNil(forKey key: Key) throws {
        try encoding.field(key).writeNil()
    }

    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        try encodeOrNil(value, forKey: key)
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

    /// The fields of the superclass stand beside those of the subclass: a form has no use for a level called super.
    func superEncoder() -> any Encoder {
        encoding.here
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

    func encodeNil() throws {
        try encoding.newElement().writeNil()
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        encoding.newElement().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoding.newElement().unkeyedContainer()
    }

    /// An element of the list, unless this place is an object by now, which a list would replace.
    func superEncoder() -> any Encoder {
        encoding.node.isObject ? encoding.here : encoding.newElement()
    }
}

/// Writes one value.
struct FormSingleValueContainer: SingleValueEncodingContainer {
    let encoding: FormEncoding

    var codingPath: [any CodingKey] { encoding.codingPath }

    func encode<T: Encodable>(_ value: T) throws {
        try encoding.here.write(value)
    }

    func encodeNil() throws {
        try encoding.writeNil()
    }
}

// For nil, the standard library's own answers write nothing at all, where `nilEncoding` may want something. It has one for
// each of the primitive types, and prefers it to a generic method.

extension FormKeyedContainer {
    /// Writes a value, or nil as `nilEncoding` says.
    func encodeOrNil<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value {
            try encode(value, forKey: key)
        } else {
            try encodeNil(forKey: key)
        }
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
}

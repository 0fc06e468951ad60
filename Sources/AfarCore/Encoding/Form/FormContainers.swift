// The generic methods also implement the protocols' methods for the primitive types, except `encodeIfPresent`.

/// A container that writes the fields of an object.
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

    /// Returns an encoder for this object: the superclass's fields are written next to the subclass's, without a level named
    /// super.
    func superEncoder() -> any Encoder {
        encoding.here
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        encoding.field(key)
    }
}

/// A container that writes the elements of a list.
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

    /// Returns the encoder of a new element. If this node is already an object, returns its encoder, because a list would replace
    /// it.
    func superEncoder() -> any Encoder {
        encoding.node.isObject ? encoding.here : encoding.newElement()
    }
}

/// A container that writes one value.
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

// The standard library's implementations write nothing for nil, but `nilEncoding` may require a value. They exist for each
// primitive type and take precedence over a generic method.

extension FormKeyedContainer {
    /// Writes a value, or nil according to `nilEncoding`.
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

// The generic methods serve for each primitive type too that the protocols name, but for encodeIfPresent and the widest
// integers.

/// Writes the children and attributes of an element by key.
struct KeyedOutput<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let element: OutputElement
    let encoder: ElementEncoder
    let form: Form

    /// What the keys are of.
    enum Form {
        case element
        /// The content of an enum's case: the key `_0` is all of it.
        case content
        /// The same, where the case is text.
        case text
    }

    var codingPath: [any CodingKey] { encoder.codingPath }
    private var encoding: Encoding { encoder.encoding }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encoding.write(value, to: encoder.inner(target(key, Value.self), key))
    }

    func encodeNil(forKey key: Key) throws {
        try encoder.inner(target(key), key).encodeNil()
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        try encodeOrNil(value, forKey: key)
    }

    func encode(_ value: Int128, forKey key: Key) throws { try encoder.inner(target(key), key).encode(value) }
    func encode(_ value: UInt128, forKey key: Key) throws { try encoder.inner(target(key), key).encode(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.inner(target(key), key).keyedContainer(keyType, isCase: true)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.inner(target(key), key).unkeyedContainer()
    }

    /// What a superclass writes stands beside the fields of the subclass.
    func superEncoder() -> any Encoder {
        ElementEncoder(.content(element, items: encoding.options.itemName), encoding, codingPath: codingPath)
    }

    func superEncoder(forKey key: Key) -> any Encoder { encoder.inner(target(key), key) }

    /// Where the value of a key is written.
    private func target(_ key: Key, _ type: any Any.Type = Any.self) -> ElementEncoder.Target {
        let items = encoding.options.itemName
        if key.stringValue == "_0" {
            switch form {
            case .element: break
            case .content where !encoding.isChoice(type): return .content(element, items: items)
            case .content: break
            case .text: return .text(in: element)
            }
        }
        let placement =
            (type as? any XMLPlaced.Type)?.placement
            ?? (key as? any XMLCodingKey)?.placement
            ?? encoding.options.placementStrategy.placement(of: key, in: codingPath)
            ?? .automatic
        let name = encoding.options.keyEncodingStrategy.name(of: key, in: codingPath)
        let namespace = placement.namespace
        switch placement.kind {
        case .automatic where encoding.isChoice(type): return .content(element, items: items)
        case .automatic where name == Place.textKey: return .text(in: element)
        case .automatic, .child: return .element(in: element, name: name, namespace: namespace, list: .repeated)
        case .attribute: return .attribute(of: element, name: name, namespace: namespace)
        case .text: return .text(in: element)
        case .wrapped(let item):
            return .element(in: element, name: name, namespace: namespace, list: .wrapped(items: item ?? items))
        }
    }
}

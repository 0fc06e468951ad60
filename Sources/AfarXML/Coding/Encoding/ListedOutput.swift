/// Writes the elements of a list.
struct ListedOutput: UnkeyedEncodingContainer {
    private let encoder: ElementEncoder
    private let form: Form
    private(set) var count = 0

    /// What the elements of the list are.
    enum Form {
        case elements(in: OutputElement, name: String, namespace: String?)
        case words(WordList)
    }

    init(_ encoder: ElementEncoder, _ form: Form) {
        self.encoder = encoder
        self.form = form
    }

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try encoder.encoding.write(value, to: next(Value.self))
    }

    mutating func encodeNil() throws { try next().encodeNil() }
    mutating func encode(_ value: Int128) throws { try next().encode(value) }
    mutating func encode(_ value: UInt128) throws { try next().encode(value) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        next().container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { next() }

    private mutating func next(_ type: any Any.Type = Any.self) -> ElementEncoder {
        defer { count += 1 }
        let items = encoder.encoding.options.itemName
        let target: ElementEncoder.Target =
            switch form {
            case .elements(let parent, _, _) where encoder.encoding.isChoice(type): .content(parent, items: items)
            case .elements(let parent, let name, let namespace):
                .element(in: parent, name: name, namespace: namespace, list: .item(items: items))
            case .words(let list): .word(in: list)
            }
        return encoder.inner(target, XMLKey(intValue: count))
    }
}

/// The encoder for one destination. It is also the destination's single-value container.
final class ElementEncoder: Encoder {
    let encoding: Encoding
    let codingPath: [any CodingKey]
    private let target: Target
    private var made: OutputElement?
    private var hasContent = false

    /// The destination of a value.
    enum Target {
        /// An element. For a list, one element for each item, or one element that contains all items.
        case element(in: OutputElement, name: String, namespace: String?, list: ListForm)
        /// The content of an existing element.
        case content(OutputElement, items: String)
        case attribute(of: OutputElement, name: String, namespace: String?)
        case text(in: OutputElement)
        case word(in: WordList)
    }

    enum ListForm {
        /// Each item of the list is an element with the list's name.
        case repeated
        /// An element with the list's name contains an element for each item.
        case wrapped(items: String)
        /// The list is an item of another list. An element contains an element for each item.
        case item(items: String)
    }

    init(_ target: Target, _ encoding: Encoding, codingPath: [any CodingKey]) {
        self.target = target
        self.encoding = encoding
        self.codingPath = codingPath
    }

    var userInfo: [CodingUserInfoKey: Any] { encoding.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        keyedContainer(type, isCase: false)
    }

    /// - Parameter isCase: Whether the container is for the content of an enum case. The case's value has the key `_0`.
    func keyedContainer<Key: CodingKey>(_ type: Key.Type, isCase: Bool) -> KeyedEncodingContainer<Key> {
        hasContent = true
        let isText = if case .text = target { true } else { false }
        return KeyedEncodingContainer(
            KeyedOutput<Key>(element: element, encoder: self, form: isText ? .text : isCase ? .content : .element))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        hasContent = true
        return ListedOutput(self, list)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// Adds an empty element if nothing was encoded.
    func finish() {
        if !hasContent, case .element = target { _ = element }
    }

    /// Returns an encoder that writes to a target inside this encoder's target.
    func inner(_ target: Target, _ key: any CodingKey) -> ElementEncoder {
        ElementEncoder(target, encoding, codingPath: codingPath + [key])
    }

    /// The element that contains the value. It is created on first use.
    private var element: OutputElement {
        if let made { return made }
        let element =
            switch target {
            case .element(let parent, let name, let namespace, _):
                encoding.element(name, namespace, in: parent, codingPath: codingPath)
            case .content(let element, _), .text(let element): element
            case .attribute(let element, let name, _): refused(name, in: element)
            case .word: refused("a word", in: nil)
            }
        made = element
        return element
    }

    /// Records an error and returns a detached element, because attributes and the items of a `WordList` can't contain
    /// elements.
    private func refused(_ name: String, in element: OutputElement?) -> OutputElement {
        encoding.fail(name, "Attributes and lists of words can only contain text, but this value has keys", codingPath)
        return OutputElement(QualifiedName(text: name), depth: (element?.depth ?? 0) + 1)
    }

    /// How the elements of a list are written at this destination.
    private var list: ListedOutput.Form {
        switch target {
        case .element(let parent, let name, let namespace, .repeated):
            .elements(in: parent, name: name, namespace: namespace)
        case .element(_, _, _, .wrapped(let items)), .element(_, _, _, .item(let items)), .content(_, let items):
            .elements(in: element, name: items, namespace: nil)
        case .attribute(let element, let name, let namespace):
            .words(
                newList { encoding.setAttribute(name, namespace, of: element, to: .words($0), codingPath: codingPath) })
        case .text(let element): .words(newList { element.append(.words($0)) })
        case .word(let list): .words(list)
        }
    }

    private func newList(_ add: (WordList) -> Void) -> WordList {
        let list = WordList()
        add(list)
        return list
    }
}

// MARK: A single value

extension ElementEncoder: SingleValueEncodingContainer {
    func encode<Value: Encodable>(_ value: Value) throws {
        hasContent = true
        let here = made.map { Target.content($0, items: encoding.options.itemName) } ?? target
        try encoding.write(value, to: ElementEncoder(here, encoding, codingPath: codingPath))
    }

    func encode(_ value: Int128) throws { try write(value.xmlText) }
    func encode(_ value: UInt128) throws { try write(value.xmlText) }

    func encodeNil() throws {
        hasContent = true
        switch target {
        case .element(_, _, _, .item): break
        case .element, .content: guard case .xsiNil = encoding.options.nilEncodingStrategy else { return }
        case .attribute, .text: return
        case .word: throw encoding.error(Any?.none as Any, "A list of words can't hold nil", codingPath)
        }
        encoding.setAttribute(
            "nil", XMLNamespaces.schemaInstance, of: element, to: .text("true"), codingPath: codingPath)
    }

    func write(_ text: String) throws {
        hasContent = true
        switch target {
        case .element, .content, .text:
            element.append(.text(try encoding.checked(text, codingPath)))
        case .attribute(let element, let name, let namespace):
            let text = try encoding.checked(text, codingPath)
            encoding.setAttribute(name, namespace, of: element, to: .text(text), codingPath: codingPath)
        case .word(let list):
            try list.append(text, encoding, codingPath)
        }
    }
}

// MARK: - Keyed values

// The generic methods below encode primitive types too, except for encodeIfPresent and 128-bit integers.

/// A keyed container that writes the children and attributes of an element.
struct KeyedOutput<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let element: OutputElement
    let encoder: ElementEncoder
    let form: Form

    /// What the container represents. This determines the meaning of the key `_0`.
    enum Form {
        case element
        /// The content of an enum's case. The key `_0` refers to the entire content.
        case content
        /// The content of an enum's case that represents text.
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

    /// Returns an encoder for the same element, because the fields of a superclass are in the same element.
    func superEncoder() -> any Encoder {
        ElementEncoder(.content(element, items: encoding.options.itemName), encoding, codingPath: codingPath)
    }

    func superEncoder(forKey key: Key) -> any Encoder { encoder.inner(target(key), key) }

    /// Returns the destination of a key's value.
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
        case .automatic where name == NodePart.textKey: return .text(in: element)
        case .automatic, .child: return .element(in: element, name: name, namespace: namespace, list: .repeated)
        case .attribute: return .attribute(of: element, name: name, namespace: namespace)
        case .text: return .text(in: element)
        case .wrapped(let item):
            return .element(in: element, name: name, namespace: namespace, list: .wrapped(items: item ?? items))
        }
    }
}

// These methods replace the protocol's default implementations, which omit nil regardless of nilEncodingStrategy. A
// generic method can't replace them, because the default implementations take precedence over generic methods.

extension KeyedOutput {
    /// Writes a value. For nil, follows `nilEncodingStrategy`.
    func encodeOrNil<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
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

// MARK: - Lists

/// An unkeyed container that writes the elements of a list.
struct ListedOutput: UnkeyedEncodingContainer {
    private let encoder: ElementEncoder
    private let form: Form
    private(set) var count = 0

    /// The form of the list's elements.
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

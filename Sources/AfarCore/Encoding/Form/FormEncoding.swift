import Foundation

/// The encoder of one place in the tree.
struct FormEncoding: Encoder {
    let node: FormNode
    let codingPath: [any CodingKey]
    private let options: URLEncodedFormEncoder
    private let depth: Int

    init(root: FormNode, options: URLEncodedFormEncoder) {
        self.init(node: root, codingPath: [], options: options, depth: 0)
    }

    private init(node: FormNode, codingPath: [any CodingKey], options: URLEncodedFormEncoder, depth: Int) {
        self.node = node
        self.codingPath = codingPath
        self.options = options
        self.depth = depth
    }

    var userInfo: [CodingUserInfoKey: Any] { options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FormKeyedContainer<Key>(encoding: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        FormUnkeyedContainer(encoding: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        FormSingleValueContainer(encoding: self)
    }

    /// The encoder of a field of this object.
    func field(_ key: any CodingKey) -> FormEncoding {
        inner(key) { $0.field(key.stringValue) }
    }

    /// The encoder of a new element of this list.
    func newElement() -> FormEncoding {
        inner(FormKey(intValue: node.listCount)) { $0.newElement() }
    }

    /// The encoder of what is written at this place too, as the fields of a superclass are.
    var here: FormEncoding {
        FormEncoding(node: node, codingPath: codingPath, options: options, depth: depth + 1)
    }

    /// Writes a value here.
    func write<T: Encodable>(_ value: T) throws {
        try checkDepth()
        if let text = try text(of: value) {
            node.content = .text(text)
        } else {
            try value.encode(to: self)
        }
    }

    /// Writes nil here, which may leave nothing.
    func writeNil() throws {
        try checkDepth()
        node.content = options.nilEncoding.encodeNil().map(FormNode.Content.text) ?? .nothing
    }

    /// The encoder of a place inside of this one. Where that is too deep it is in no tree, so that no tree is.
    private func inner(_ key: any CodingKey, _ place: (FormNode) -> FormNode) -> FormEncoding {
        guard depth < AFError.ParameterNestingError.limit else {
            return FormEncoding(node: FormNode(), codingPath: codingPath, options: options, depth: depth + 1)
        }
        return FormEncoding(node: place(node), codingPath: codingPath + [key], options: options, depth: depth + 1)
    }

    private func checkDepth() throws {
        guard depth <= AFError.ParameterNestingError.limit else {
            throw AFError.ParameterNestingError(parameter: codingPath.first?.stringValue)
        }
    }

    /// The text of a value that is one by itself, nil for a value that must encode itself.
    private func text<T: Encodable>(of value: T) throws -> String? {
        switch value {
        case let value as String: value
        case let value as Bool: options.boolEncoding.encode(value)
        case let value as any FormNumber: value.description
        case let value as Date: try options.dateEncoding.encode(value)
        case let value as Data: try options.dataEncoding.encode(value)
        // It would encode itself as an object with its base.
        case let value as URL: value.absoluteString
        default: nil
        }
    }
}

/// The key of a list's element.
struct FormKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }

    init?(stringValue: String) {
        guard let index = Int(stringValue) else { return nil }
        self.init(intValue: index)
    }
}

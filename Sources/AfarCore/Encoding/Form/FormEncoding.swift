import Foundation

/// The encoder of one node in the tree.
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

    /// Returns the encoder of a field of this object.
    func field(_ key: any CodingKey) -> FormEncoding {
        inner(key) { $0.field(key.stringValue) }
    }

    /// Returns the encoder of a new element of this list.
    func newElement() -> FormEncoding {
        inner(FormKey(intValue: node.listCount)) { $0.newElement() }
    }

    /// The encoder of a value that is written to the same node, such as a superclass's fields.
    var here: FormEncoding {
        FormEncoding(node: node, codingPath: codingPath, options: options, depth: depth + 1)
    }

    /// Writes a value to this node.
    func write<T: Encodable>(_ value: T) throws {
        try checkDepth()
        if let text = try text(of: value) {
            node.content = .text(text)
        } else {
            try value.encode(to: self)
        }
    }

    /// Writes nil to this node, which may leave it empty.
    func writeNil() throws {
        try checkDepth()
        node.content = options.nilEncoding.encodeNil().map(FormNode.Content.text) ?? .nothing
    }

    /// Returns the encoder of a node inside this one. Beyond the nesting limit, the node is detached, so that the tree never
    /// exceeds the limit.
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

    /// Returns the text of a value that is written as text; nil for a value that must encode itself.
    private func text<T: Encodable>(of value: T) throws -> String? {
        switch value {
        case let value as String: value
        case let value as Bool: options.boolEncoding.encode(value)
        case let value as any FormNumber: value.description
        case let value as Date: try options.dateEncoding.encode(value)
        case let value as Data: try options.dataEncoding.encode(value)
        // A URL would encode itself as an object with its base.
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

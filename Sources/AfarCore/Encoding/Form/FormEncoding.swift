import Foundation

/// The encoder of one place in the tree.
struct FormEncoding: Encoder {
    let node: FormNode
    let codingPath: [any CodingKey]
    let options: URLEncodedFormEncoder

    var userInfo: [CodingUserInfoKey: Any] { [:] }

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
        FormEncoding(node: node.field(key.stringValue), codingPath: codingPath + [key], options: options)
    }

    /// The encoder of a new element of this list.
    func newElement() -> FormEncoding {
        let key = FormKey(intValue: node.listCount)
        return FormEncoding(node: node.newElement(), codingPath: codingPath + [key], options: options)
    }

    /// Writes a value here.
    func write<T: Encodable>(_ value: T) throws {
        if let text = try text(of: value) {
            node.content = .text(text)
        } else {
            try value.encode(to: self)
        }
    }

    /// Writes nil here, which may leave nothing.
    func writeNil() {
        node.content = options.nilEncoding.encodeNil().map(FormNode.Content.text) ?? .nothing
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

/// A key that no type declares: of a list's element, or of a superclass.
struct FormKey: CodingKey {
    static let `super` = FormKey(stringValue: "super")

    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}

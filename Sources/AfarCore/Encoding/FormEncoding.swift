import Foundation

/// An encoder that writes a value to one node of a ``FormNode`` tree.
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

    func field(_ key: any CodingKey) -> FormEncoding {
        inner(key) { $0.field(key.stringValue) }
    }

    func newElement() -> FormEncoding {
        inner(FormKey(intValue: node.listCount)) { $0.newElement() }
    }

    /// The encoder of a value that is written to the same node, such as a superclass's fields.
    var here: FormEncoding {
        FormEncoding(node: node, codingPath: codingPath, options: options, depth: depth + 1)
    }

    func write<T: Encodable>(_ value: T) throws {
        try checkDepth()
        if let text = try text(of: value) {
            node.content = .text(text)
        } else {
            try value.encode(to: self)
        }
    }

    /// Writes nil to this node according to `nilEncoding`, which can leave the node empty.
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

    /// Returns the text of a value that is written as text, or nil for a value that must encode itself.
    private func text<T: Encodable>(of value: T) throws -> String? {
        switch value {
        case let value as String: value
        case let value as Bool: options.boolEncoding.encode(value)
        case let value as any FormNumber: value.description
        case let value as Date: try options.dateEncoding.encode(value)
        case let value as Data: try options.dataEncoding.encode(value)
        // By default, a URL encodes itself as an object with its base.
        case let value as URL: value.absoluteString
        default: nil
        }
    }
}

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

// The generic `encode` methods also satisfy the requirements for primitive types. `encodeIfPresent` can't: see below.

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

    /// Returns an encoder for this object. The superclass's fields are written next to the subclass's fields, without a level
    /// named `super`.
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

    /// Returns the encoder of a new element. If this node is already an object, returns this node's encoder, because a list would
    /// replace the object.
    func superEncoder() -> any Encoder {
        encoding.node.isObject ? encoding.here : encoding.newElement()
    }
}

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

// The standard library's `encodeIfPresent` methods for primitive types ignore `nilEncoding`, and they take precedence over a
// generic method. Each primitive type therefore has its own method here.

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

/// A node in the tree that represents an encoded value. Containers write it; the serializer reads it.
///
/// This is a class because several containers and super encoders can write to the same node.
final class FormNode {
    enum Content {
        case nothing
        case text(String)
        case list([FormNode])
        case object(Fields)
    }

    /// The fields of an object in the order in which they were first written.
    struct Fields {
        private(set) var entries: [(key: String, node: FormNode)] = []
        private var positions: [String: Int] = [:]

        /// Returns the field with this key, creating it if needed.
        mutating func node(forKey key: String) -> FormNode {
            if let position = positions[key] { return entries[position].node }
            let node = FormNode()
            positions[key] = entries.count
            entries.append((key, node))
            return node
        }
    }

    var content = Content.nothing

    var listCount: Int {
        if case .list(let nodes) = content { nodes.count } else { 0 }
    }

    var isObject: Bool {
        if case .object = content { true } else { false }
    }

    /// Makes this node an object. Existing content stays until a field is added.
    func makeObject() {
        if case .nothing = content { content = .object(Fields()) }
    }

    /// Makes this node a list. Existing content stays until an element is added.
    func makeList() {
        if case .nothing = content { content = .list([]) }
    }

    func field(_ key: String) -> FormNode {
        var fields = if case .object(let fields) = content { fields } else { Fields() }
        content = .nothing  // Avoids a copy of the fields.
        let node = fields.node(forKey: key)
        content = .object(fields)
        return node
    }

    func newElement() -> FormNode {
        let node = FormNode()
        if case .list(var nodes) = content {
            content = .nothing  // Avoids a copy of the list.
            nodes.append(node)
            content = .list(nodes)
        } else {
            content = .list([node])
        }
        return node
    }
}

/// A number that is written as its description.
protocol FormNumber: NestingScalar, CustomStringConvertible {}

extension Int: FormNumber {}
extension Int8: FormNumber {}
extension Int16: FormNumber {}
extension Int32: FormNumber {}
extension Int64: FormNumber {}
extension Int128: FormNumber {}
extension UInt: FormNumber {}
extension UInt8: FormNumber {}
extension UInt16: FormNumber {}
extension UInt32: FormNumber {}
extension UInt64: FormNumber {}
extension UInt128: FormNumber {}
extension Double: FormNumber {}
extension Float: FormNumber {}
extension Decimal: FormNumber {}

// The standard library's implementations for 128-bit integers throw an error.

extension FormKeyedContainer {
    func encode(_ value: Int128, forKey key: Key) throws {
        try encoding.field(key).write(value)
    }

    func encode(_ value: UInt128, forKey key: Key) throws {
        try encoding.field(key).write(value)
    }
}

extension FormUnkeyedContainer {
    func encode(_ value: Int128) throws {
        try encoding.newElement().write(value)
    }

    func encode(_ value: UInt128) throws {
        try encoding.newElement().write(value)
    }
}

extension FormSingleValueContainer {
    func encode(_ value: Int128) throws {
        try encoding.here.write(value)
    }

    func encode(_ value: UInt128) throws {
        try encoding.here.write(value)
    }
}

struct FormSerializer {
    private let options: URLEncodedFormEncoder
    private let unescaped: CharacterSet

    init(options: URLEncodedFormEncoder) {
        self.options = options
        unescaped = options.allowedCharacters.union(CharacterSet(charactersIn: " "))
    }

    /// Returns the text of a whole tree.
    ///
    /// - Throws: `URLEncodedFormEncoder.Error.invalidRootObject` if its root is not an object.
    func text(of root: FormNode) throws -> String {
        switch root.content {
        case .nothing: return ""
        case .object(let fields): return text(of: fields) { options.keyEncoding.encode($0) } ?? ""
        case .text: throw URLEncodedFormEncoder.Error.invalidRootObject("a single value")
        case .list: throw URLEncodedFormEncoder.Error.invalidRootObject("an array")
        }
    }

    /// Returns the pairs of a node with this key, or nil if there are none.
    private func text(of node: FormNode, key: String) -> String? {
        switch node.content {
        case .nothing: nil
        case .text(let text): "\(escape(key))=\(escape(text))"
        case .list(let nodes): text(of: nodes, key: key)
        case .object(let fields):
            text(of: fields) { key + options.keyPathEncoding.encodeKeyPath(options.keyEncoding.encode($0)) }
        }
    }

    private func text(of fields: FormNode.Fields, path: (_ key: String) -> String) -> String? {
        let parts = fields.entries.compactMap { text(of: $0.node, key: path($0.key)) }
        return joined(options.alphabetizeKeyValuePairs ? parts.sorted() : parts)
    }

    private func text(of nodes: [FormNode], key: String) -> String? {
        var index = 0
        return joined(
            nodes.compactMap { node in
                // Elements that write nothing have no index.
                let part = text(of: node, key: options.arrayEncoding.encode(key, atIndex: index))
                if part != nil { index += 1 }
                return part
            }
        )
    }

    private func joined(_ parts: [String]) -> String? {
        parts.isEmpty ? nil : parts.joined(separator: "&")
    }

    private func escape(_ text: String) -> String {
        let escaped = text.addingPercentEncoding(withAllowedCharacters: unescaped) ?? text
        return escaped.replacing(" ", with: options.spaceEncoding.text)
    }
}

import Foundation

/// A node in the tree that a value encodes itself into. Containers write it; the serializer reads it.
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

    /// Returns the field of this object with this key.
    func field(_ key: String) -> FormNode {
        var fields = if case .object(let fields) = content { fields } else { Fields() }
        content = .nothing  // Avoids a copy of the fields.
        let node = fields.node(forKey: key)
        content = .object(fields)
        return node
    }

    /// Adds an element to the end of this list and returns it.
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
protocol FormNumber: CustomStringConvertible {}

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

// The standard library's implementations for the 128-bit integers throw an error, so the containers need their own.

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

/// Serializes the tree that a value has encoded itself into.
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

    /// Returns the pairs of a node with this key; nil if there are none.
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
                // An element that writes nothing doesn't use up an index.
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

/// A place in the tree that a value encodes itself into: what the containers write and the serializer reads.
///
/// It is a class because containers and super encoders of one place may live side by side.
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

        /// The field with this key, made where it is missing.
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

    /// Makes this an object. What is here already stays until there is a field.
    func makeObject() {
        if case .nothing = content { content = .object(Fields()) }
    }

    /// Makes this a list. What is here already stays until there is an element.
    func makeList() {
        if case .nothing = content { content = .list([]) }
    }

    /// The field of this object with this key.
    func field(_ key: String) -> FormNode {
        var fields = if case .object(let fields) = content { fields } else { Fields() }
        content = .nothing  // So that the fields are not copied.
        let node = fields.node(forKey: key)
        content = .object(fields)
        return node
    }

    /// A new element at the end of this list.
    func newElement() -> FormNode {
        let node = FormNode()
        if case .list(var nodes) = content {
            content = .nothing  // So that the list is not copied.
            nodes.append(node)
            content = .list(nodes)
        } else {
            content = .list([node])
        }
        return node
    }
}

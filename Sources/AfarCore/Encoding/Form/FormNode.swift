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

    func makeObject() {
        if case .object = content { return }
        content = .object(Fields())
    }

    func makeList() {
        if case .list = content { return }
        content = .list([])
    }

    /// The field of this object with this key.
    func field(_ key: String) -> FormNode {
        guard case .object(var fields) = content else {
            makeObject()
            return field(key)
        }
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

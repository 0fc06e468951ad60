import CLibxml2

extension ElementDecoder {
    /// Returns the part for a key's value, or `nil` if the value is missing.
    ///
    /// - Parameter placement: The placement that the value's type specifies. It overrides the key's placement.
    @inline(__always)
    func find(_ key: some CodingKey, _ placement: XMLPlacement?, keysHavePlacements: Bool) -> NodePart? {
        if placement == nil, !keysHavePlacements, decoding.placesAutomatically {
            return find(name(of: key), .automatic)
        }
        return find(name(of: key), placement ?? self.placement(of: key))
    }

    private func name(of key: some CodingKey) -> String {
        // The keys of dictionaries are the names of nodes without conversion.
        if let index, index.nodes[key.stringValue] != nil { return key.stringValue }
        return decoding.name(of: key)
    }

    func placement(of key: any CodingKey) -> XMLPlacement {
        (key as? any XMLCodingKey)?.placement
            ?? decoding.options.placementStrategy.placement(of: key, in: codingPath)
            ?? .automatic
    }

    func find(_ name: String, _ placement: XMLPlacement) -> NodePart? {
        if case .choice = part.role { return name == ownKey ? ownContent : nil }
        if case .run = part.role { return name == "_0" ? part : nil }
        switch placement.kind {
        case .automatic:
            if let node = child(name, nil) ?? attribute(name, nil) { return NodePart(node, .value) }
            if name == NodePart.textKey { return NodePart(part.node, .ownText) }
            if case .content = part.role, name == "_0" { return NodePart(part.node, .item) }
            return nil
        case .child: return child(name, placement.namespace).map { NodePart($0, .value) }
        case .attribute: return attribute(name, placement.namespace).map { NodePart($0, .value) }
        case .text: return NodePart(part.node, .ownText)
        case .wrapped: return child(name, placement.namespace).map { NodePart($0, .item) }
        }
    }

    /// Returns the first child that is a case of an enum.
    func choice(of type: any Decodable.Type) -> NodePart? {
        var next = part.isElement ? part.node.pointee.children : nil
        while let node = next {
            if let choice = decoding.choice(at: node, of: type) { return choice }
            next = node.pointee.next
        }
        return nil
    }

    /// The key for this element's own name, if the element is a case of an enum.
    private var ownKey: String { decoding.key(of: part, in: codingPath) }

    private var ownContent: NodePart {
        part.isElement ? NodePart(part.node, .content) : NodePart(part.node, .run)
    }
}

// MARK: Children

extension ElementDecoder {
    private func child(_ name: String, _ namespace: String?) -> xmlNodePtr? {
        if let index = currentIndex {
            return index.nodes[name].flatMap { preferred($0.filter { NodePart($0, .value).isElement }, namespace) }
        }
        guard part.isElement, let first = part.node.pointee.children else { return nil }
        var name = name
        return name.withUTF8 { name in
            var other: xmlNodePtr?
            // Start the search where the last lookup ended.
            var next = cursor
            var passed = passedNames
            while let node = next {
                if node.pointee.type == XML_ELEMENT_NODE, node.hasName(name) {
                    if isPreferred(node, namespace) {
                        let isFirst = passed & node.nameBit == 0
                        cursor = node
                        passedNames = passed
                        return isFirst ? node : preferred(from: first, to: node, name, namespace) ?? node
                    }
                    if namespace == nil, other == nil { other = node }
                }
                passed |= node.nameBit
                next = node.pointee.next
            }
            guard passedNames & name.nameBit != 0 else { return other }
            if let node = preferred(from: first, to: cursor, name, namespace) { return node }
            guard namespace == nil else { return nil }
            return preferred(from: first, to: cursor, name, nil, inAnyNamespace: true) ?? other
        }
    }

    private func preferred(
        from first: xmlNodePtr, to end: xmlNodePtr?, _ name: UnsafeBufferPointer<UInt8>, _ namespace: String?,
        inAnyNamespace: Bool = false
    ) -> xmlNodePtr? {
        var next: xmlNodePtr? = first
        while let node = next, node != end {
            if node.pointee.type == XML_ELEMENT_NODE, node.hasName(name),
                inAnyNamespace || isPreferred(node, namespace)
            {
                return node
            }
            next = node.pointee.next
        }
        return nil
    }

    private func preferred(_ nodes: [xmlNodePtr], _ namespace: String?) -> xmlNodePtr? {
        nodes.first { isPreferred($0, namespace) } ?? (namespace == nil ? nodes.first : nil)
    }

    /// Returns whether a child is in the given namespace or, if none is given, in this element's namespace.
    @inline(__always)
    private func isPreferred(_ node: xmlNodePtr, _ namespace: String?) -> Bool {
        if let namespace { return node.isIn(namespace) }
        return node.isInNamespace(of: part.node)
    }
}

// MARK: Attributes

extension ElementDecoder {
    private func attribute(_ name: String, _ namespace: String?) -> xmlNodePtr? {
        if let index = currentIndex {
            return index.nodes[name].flatMap { nodes in
                let attributes = nodes.filter { NodePart($0, .value).isAttribute }
                return attributes.first { $0.isIn(namespace ?? "") }
                    ?? (namespace == nil ? attributes.first : nil)
            }
        }
        guard part.isElement, let first = part.node.pointee.properties else { return nil }
        var name = name
        return name.withUTF8 { name in
            var other: xmlNodePtr?
            var next: xmlNodePtr? = UnsafeMutableRawPointer(first).assumingMemoryBound(to: xmlNode.self)
            while let node = next {
                if node.hasName(name) {
                    if node.isIn(namespace ?? "") { return node }
                    if namespace == nil, other == nil { other = node }
                }
                next = node.pointee.next
            }
            return other
        }
    }
}

// MARK: Keys

extension ElementDecoder {
    /// The unique keys of the children and attributes, and the key `#text` if the element has text other than white
    /// space.
    var keys: [String] {
        if case .choice = part.role { return [ownKey] }
        guard part.isElement else { return [NodePart.textKey] }
        let index = newIndex
        self.index = index
        let hasText = NodePart(part.node, .ownText).withOwnText { text, _ in !text.trimmed.isEmpty }
        return hasText && index.nodes[NodePart.textKey] == nil ? index.keys + [NodePart.textKey] : index.keys
    }

    /// The index, if it exists. Creates the index if a closure converts the keys.
    private var currentIndex: NodeIndex? {
        if let index { return index }
        guard decoding.hasCustomKeys, part.isElement else { return nil }
        let made = newIndex
        index = made
        return made
    }

    private var newIndex: NodeIndex {
        let path = codingPath
        return NodeIndex(part.node) { decoding.key(of: $0, in: path) }
    }
}

/// An index of an element's children and attributes by key.
///
/// A decoder creates the index when a caller requests all keys, as a dictionary does. The index makes the following lookups
/// fast. If a closure converts the keys, the decoder creates the index at the first lookup.
struct NodeIndex {
    /// The keys in document order.
    private(set) var keys: [String] = []
    private(set) var nodes: [String: [xmlNodePtr]] = [:]

    init(_ element: xmlNodePtr, _ key: (NodePart) -> String) {
        var next = element.pointee.children
        while let node = next {
            add(node, key)
            next = node.pointee.next
        }
        next = UnsafeMutableRawPointer(element.pointee.properties)?.assumingMemoryBound(to: xmlNode.self)
        while let node = next {
            add(node, key)
            next = node.pointee.next
        }
    }

    private mutating func add(_ node: xmlNodePtr, _ key: (NodePart) -> String) {
        let part = NodePart(node, .value)
        guard part.isElement || part.isAttribute else { return }
        let name = key(part)
        if nodes[name] == nil { keys.append(name) }
        nodes[name, default: []].append(node)
    }
}

// MARK: - Names as keys

extension Decoding {
    /// Whether a closure converts the keys.
    var hasCustomKeys: Bool {
        guard !usesDefaultKeys, case .custom = options.keyDecodingStrategy else { return false }
        return true
    }

    /// Returns the key for a name in the document.
    func key(of part: NodePart, in codingPath: @autoclosure () -> [any CodingKey]) -> String {
        let name = part.name
        guard case .custom(let convert) = options.keyDecodingStrategy, name != NodePart.textKey else { return name }
        return convert(codingPath() + [XMLKey(stringValue: name)]).stringValue
    }

    /// Creates a key from a name. If the type has no such key and the strategy converts names, creates the key from the
    /// name in camel case.
    func key<Key: CodingKey>(_ type: Key.Type, for name: String) -> Key? {
        Key(stringValue: name)
            ?? {
                switch options.keyDecodingStrategy {
                case .convertFromSnakeCase: Key(stringValue: name.camelCased(wordsJoinedBy: "_"))
                case .convertFromKebabCase: Key(stringValue: name.camelCased(wordsJoinedBy: "-"))
                case .useDefaultKeys, .custom: nil
                }
            }()
    }

    /// Returns the part from which a value of an enum is decoded. Returns `nil` if the node isn't a case of the enum,
    /// or is only white space.
    func choice(at node: xmlNodePtr, of type: any Decodable.Type) -> NodePart? {
        switch node.pointee.type {
        case XML_ELEMENT_NODE: break
        case XML_TEXT_NODE, XML_CDATA_SECTION_NODE:
            // Text with comments in between is one run, and only the run's first node represents it.
            var before = node.pointee.prev
            while let other = before, other.pointee.type == XML_COMMENT_NODE || other.pointee.type == XML_PI_NODE {
                before = other.pointee.prev
            }
            if let before, before.isText { return nil }
            guard NodePart(node, .run).withOwnText({ text, _ in !text.trimmed.isEmpty }) else { return nil }
        default: return nil
        }
        let part = NodePart(node, .choice)
        return isChoice(part, of: type) ? part : nil
    }
}

extension String {
    /// Returns the words of the string in camel case.
    fileprivate func camelCased(wordsJoinedBy separator: Character) -> String {
        let words = split(separator: separator)
        return words.dropFirst().reduce(words.first?.lowercased() ?? self) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }
}

/// A decoder that determines whether a name is a case of an enum. The enum's initializer requests a container with its
/// coding keys, and the probe checks whether the name is one of these keys.
struct ChoiceProbe: Decoder {
    private let part: NodePart
    private let decoding: Decoding
    private let answer = Answer()

    private final class Answer { var isCase = false }
    private struct ProbeFinished: Error {}

    init(_ part: NodePart, _ decoding: Decoding) {
        self.part = part
        self.decoding = decoding
    }

    var isCase: Bool { answer.isCase }
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { decoding.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        answer.isCase = decoding.key(type, for: decoding.key(of: part, in: [])) != nil
        throw ProbeFinished()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw ProbeFinished() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw ProbeFinished() }
}

import CLibxml2

extension ElementDecoder {
    /// Where the value of a key stands; nil where there is nothing.
    ///
    /// - Parameter placement: What the type of the value says about it; goes before what the key says.
    @inline(__always)
    func find(_ key: some CodingKey, _ placement: XMLPlacement?, keysHavePlacements: Bool) -> Place? {
        if placement == nil, !keysHavePlacements, decoding.placesAutomatically {
            return find(name(of: key), .automatic)
        }
        return find(name(of: key), placement ?? self.placement(of: key))
    }

    private func name(of key: some CodingKey) -> String {
        // The keys of a dictionary are names as they are.
        if let index, index.nodes[key.stringValue] != nil { return key.stringValue }
        return decoding.name(of: key)
    }

    func placement(of key: any CodingKey) -> XMLPlacement {
        (key as? any XMLCodingKey)?.placement
            ?? decoding.options.placementStrategy.placement(of: key, in: codingPath)
            ?? .automatic
    }

    func find(_ name: String, _ placement: XMLPlacement) -> Place? {
        if case .choice = place.role { return name == ownKey ? ownContent : nil }
        if case .run = place.role { return name == "_0" ? place : nil }
        switch placement.kind {
        case .automatic:
            if let node = child(name, nil) ?? attribute(name, nil) { return Place(node, .value) }
            if name == Place.textKey { return Place(place.node, .ownText) }
            if case .content = place.role, name == "_0" { return Place(place.node, .item) }
            return nil
        case .child: return child(name, placement.namespace).map { Place($0, .value) }
        case .attribute: return attribute(name, placement.namespace).map { Place($0, .value) }
        case .text: return Place(place.node, .ownText)
        case .wrapped: return child(name, placement.namespace).map { Place($0, .item) }
        }
    }

    /// The first child of this that is a case of an enum.
    func choice(of type: any Decodable.Type) -> Place? {
        var next = place.isElement ? place.node.pointee.children : nil
        while let node = next {
            if let choice = decoding.choice(at: node, of: type) { return choice }
            next = node.pointee.next
        }
        return nil
    }

    /// The key of this itself, where it is the case of an enum.
    private var ownKey: String { decoding.key(of: place, in: codingPath) }

    private var ownContent: Place {
        place.isElement ? Place(place.node, .content) : Place(place.node, .run)
    }
}

// MARK: Children

extension ElementDecoder {
    private func child(_ name: String, _ namespace: String?) -> xmlNodePtr? {
        if let index = currentIndex {
            return index.nodes[name].flatMap { preferred($0.filter { Place($0, .value).isElement }, namespace) }
        }
        guard place.isElement, let first = place.node.pointee.children else { return nil }
        var name = name
        return name.withUTF8 { name in
            var other: xmlNodePtr?
            // From where the last look-up ended to the end.
            var next = cursor
            var passed = passedNames
            while let node = next {
                if node.pointee.type == XML_ELEMENT_NODE, node.bears(name) {
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
            // Then from the start to there.
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
            if node.pointee.type == XML_ELEMENT_NODE, node.bears(name),
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

    /// Whether a child is of the namespace asked for, or else of this element's own.
    @inline(__always)
    private func isPreferred(_ node: xmlNodePtr, _ namespace: String?) -> Bool {
        if let namespace { return node.isIn(namespace) }
        return node.isInNamespace(of: place.node)
    }
}

// MARK: Attributes

extension ElementDecoder {
    private func attribute(_ name: String, _ namespace: String?) -> xmlNodePtr? {
        if let index = currentIndex {
            return index.nodes[name].flatMap { nodes in
                let attributes = nodes.filter { Place($0, .value).isAttribute }
                return attributes.first { $0.isIn(namespace ?? "") }
                    ?? (namespace == nil ? attributes.first : nil)
            }
        }
        guard place.isElement, let first = place.node.pointee.properties else { return nil }
        var name = name
        return name.withUTF8 { name in
            var other: xmlNodePtr?
            var next: xmlNodePtr? = UnsafeMutableRawPointer(first).assumingMemoryBound(to: xmlNode.self)
            while let node = next {
                if node.bears(name) {
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
    /// The keys of the children and attributes, each once; and the text's, if it is more than white space.
    var keys: [String] {
        if case .choice = place.role { return [ownKey] }
        guard place.isElement else { return [Place.textKey] }
        let index = madeIndex
        self.index = index
        let hasText = Place(place.node, .ownText).withOwnText { text, _ in !text.trimmed.isEmpty }
        return hasText && index.nodes[Place.textKey] == nil ? index.keys + [Place.textKey] : index.keys
    }

    /// The index, where one is needed or there already.
    private var currentIndex: NodeIndex? {
        if let index { return index }
        guard decoding.hasCustomKeys, place.isElement else { return nil }
        let made = madeIndex
        index = made
        return made
    }

    private var madeIndex: NodeIndex {
        let path = codingPath
        return NodeIndex(place.node) { decoding.key(of: $0, in: path) }
    }
}

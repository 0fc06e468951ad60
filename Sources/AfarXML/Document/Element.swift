import CLibxml2

extension XML {
    /// An element: a name, attributes, and what is in it.
    public struct Element: NodeProtocol {
        /// This as a plain node.
        public let node: Node

        init(_ node: Node) { self.node = node }

        init?(_ document: Document, _ pointer: xmlNodePtr?) {
            guard let pointer else { return nil }
            self.init(Node(document: document, pointer: pointer))
        }
    }
}

// MARK: What is in it

extension XML.Element {
    /// The elements in it.
    public var children: [XML.Element] {
        chain(from: xmlFirstElementChild(pointer)) { xmlNextElementSibling($0) }.map(XML.Element.init)
    }

    /// All that is in it: elements, texts, comments.
    public var nodes: [XML.Node] { Array(chain(from: pointer.pointee.children) { $0.pointee.next }) }

    /// The elements in it that bear a name.
    ///
    /// - Parameters:
    ///   - localName: The name without a prefix.
    ///   - namespace: The name of the namespace; "" for none. The default, nil, means any.
    public func children(named localName: String, namespace: String? = nil) -> [XML.Element] {
        children.filter { $0.bears(localName, namespace) }
    }

    /// The first element in it that bears a name.
    ///
    /// - Parameters:
    ///   - localName: The name without a prefix.
    ///   - namespace: The name of the namespace; "" for none. The default, nil, means any.
    public func first(named localName: String, namespace: String? = nil) -> XML.Element? {
        chain(from: xmlFirstElementChild(pointer)) { xmlNextElementSibling($0) }.lazy.map(XML.Element.init)
            .first { $0.bears(localName, namespace) }
    }

    /// The elements in it, the elements in those, and so on, in the document's order.
    public var descendants: some Sequence<XML.Element> {
        let top = pointer
        return chain(from: xmlFirstElementChild(top)) { current in
            if let child = xmlFirstElementChild(current) { return child }
            var open = current
            while open != top {
                if let next = xmlNextElementSibling(open) { return next }
                guard let parent = open.pointee.parent else { return nil }
                open = parent
            }
            return nil
        }
        .lazy.map(XML.Element.init)
    }

    private func chain(
        from first: xmlNodePtr?, _ next: @escaping (xmlNodePtr) -> xmlNodePtr?
    ) -> some Sequence<XML.Node> {
        sequence(state: first) { [document] place in
            guard let current = place else { return nil }
            place = next(current)
            return XML.Node(document: document, pointer: current)
        }
    }
}

// MARK: Beside it

extension XML.Element {
    /// The next element with the same parent.
    public var next: XML.Element? { XML.Element(document, xmlNextElementSibling(pointer)) }

    /// The element before with the same parent.
    public var previous: XML.Element? { XML.Element(document, xmlPreviousElementSibling(pointer)) }
}

// MARK: Attributes

extension XML.Element {
    /// The attributes, in the order written. Namespace declarations are none.
    public var attributes: [XML.Attribute] {
        chain(from: pointer.pointee.properties.map { afar_xml_node($0) }) { $0.pointee.next }.map(XML.Attribute.init)
    }

    /// The value of an attribute.
    ///
    /// - Parameters:
    ///   - localName: The name without a prefix.
    ///   - namespace: The name of the namespace; "" for none. The default, nil, means any.
    public func attribute(_ localName: String, namespace: String? = nil) -> String? {
        attributes.first { $0.bears(localName, namespace) }?.value
    }

    /// The value of an attribute that is in no namespace, as most are.
    public subscript(localName: String) -> String? { attribute(localName, namespace: "") }

    /// The namespaces that this element declares: their names by their prefixes, the default one by "".
    public var namespaceDeclarations: [String: String] {
        var declarations: [String: String] = [:]
        var next = pointer.pointee.nsDef
        while let namespace = next {
            declarations[String(xml: namespace.pointee.prefix)] = String(xml: namespace.pointee.href)
            next = namespace.pointee.next
        }
        return declarations
    }
}

extension XML {
    /// An attribute.
    public struct Attribute: NodeProtocol {
        /// This as a plain node.
        public let node: Node

        init(_ node: Node) { self.node = node }

        /// The value.
        public var value: String { text }
    }
}

// MARK: - Names

extension XML.NodeProtocol {
    fileprivate func bears(_ localName: String, _ namespace: String?) -> Bool {
        guard xmlStrcmp(pointer.pointee.name, localName) == 0 else { return false }
        guard let namespace else { return true }
        return pointer.pointee.ns.map { xmlStrcmp($0.pointee.href, namespace) == 0 } ?? namespace.isEmpty
    }
}

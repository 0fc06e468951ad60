import CLibxml2

extension XML {
    /// An element with a name, attributes and content.
    public struct Element: NodeProtocol {
        /// The element as a node.
        public let node: Node

        init(_ node: Node) { self.node = node }

        init?(_ document: Document, _ pointer: xmlNodePtr?) {
            guard let pointer else { return nil }
            self.init(Node(document: document, pointer: pointer))
        }
    }
}

extension XML.Element {
    /// The child elements.
    public var children: [XML.Element] {
        chain(from: xmlFirstElementChild(pointer)) { xmlNextElementSibling($0) }.map(XML.Element.init)
    }

    /// All child nodes: elements, text, comments and others.
    public var nodes: [XML.Node] { Array(chain(from: pointer.pointee.children) { $0.pointee.next }) }

    /// Returns the child elements with a name.
    ///
    /// - Parameters:
    ///   - localName: The name without a prefix.
    ///   - namespace: The namespace URI, or an empty string for no namespace. The default, `nil`, accepts any
    ///     namespace.
    public func children(named localName: String, namespace: String? = nil) -> [XML.Element] {
        children.filter { $0.hasName(localName, namespace) }
    }

    /// Returns the first child element with a name.
    ///
    /// - Parameters:
    ///   - localName: The name without a prefix.
    ///   - namespace: The namespace URI, or an empty string for no namespace. The default, `nil`, accepts any
    ///     namespace.
    public func first(named localName: String, namespace: String? = nil) -> XML.Element? {
        chain(from: xmlFirstElementChild(pointer)) { xmlNextElementSibling($0) }.lazy.map(XML.Element.init)
            .first { $0.hasName(localName, namespace) }
    }

    /// All descendant elements in document order.
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

extension XML.Element {
    /// The next sibling element.
    public var next: XML.Element? { XML.Element(document, xmlNextElementSibling(pointer)) }

    /// The previous sibling element.
    public var previous: XML.Element? { XML.Element(document, xmlPreviousElementSibling(pointer)) }
}

extension XML.Element {
    /// The attributes in document order, without namespace declarations.
    public var attributes: [XML.Attribute] {
        chain(from: pointer.pointee.properties.map { afar_xml_node($0) }) { $0.pointee.next }.map(XML.Attribute.init)
    }

    /// Returns the value of an attribute.
    ///
    /// - Parameters:
    ///   - localName: The name without a prefix.
    ///   - namespace: The namespace URI, or an empty string for no namespace. The default, `nil`, accepts any
    ///     namespace.
    public func attribute(_ localName: String, namespace: String? = nil) -> String? {
        attributes.first { $0.hasName(localName, namespace) }?.value
    }

    /// Returns the value of an attribute without a namespace. Most attributes have no namespace.
    public subscript(localName: String) -> String? { attribute(localName, namespace: "") }

    /// The namespaces that this element declares, as URIs by prefix. The default namespace has an empty prefix.
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
    /// An attribute of an element.
    public struct Attribute: NodeProtocol {
        /// The attribute as a node.
        public let node: Node

        init(_ node: Node) { self.node = node }

        /// The value of the attribute.
        public var value: String { text }
    }
}

extension XML.NodeProtocol {
    fileprivate func hasName(_ localName: String, _ namespace: String?) -> Bool {
        guard xmlStrcmp(pointer.pointee.name, localName) == 0 else { return false }
        guard let namespace else { return true }
        return pointer.pointee.ns.map { xmlStrcmp($0.pointee.href, namespace) == 0 } ?? namespace.isEmpty
    }
}

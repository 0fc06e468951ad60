import CLibxml2

/// Nodes that are gathered, and whether they came in the document's order, each once.
struct XPathNodes {
    private(set) var nodes: [xmlNodePtr] = []
    private var last: UInt64 = 0
    private(set) var isSorted = true

    init() {}

    mutating func append(_ node: xmlNodePtr) {
        let order = node.order
        if order <= last { isSorted = false }
        last = order
        nodes.append(node)
    }
}

extension XPathEvaluation {
    /// Nodes in the document's order, each once.
    func sorted(_ found: XPathNodes) throws(XML.Error) -> [xmlNodePtr] {
        if found.isSorted { return found.nodes }
        let count = found.nodes.count
        try spend(count * (Int.bitWidth - count.leadingZeroBitCount) / 16)
        var ordered: [(order: UInt64, node: xmlNodePtr)] = found.nodes.map { ($0.order, $0) }
        ordered.sort { $0.order < $1.order }
        var nodes: [xmlNodePtr] = []
        var last: UInt64 = 0
        for (order, node) in ordered where order != last {
            nodes.append(node)
            last = order
        }
        return nodes
    }
}

// What XPath asks of libxml2's nodes, whose attributes and namespaces begin as its nodes do.
extension UnsafeMutablePointer<xmlNode> {
    /// The place in the document's order: from 1, with room for the namespaces of an element after it.
    var order: UInt64 { afar_xml_node_order(self) }

    /// A namespace's node as what it is.
    var namespace: xmlNsPtr { UnsafeMutableRawPointer(self).assumingMemoryBound(to: xmlNs.self) }

    var isNamespace: Bool { pointee.type == XML_NAMESPACE_DECL }

    var isAttribute: Bool { pointee.type == XML_ATTRIBUTE_NODE }

    /// Whether this may have children: it is an element or the document.
    private var isParent: Bool {
        switch pointee.type {
        case XML_ELEMENT_NODE, XML_DOCUMENT_NODE, XML_HTML_DOCUMENT_NODE: true
        default: false
        }
    }

    var firstChild: xmlNodePtr? { isParent ? pointee.children : nil }

    var lastChild: xmlNodePtr? { isParent ? pointee.last : nil }

    var parent: xmlNodePtr? {
        isNamespace
            ? UnsafeMutableRawPointer(namespace.pointee.next)?.assumingMemoryBound(to: xmlNode.self) : pointee.parent
    }

    var nextSibling: xmlNodePtr? { isNamespace || isAttribute ? nil : pointee.next }

    var previousSibling: xmlNodePtr? { isNamespace || isAttribute ? nil : pointee.prev }

    /// The node after this one among the descendants of another.
    func next(inside top: xmlNodePtr) -> xmlNodePtr? { firstChild ?? nextAfterDescendants(inside: top) }

    /// The node after this one and all that is in it, among the descendants of another, or in the whole document.
    func nextAfterDescendants(inside top: xmlNodePtr?) -> xmlNodePtr? {
        var open: xmlNodePtr? = self
        while let node = open, node != top {
            if let next = node.nextSibling { return next }
            open = node.parent
        }
        return nil
    }

    /// The last node that is in this one, or itself.
    var lastDescendant: xmlNodePtr {
        var node = self
        while let last = node.lastChild { node = last }
        return node
    }
}

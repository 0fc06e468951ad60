import CLibxml2

extension XPathEvaluation {
    /// Calls a closure with each node of an axis, in the axis' order, until it returns false. Every node is a step.
    func visit(
        _ axis: XPathAxis, _ origin: xmlNodePtr, _ work: (xmlNodePtr) throws(XML.Error) -> Bool
    ) throws(XML.Error) {
        switch axis {
        case .`self`: try visit(from: origin, work) { _ in nil }
        case .child: try visit(from: origin.firstChild, work) { $0.nextSibling }
        case .parent: try visit(from: origin.parent, work) { _ in nil }
        case .ancestor: try visit(from: origin.parent, work) { $0.parent }
        case .ancestorOrSelf: try visit(from: origin, work) { $0.parent }
        case .descendant: try visit(from: origin.firstChild, work) { $0.next(inside: origin) }
        case .descendantOrSelf: try visit(from: origin, work) { $0.next(inside: origin) }
        case .followingSibling: try visit(from: origin.nextSibling, work) { $0.nextSibling }
        case .precedingSibling: try visit(from: origin.previousSibling, work) { $0.previousSibling }
        case .following:
            try visit(from: origin.following, work) { $0.firstChild ?? $0.nextAfterDescendants(inside: nil) }
        case .preceding: try visitPreceding(origin, work)
        case .attribute: try visit(from: origin.firstAttribute, work) { $0.pointee.next }
        case .namespace: try visitNamespaces(origin, work)
        }
    }

    @inline(__always)
    private func visit(
        from first: xmlNodePtr?, _ work: (xmlNodePtr) throws(XML.Error) -> Bool, next: (xmlNodePtr) -> xmlNodePtr?
    ) throws(XML.Error) {
        var current = first
        while let node = current {
            try spend(1)
            guard try work(node) else { return }
            current = next(node)
        }
    }

    /// What ends before a node begins: from it backwards, without its ancestors.
    private func visitPreceding(
        _ origin: xmlNodePtr, _ work: (xmlNodePtr) throws(XML.Error) -> Bool
    ) throws(XML.Error) {
        var ancestor: xmlNodePtr? = origin
        while let inner = ancestor {
            try spend(1)
            var sibling = inner.previousSibling
            while let top = sibling {
                // What is in it comes backwards too: the last first, and itself at the end.
                var current = top.lastDescendant
                while true {
                    try spend(1)
                    guard try work(current) else { return }
                    if current == top { break }
                    guard let before = current.previousSibling?.lastDescendant ?? current.parent else { break }
                    current = before
                }
                sibling = top.previousSibling
            }
            ancestor = inner.parent
        }
    }

    /// The namespaces that are in force at an element, each declared by it or around it, and `xml`.
    private func visitNamespaces(
        _ origin: xmlNodePtr, _ work: (xmlNodePtr) throws(XML.Error) -> Bool
    ) throws(XML.Error) {
        guard origin.pointee.type == XML_ELEMENT_NODE else { return }
        var prefixes: [UnsafePointer<xmlChar>?] = []
        var element: xmlNodePtr? = origin
        while let current = element, current.pointee.type == XML_ELEMENT_NODE {
            try spend(1)
            var declared = current.pointee.nsDef
            while let namespace = declared {
                let prefix = namespace.pointee.prefix
                try spend((1 + prefixes.count) * (1 + Int(xmlStrlen(prefix)) / 8))
                declared = namespace.pointee.next
                if prefixes.contains(where: { xmlStrEqual($0, prefix) != 0 }) { continue }
                prefixes.append(prefix)
                // An empty name takes the default namespace back.
                guard let name = namespace.pointee.href, name.pointee != 0 else { continue }
                let node = try namespaceNode(of: origin, at: prefixes.count + 1, prefix, name)
                guard try work(node) else { return }
            }
            element = current.pointee.parent
        }
        _ = try work(namespaceNode(of: origin, at: 1, afar_xml_prefix(), afar_xml_namespace()))
    }
}

extension UnsafeMutablePointer<xmlNode> {
    var firstAttribute: xmlNodePtr? {
        guard pointee.type == XML_ELEMENT_NODE else { return nil }
        return pointee.properties.map { afar_xml_node($0) }
    }

    /// The first node that begins after this ends. The content of an element follows its attributes and namespaces.
    fileprivate var following: xmlNodePtr? {
        guard isAttribute || isNamespace else { return nextAfterDescendants(inside: nil) }
        guard let parent else { return nil }
        return parent.firstChild ?? parent.nextAfterDescendants(inside: nil)
    }
}

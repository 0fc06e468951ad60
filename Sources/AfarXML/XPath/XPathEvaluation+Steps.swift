import CLibxml2

extension XPathEvaluation {
    /// Returns the nodes that a path selects.
    func nodes(
        _ start: XPathExpression.Start, _ steps: ArraySlice<XPathStep>, _ context: Context
    ) throws(XML.Error) -> [xmlNodePtr] {
        var nodes: [xmlNodePtr]
        switch start {
        case .document: nodes = [afar_xml_node(document.pointer)]
        case .context: nodes = [context.node]
        case .nodes(let expression, let predicates):
            nodes = try self.nodes(expression, context)
            for predicate in predicates { nodes = try filter(nodes, predicate) }
        }
        for step in steps {
            if nodes.isEmpty { break }
            nodes = try follow(step, from: nodes)
        }
        return nodes
    }

    /// Returns the nodes that a step selects from several nodes.
    ///
    /// - Parameter untilFirst: Whether to stop after the first node.
    func follow(
        _ step: XPathStep, from origins: [xmlNodePtr], untilFirst: Bool = false
    ) throws(XML.Error) -> [xmlNodePtr] {
        var found = XPathNodes()
        if step.isPositional {
            for origin in origins {
                try spend(1)
                let nodes = try positioned(step, from: origin)
                for node in step.axis.isReverse ? nodes.reversed() : nodes { found.append(node) }
                if untilFirst, !found.nodes.isEmpty { break }
            }
            return try sorted(found)
        }
        for origin in try necessary(origins, step.axis) {
            try spend(1)
            var nodes: [xmlNodePtr] = []
            try visit(step.axis, origin) { node throws(XML.Error) in
                guard try self.passes(node, step) else { return true }
                nodes.append(node)
                return !untilFirst
            }
            for node in step.axis.isReverse ? nodes.reversed() : nodes { found.append(node) }
            if untilFirst, !found.nodes.isEmpty { break }
        }
        return try sorted(found)
    }

    /// Performs a step whose predicates depend on positions. Returns the nodes that pass all predicates, in the order
    /// of the axis.
    private func positioned(_ step: XPathStep, from origin: xmlNodePtr) throws(XML.Error) -> [xmlNodePtr] {
        var nodes: [xmlNodePtr] = []
        var predicates = step.predicates[...]
        // No node after this position can match.
        var wanted = Int.max
        if case .number(let number)? = predicates.first?.expression {
            guard let place = Int(exactly: number), place > 0 else { return [] }
            wanted = place
            predicates.removeFirst()
        }
        var count = 0
        try visit(step.axis, origin) { node throws(XML.Error) in
            guard step.test.admits(node, on: step.axis) else { return true }
            count += 1
            if wanted == .max || count == wanted { nodes.append(node) }
            return count < wanted
        }
        for predicate in predicates { nodes = try filter(nodes, predicate) }
        return nodes
    }

    /// Returns the nodes that pass a predicate. The order of the nodes determines their positions.
    private func filter(_ nodes: [xmlNodePtr], _ predicate: XPathPredicate) throws(XML.Error) -> [xmlNodePtr] {
        var passed: [xmlNodePtr] = []
        for (index, node) in nodes.enumerated() {
            try spend(1)
            if try passes(predicate, Context(node: node, position: index + 1, size: nodes.count)) {
                passed.append(node)
            }
        }
        return passed
    }

    private func passes(_ node: xmlNodePtr, _ step: XPathStep) throws(XML.Error) -> Bool {
        guard step.test.admits(node, on: step.axis) else { return false }
        for predicate in step.predicates where try !passes(predicate, Context(node: node)) { return false }
        return true
    }

    private func passes(_ predicate: XPathPredicate, _ context: Context) throws(XML.Error) -> Bool {
        guard predicate.expression.type == .number else { return try isTrue(predicate.expression, context) }
        return try number(predicate.expression, context) == Double(context.position)
    }

    /// Returns only the necessary origins. From them, the axis reaches the same nodes as from all origins. Without this reduction, a step
    /// could take quadratic time.
    private func necessary(_ origins: [xmlNodePtr], _ axis: XPathAxis) throws(XML.Error) -> [xmlNodePtr] {
        guard origins.count > 1 else { return origins }
        switch axis {
        case .descendant, .descendantOrSelf:
            var end: UInt64 = 0
            var outermost: [xmlNodePtr] = []
            for origin in origins where origin.isAttribute || origin.isNamespace || origin.order > end {
                try spend(1)
                outermost.append(origin)
                if !origin.isAttribute, !origin.isNamespace { end = origin.lastDescendant.order }
            }
            return outermost
        case .following:
            var first = origins[0]
            for origin in origins.dropFirst() {
                try spend(1)
                if origin.endOrder < first.endOrder { first = origin }
            }
            return [first]
        case .preceding: return origins.suffix(1)
        case .followingSibling, .precedingSibling:
            var parents: Set<xmlNodePtr> = []
            var outermost: [xmlNodePtr] = []
            for origin in axis == .followingSibling ? origins : origins.reversed() {
                try spend(1)
                // Attributes and namespaces have a parent but no siblings.
                guard !origin.isAttribute, !origin.isNamespace, let parent = origin.parent,
                    parents.insert(parent).inserted
                else { continue }
                outermost.append(origin)
            }
            return outermost
        default: return origins
        }
    }
}

extension XPathNodeTest {
    /// Returns whether a node on an axis passes the test.
    fileprivate func admits(_ node: xmlNodePtr, on axis: XPathAxis) -> Bool {
        switch self {
        case .node:
            switch node.pointee.type {
            case XML_DTD_NODE, XML_ENTITY_DECL, XML_ELEMENT_DECL, XML_ATTRIBUTE_DECL: return false
            default: return true
            }
        case .text: return node.isText
        case .comment: return node.pointee.type == XML_COMMENT_NODE
        case .instruction(let target):
            return node.pointee.type == XML_PI_NODE && target?.isEqual(to: node.pointee.name) != false
        case .any: return axis.isPrincipal(node)
        case .anyIn(let namespace):
            guard axis.isPrincipal(node), !node.isNamespace, let own = node.pointee.ns else { return false }
            return namespace.isEqual(to: own.pointee.href)
        case .named(let name, let namespace):
            guard axis.isPrincipal(node) else { return false }
            if node.isNamespace { return namespace == nil && name.isEqual(to: node.namespace.pointee.prefix) }
            guard name.isEqual(to: node.pointee.name) else { return false }
            guard let namespace else { return node.pointee.ns == nil }
            return node.pointee.ns.map { namespace.isEqual(to: $0.pointee.href) } ?? false
        }
    }
}

extension XPathAxis {
    /// Returns whether a node has the principal type of the axis.
    fileprivate func isPrincipal(_ node: xmlNodePtr) -> Bool {
        switch self {
        case .attribute: node.isAttribute
        case .namespace: node.isNamespace
        default: node.pointee.type == XML_ELEMENT_NODE
        }
    }
}

extension UnsafeMutablePointer<xmlNode> {
    /// The position of the last descendant in document order. Attributes and namespaces end before their element's
    /// content.
    fileprivate var endOrder: UInt64 { isAttribute || isNamespace ? order : lastDescendant.order }
}

// MARK: - Axes

extension XPathEvaluation {
    /// Calls a closure with each node of an axis, in the order of the axis, until the closure returns `false`. Each
    /// node counts as a step.
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

    /// Visits the nodes that end before a node begins, in reverse document order. They don't include the node's
    /// ancestors.
    private func visitPreceding(
        _ origin: xmlNodePtr, _ work: (xmlNodePtr) throws(XML.Error) -> Bool
    ) throws(XML.Error) {
        var ancestor: xmlNodePtr? = origin
        while let inner = ancestor {
            try spend(1)
            var sibling = inner.previousSibling
            while let top = sibling {
                // Visit the sibling's descendants in reverse document order, and then the sibling itself.
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

    /// Visits the namespaces that apply to an element: `xml` and the namespaces that the element or its ancestors declare.
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
                // An empty URI undeclares the default namespace.
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

    /// The first node that begins after the end of this node. After an attribute or a namespace, that is the first node
    /// of the element's content.
    fileprivate var following: xmlNodePtr? {
        guard isAttribute || isNamespace else { return nextAfterDescendants(inside: nil) }
        guard let parent else { return nil }
        return parent.firstChild ?? parent.nextAfterDescendants(inside: nil)
    }
}

// MARK: - Document order

/// Collects nodes and tracks whether they are unique and in document order.
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
    /// Returns unique nodes in document order.
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

// MARK: - Navigation

// libxml2's structures for attributes and namespaces begin with the same fields as its structure for nodes.
extension UnsafeMutablePointer<xmlNode> {
    /// The position in document order. The positions directly after an element are reserved for its namespaces.
    var order: UInt64 { afar_xml_node_order(self) }

    /// The namespace that a namespace node represents.
    var namespace: xmlNsPtr { UnsafeMutableRawPointer(self).assumingMemoryBound(to: xmlNs.self) }

    var isNamespace: Bool { pointee.type == XML_NAMESPACE_DECL }

    var isAttribute: Bool { pointee.type == XML_ATTRIBUTE_NODE }

    /// Whether the node is an element or the document. Only these nodes can have children.
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

    /// Returns the next node in document order, if it is a descendant of `top`.
    func next(inside top: xmlNodePtr) -> xmlNodePtr? { firstChild ?? nextAfterDescendants(inside: top) }

    /// Returns the first node after this node and its descendants. If `top` isn't `nil`, returns only descendants of
    /// `top`.
    func nextAfterDescendants(inside top: xmlNodePtr?) -> xmlNodePtr? {
        var open: xmlNodePtr? = self
        while let node = open, node != top {
            if let next = node.nextSibling { return next }
            open = node.parent
        }
        return nil
    }

    /// The last descendant, or the node itself if it has no descendants.
    var lastDescendant: xmlNodePtr {
        var node = self
        while let last = node.lastChild { node = last }
        return node
    }
}

import CLibxml2

extension XPathEvaluation {
    /// The nodes that a path leads to.
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

    /// The nodes that a step leads to from any of some nodes.
    ///
    /// - Parameter untilFirst: Whether it is enough to find one.
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

    /// The nodes of one axis, in its order, that pass predicates which count them.
    private func positioned(_ step: XPathStep, from origin: xmlNodePtr) throws(XML.Error) -> [xmlNodePtr] {
        var nodes: [xmlNodePtr] = []
        var predicates = step.predicates[...]
        // The first predicate is often a number, beyond which nobody needs to look.
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

    /// The nodes that pass a predicate; their order is that of their places.
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

    /// Those of some nodes from which an axis reaches all that it reaches from any of them, so that the step takes no square
    /// of their number.
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
                // Attributes and namespaces have a parent and no siblings.
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
    /// Whether a node of an axis passes.
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
    /// Whether a node is of the type that names on this axis are of.
    fileprivate func isPrincipal(_ node: xmlNodePtr) -> Bool {
        switch self {
        case .attribute: node.isAttribute
        case .namespace: node.isNamespace
        default: node.pointee.type == XML_ELEMENT_NODE
        }
    }
}

extension UnsafeMutablePointer<xmlNode> {
    /// The place of the last node in this one. Attributes and namespaces end before the content of their element.
    fileprivate var endOrder: UInt64 { isAttribute || isNamespace ? order : lastDescendant.order }
}

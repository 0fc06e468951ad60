import CLibxml2

/// One evaluation, which counts what it does. Used by one thread at a time.
///
/// libxml2's own evaluator cannot be bounded: it compares each node of a step with each found before, and each of two sets
/// with each, without counting, and copies texts as often as it is asked to.
final class XPathEvaluation {
    let document: XML.Document
    private let maximumSteps: Int
    private var steps: Int
    /// The namespace nodes that were made, which end with this.
    private var namespaces: [xmlNsPtr] = []
    /// The elements by their IDs, once somebody has asked for one.
    private var identified: [[UInt8]: xmlNodePtr]?

    /// Where an expression is evaluated.
    struct Context {
        let node: xmlNodePtr
        var position = 1
        var size = 1
    }

    init(of document: XML.Document, maximumSteps: Int) {
        document.orderNodes()
        self.document = document
        self.maximumSteps = max(1, maximumSteps)
        steps = self.maximumSteps
    }

    deinit { for namespace in namespaces { afar_xml_free(namespace) } }

    /// Counts steps, before they are taken.
    @inline(__always)
    func spend(_ count: Int) throws(XML.Error) {
        steps &-= count
        if steps < 0 { throw tooMany }
    }

    /// Counts the steps for text that is read or made: one, and one for every eight bytes.
    func spend(forBytes count: Int) throws(XML.Error) { try spend(1 + count / 8) }

    private var tooMany: XML.Error {
        XML.Error(.xpathTooComplex, "the XPath expression takes more than the \(maximumSteps) steps that are allowed")
    }

    /// Makes the node of a namespace that is in force at an element.
    func namespaceNode(
        of element: xmlNodePtr, at index: Int, _ prefix: UnsafePointer<xmlChar>?, _ name: UnsafePointer<xmlChar>?
    ) throws(XML.Error) -> xmlNodePtr {
        try spend(8)
        guard let namespace = afar_xml_namespace_node(element, index, prefix, name) else { throw .outOfMemory }
        namespaces.append(namespace)
        return afar_xml_node(namespace)
    }

    /// The element that bears an ID, the first of several: by `xml:id`, in pages by `id`, and by `name` on anchors.
    func element(withID name: [UInt8]) throws(XML.Error) -> xmlNodePtr? {
        try spend(forBytes: name.count)
        if let identified { return identified[name] }
        let top = document.node.pointer
        var elements: [[UInt8]: xmlNodePtr] = [:]
        var next = top.firstChild
        while let node = next {
            try spend(1)
            var attribute = node.firstAttribute
            while let current = attribute {
                try spend(1)
                if afar_xml_is_id(current) {
                    let name = try text(of: current)
                    try spend(8)
                    if elements[name] == nil { elements[name] = node }
                }
                attribute = current.pointee.next
            }
            next = node.next(inside: top)
        }
        identified = elements
        return elements[name]
    }

    func evaluate(_ expression: XPathExpression, _ context: Context) throws(XML.Error) -> XPathValue {
        try spend(1)
        switch expression {
        case .number(let number): return .number(number)
        case .text(let text):
            try spend(forBytes: text.count)
            return .text(text)
        case .negation(let operand): return .number(-(try number(operand, context)))
        case .anyOf, .allOf: return .boolean(try isTrue(expression, context))
        case .comparisons(let first, let others):
            var result = try evaluate(first, context)
            for (comparison, operand) in others {
                result = .boolean(try compare(result, comparison, evaluate(operand, context)))
            }
            return result
        case .arithmetic(let first, let others):
            var result = try number(first, context)
            for (operation, operand) in others {
                result = operation.result(result, try number(operand, context))
            }
            return .number(result)
        case .union(let operands):
            var found = XPathNodes()
            for operand in operands {
                for node in try nodes(operand, context) {
                    try spend(1)
                    found.append(node)
                }
            }
            return .nodes(try sorted(found))
        case .path(let start, let steps): return .nodes(try nodes(start, steps[...], context))
        case .call(let function, let arguments): return try call(function, arguments, context)
        }
    }

    /// An expression as a truth value; paths are followed until there is one node.
    func isTrue(_ expression: XPathExpression, _ context: Context) throws(XML.Error) -> Bool {
        try spend(1)
        switch expression {
        case .anyOf(let operands):
            for operand in operands where try isTrue(operand, context) { return true }
            return false
        case .allOf(let operands):
            for operand in operands where try !isTrue(operand, context) { return false }
            return true
        case .path(let start, let steps):
            guard let last = steps.last else { return try !nodes(start, [], context).isEmpty }
            let origins = try nodes(start, steps.dropLast(), context)
            return try !follow(last, from: origins, untilFirst: true).isEmpty
        default: return try evaluate(expression, context).boolean
        }
    }

    func number(_ expression: XPathExpression, _ context: Context) throws(XML.Error) -> Double {
        try number(of: evaluate(expression, context))
    }

    func text(_ expression: XPathExpression, _ context: Context) throws(XML.Error) -> [UInt8] {
        try text(of: evaluate(expression, context))
    }

    /// The nodes of an expression that gives nodes.
    func nodes(_ expression: XPathExpression, _ context: Context) throws(XML.Error) -> [xmlNodePtr] {
        guard case .nodes(let nodes) = try evaluate(expression, context) else { return [] }
        return nodes
    }
}

extension XPathExpression.Arithmetic {
    fileprivate func result(_ left: Double, _ right: Double) -> Double {
        switch self {
        case .add: left + right
        case .subtract: left - right
        case .multiply: left * right
        case .divide: left / right
        // Of the sign of the left one, unlike IEEE's remainder (section 3.5).
        case .remainder: left.truncatingRemainder(dividingBy: right)
        }
    }
}

import CLibxml2
import Foundation

/// An evaluation that limits its number of steps. It isn't thread-safe.
///
/// libxml2's evaluator doesn't count all of its comparisons, so its time can't be limited. For each step of a path, it compares
/// each node with all earlier nodes. When it compares two sets of nodes, it compares all pairs. In addition, it copies text
/// repeatedly.
final class XPathEvaluation {
    let document: XML.Document
    private let maximumSteps: Int
    private var steps: Int
    /// The namespace nodes that this evaluation created and owns.
    private var namespaces: [xmlNsPtr] = []
    /// The elements by ID, or `nil` before the first lookup of an ID.
    private var identified: [[UInt8]: xmlNodePtr]?

    /// The context of an expression.
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

    /// Counts steps. Call this method before performing them. Throws an error if the limit is exceeded.
    @inline(__always)
    func spend(_ count: Int) throws(XML.Error) {
        steps &-= count
        if steps < 0 { throw tooMany }
    }

    /// Counts the steps for text that is read or created: one step, and one more for every eight bytes.
    func spend(forBytes count: Int) throws(XML.Error) { try spend(1 + count / 8) }

    private var tooMany: XML.Error {
        XML.Error(.xpathTooComplex, "the XPath expression exceeds the limit of \(maximumSteps) steps")
    }

    /// Creates the node of a namespace that applies to an element.
    func namespaceNode(
        of element: xmlNodePtr, at index: Int, _ prefix: UnsafePointer<xmlChar>?, _ name: UnsafePointer<xmlChar>?
    ) throws(XML.Error) -> xmlNodePtr {
        try spend(8)
        guard let namespace = afar_xml_namespace_node(element, index, prefix, name) else { throw .outOfMemory }
        namespaces.append(namespace)
        return afar_xml_node(namespace)
    }

    /// Returns the first element with an ID. IDs are `xml:id` and, in HTML, `id` and the `name` of anchors.
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

    /// Returns the Boolean value of an expression. The evaluation of a path ends at the first node that it selects.
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

    /// Evaluates an expression whose result is nodes, and returns the nodes.
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
        // The result has the sign of the dividend, unlike IEEE's remainder (section 3.5).
        case .remainder: left.truncatingRemainder(dividingBy: right)
        }
    }
}

/// The value of an expression during evaluation. Texts are UTF-8.
enum XPathValue {
    /// Unique nodes in document order.
    case nodes([xmlNodePtr])
    case text([UInt8])
    case number(Double)
    case boolean(Bool)
}

extension XPathValue {
    /// The value converted by `boolean()` (XPath 1.0, section 4.3).
    var boolean: Bool {
        switch self {
        case .nodes(let nodes): !nodes.isEmpty
        case .text(let text): !text.isEmpty
        case .number(let number): number != 0 && !number.isNaN
        case .boolean(let value): value
        }
    }
}

extension XPathEvaluation {
    /// Returns the value converted by `string()` (section 4.2).
    func text(of value: XPathValue) throws(XML.Error) -> [UInt8] {
        switch value {
        case .nodes(let nodes):
            guard let first = nodes.first else { return [] }
            return try text(of: first)
        case .text(let text): return text
        case .number(let number): return Array(XML.XPathResult.text(of: number).utf8)
        case .boolean(let value): return Array((value ? "true" : "false").utf8)
        }
    }

    /// Returns the value converted by `number()` (section 4.4).
    func number(of value: XPathValue) throws(XML.Error) -> Double {
        switch value {
        case .number(let number): return number
        case .boolean(let value): return value ? 1 : 0
        case .nodes, .text: return XML.XPathResult.number(in: try text(of: value))
        }
    }

    func number(of node: xmlNodePtr) throws(XML.Error) -> Double {
        XML.XPathResult.number(in: try text(of: node))
    }

    /// Returns a node's text (section 5). If the text has more than `length` bytes, the result can be truncated, but is
    /// still longer than `length`.
    func text(of node: xmlNodePtr, beyond length: Int = .max) throws(XML.Error) -> [UInt8] {
        var text: [UInt8] = []
        switch node.pointee.type {
        case XML_ELEMENT_NODE, XML_DOCUMENT_NODE, XML_HTML_DOCUMENT_NODE:
            var next = node.firstChild
            while let current = next, text.count <= length {
                if current.isText {
                    try append(current.pointee.content, to: &text, beyond: length)
                } else {
                    try spend(1)
                }
                next = current.next(inside: node)
            }
        case XML_ATTRIBUTE_NODE:
            var next = node.pointee.children
            while let current = next, text.count <= length {
                try append(current.pointee.content, to: &text, beyond: length)
                next = current.pointee.next
            }
        case XML_NAMESPACE_DECL: try append(node.namespace.pointee.href, to: &text, beyond: length)
        default: try append(node.pointee.content, to: &text, beyond: length)
        }
        return text
    }

    private func append(
        _ content: UnsafePointer<xmlChar>?, to text: inout [UInt8], beyond length: Int
    ) throws(XML.Error) {
        guard let content else { return try spend(1) }
        let count = length == .max ? Int(xmlStrlen(content)) : strnlen(content, length - text.count + 1)
        try spend(forBytes: count)
        text.append(contentsOf: UnsafeBufferPointer(start: content, count: count))
    }
}

extension XML.XPathResult {
    /// Parses a number from bytes, which aren't null-terminated.
    fileprivate static func number(in text: [UInt8]) -> Double {
        number(in: String(decoding: text, as: UTF8.self))
    }
}

extension XPathEvaluation {
    /// Returns the result of a comparison (XPath 1.0, section 3.4). With a set of nodes, the result is true if the
    /// comparison is true for any node. The comparison of two sets doesn't compare each pair of nodes, which would take
    /// quadratic time.
    func compare(
        _ left: XPathValue, _ comparison: XPathComparison, _ right: XPathValue
    ) throws(XML.Error) -> Bool {
        switch (left, right) {
        case (.nodes(let left), .nodes(let right)):
            guard !left.isEmpty, !right.isEmpty else { return false }
            switch comparison {
            case .equal: return try haveCommonText(left, right)
            case .notEqual: return try haveDifferentTexts(left, right)
            case .less, .lessOrEqual:
                guard let least = try extremes(left), let greatest = try extremes(right) else { return false }
                return comparison.holds(least.lowerBound, greatest.upperBound)
            case .greater, .greaterOrEqual:
                guard let greatest = try extremes(left), let least = try extremes(right) else { return false }
                return comparison.holds(greatest.upperBound, least.lowerBound)
            }
        case (.nodes(let nodes), .boolean), (.boolean, .nodes(let nodes)):
            let boolean = XPathValue.boolean(!nodes.isEmpty)
            if case .boolean = right { return try compareSingle(boolean, comparison, right) }
            return try compareSingle(left, comparison, boolean)
        case (.nodes(let nodes), _): return try hasNode(nodes, comparison, right)
        case (_, .nodes(let nodes)): return try hasNode(nodes, comparison.mirrored, left)
        default: return try compareSingle(left, comparison, right)
        }
    }

    private func compareSingle(
        _ left: XPathValue, _ comparison: XPathComparison, _ right: XPathValue
    ) throws(XML.Error) -> Bool {
        if comparison == .equal || comparison == .notEqual {
            switch (left, right) {
            case (.boolean, _), (_, .boolean): return (left.boolean == right.boolean) == (comparison == .equal)
            case (.number, _), (_, .number): break
            default: return try (text(of: left) == text(of: right)) == (comparison == .equal)
            }
        }
        return comparison.holds(try number(of: left), try number(of: right))
    }

    /// Returns whether the comparison with a number or a text is true for any of the nodes.
    private func hasNode(
        _ nodes: [xmlNodePtr], _ comparison: XPathComparison, _ other: XPathValue
    ) throws(XML.Error) -> Bool {
        if case .text(let wanted) = other, comparison == .equal || comparison == .notEqual {
            for node in nodes where try (text(of: node, beyond: wanted.count) == wanted) == (comparison == .equal) {
                return true
            }
            return false
        }
        let number = try number(of: other)
        for node in nodes where comparison.holds(try self.number(of: node), number) { return true }
        return false
    }

    private func haveCommonText(_ left: [xmlNodePtr], _ right: [xmlNodePtr]) throws(XML.Error) -> Bool {
        var texts: Set<[UInt8]> = []
        for node in left {
            try spend(8)
            texts.insert(try text(of: node))
        }
        for node in right where texts.contains(try text(of: node)) { return true }
        return false
    }

    /// Returns whether the nodes of two nonempty sets have at least two different texts.
    private func haveDifferentTexts(_ left: [xmlNodePtr], _ right: [xmlNodePtr]) throws(XML.Error) -> Bool {
        let first = try text(of: left[0])
        for node in right where try text(of: node, beyond: first.count) != first { return true }
        for node in left.dropFirst() where try text(of: node, beyond: first.count) != first { return true }
        return false
    }

    /// Returns the smallest and the largest number among nodes, or `nil` if none of them is a number.
    private func extremes(_ nodes: [xmlNodePtr]) throws(XML.Error) -> ClosedRange<Double>? {
        var range: ClosedRange<Double>?
        for node in nodes {
            let number = try number(of: node)
            if number.isNaN { continue }
            let known = range ?? number...number
            range = min(known.lowerBound, number)...max(known.upperBound, number)
        }
        return range
    }
}

extension XPathComparison {
    /// The equivalent comparison with exchanged operands.
    fileprivate var mirrored: Self {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    fileprivate func holds(_ left: Double, _ right: Double) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        }
    }
}

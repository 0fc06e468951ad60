import CLibxml2

/// A compiled XPath 1.0 expression. A sequence such as `1 + 2 + 3` is one expression, so only brackets cause deep
/// nesting.
indirect enum XPathExpression {
    case number(Double)
    case text([UInt8])
    case negation(XPathExpression)
    /// Whether any of the expressions is true.
    case anyOf([XPathExpression])
    /// Whether all of the expressions are true.
    case allOf([XPathExpression])
    case comparisons(XPathExpression, [(XPathComparison, XPathExpression)])
    case arithmetic(XPathExpression, [(Arithmetic, XPathExpression)])
    case union([XPathExpression])
    case path(Start, [XPathStep])
    case call(XPathFunction, [XPathExpression])

    /// The start of a path.
    enum Start {
        case document
        case context
        case nodes(XPathExpression, [XPathPredicate])
    }

    enum Arithmetic { case add, subtract, multiply, divide, remainder }

    enum ValueType { case nodes, text, number, boolean }

    /// The type of the result, which doesn't depend on the document.
    var type: ValueType {
        switch self {
        case .number, .negation, .arithmetic: .number
        case .text: .text
        case .anyOf, .allOf, .comparisons: .boolean
        case .union, .path: .nodes
        case .call(let function, _): function.result
        }
    }
}

enum XPathComparison { case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual }

/// A step of a path. From a node, it selects the nodes on an axis that pass the test and all predicates.
struct XPathStep {
    let axis: XPathAxis
    let test: XPathNodeTest
    let predicates: [XPathPredicate]

    /// Whether a predicate depends on a node's position on the axis.
    var isPositional: Bool { predicates.contains(where: \.isPositional) }
}

struct XPathPredicate {
    let expression: XPathExpression
    /// Whether the predicate depends on a node's position: the predicate is a number, or calls `position()` or
    /// `last()`.
    let isPositional: Bool
}

enum XPathAxis: String {
    case ancestor
    case ancestorOrSelf = "ancestor-or-self"
    case attribute
    case child
    case descendant
    case descendantOrSelf = "descendant-or-self"
    case following
    case followingSibling = "following-sibling"
    case namespace
    case parent
    case preceding
    case precedingSibling = "preceding-sibling"
    case `self`

    /// Whether the axis is in reverse document order.
    var isReverse: Bool {
        switch self {
        case .ancestor, .ancestorOrSelf, .preceding, .precedingSibling: true
        default: false
        }
    }
}

enum XPathNodeTest {
    case node, text, comment
    case instruction(XPathName?)
    /// Any node of the axis's principal type: attribute, namespace or element.
    case any
    /// A node of the principal type in a namespace.
    case anyIn(XPathName)
    /// A node of the principal type with a name. If `namespace` is `nil`, the node isn't in a namespace.
    case named(XPathName, namespace: XPathName?)
}

/// A name as a libxml2 string.
final class XPathName {
    private let text: UnsafeMutablePointer<xmlChar>?

    init(_ text: String) { self.text = xmlStrdup(text) }

    deinit { afar_xml_free(text) }

    func isEqual(to other: UnsafePointer<xmlChar>?) -> Bool { xmlStrEqual(text, other) != 0 }
}

/// The functions of XPath 1.0 (section 4).
enum XPathFunction: String {
    case boolean, ceiling, concat, contains, count, `false`, floor, id, lang, last, name, not, number, position, round,
        string
    case substring, sum, translate, `true`
    case localName = "local-name"
    case namespaceURI = "namespace-uri"
    case normalizeSpace = "normalize-space"
    case startsWith = "starts-with"
    case stringLength = "string-length"
    case substringAfter = "substring-after"
    case substringBefore = "substring-before"

    /// The allowed number of arguments.
    var arguments: ClosedRange<Int> {
        switch self {
        case .last, .position, .true, .false: 0...0
        case .localName, .namespaceURI, .name, .string, .stringLength, .normalizeSpace, .number: 0...1
        case .count, .id, .boolean, .not, .lang, .sum, .floor, .ceiling, .round: 1...1
        case .startsWith, .contains, .substringBefore, .substringAfter: 2...2
        case .substring: 2...3
        case .translate: 3...3
        case .concat: 2...Int.max
        }
    }

    /// Whether the arguments must be nodes.
    var takesNodes: Bool {
        switch self {
        case .count, .sum, .localName, .namespaceURI, .name: true
        default: false
        }
    }

    /// The type of the result.
    var result: XPathExpression.ValueType {
        switch self {
        case .id: .nodes
        case .last, .position, .count, .stringLength, .number, .sum, .floor, .ceiling, .round: .number
        case .boolean, .not, .true, .false, .lang, .startsWith, .contains: .boolean
        case .localName, .namespaceURI, .name, .string, .concat, .substring, .substringBefore, .substringAfter,
            .normalizeSpace, .translate:
            .text
        }
    }
}

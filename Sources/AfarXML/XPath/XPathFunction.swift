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

    /// How many arguments it takes.
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

    /// Whether its argument must be nodes.
    var takesNodes: Bool {
        switch self {
        case .count, .sum, .localName, .namespaceURI, .name: true
        default: false
        }
    }

    /// What it gives.
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

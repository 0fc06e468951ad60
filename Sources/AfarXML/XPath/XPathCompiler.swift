/// A compiler for the grammar of XPath 1.0 (section 3). It detects all errors in an expression, including unknown
/// prefixes, unknown functions and invalid arguments, before evaluation.
struct XPathCompiler {
    var reader: XPathReader
    let namespaces: [String: XPathName]
    /// The number of open brackets.
    var depth = 0
    /// Whether the current predicate uses the position or size.
    var usesPosition = false

    static let maximumLength = 4096
    static let maximumDepth = 64

    static func expression(
        _ text: String, _ namespaces: [String: String]
    ) throws(XML.Error) -> XPathExpression {
        guard text.utf8.count <= maximumLength else {
            throw XML.Error(
                .xpathTooComplex, "the XPath expression has \(text.utf8.count) bytes, more than \(maximumLength)")
        }
        for (prefix, name) in namespaces where !XMLName.isValid(prefix) || name.utf8.contains(0) {
            throw XML.Error(.invalidXPath, "“\(prefix)” isn't a valid namespace prefix in XPath")
        }
        var compiler = XPathCompiler(text, namespaces)
        return try compiler.whole()
    }

    private init(_ text: String, _ namespaces: [String: String]) {
        reader = XPathReader(text)
        self.namespaces = namespaces.merging(["xml": XMLNamespaces.xml]) { $1 }.mapValues(XPathName.init)
    }

    private mutating func whole() throws(XML.Error) -> XPathExpression {
        reader.skipSpace()
        guard !reader.isAtEnd else {
            throw XML.Error(.invalidXPath, "the XPath expression is empty", byteOffset: reader.position)
        }
        let expression = try anyOf()
        reader.skipSpace()
        guard reader.isAtEnd else { throw invalid }
        return expression
    }

    var invalid: XML.Error { reader.failure("Invalid expression") }
}

// MARK: Operators, in ascending order of precedence

extension XPathCompiler {
    mutating func anyOf() throws(XML.Error) -> XPathExpression {
        var operands = [try allOf()]
        while reader.skip(operator: "or") { operands.append(try allOf()) }
        return operands.count == 1 ? operands[0] : .anyOf(operands)
    }

    private mutating func allOf() throws(XML.Error) -> XPathExpression {
        var operands = [try equality()]
        while reader.skip(operator: "and") { operands.append(try equality()) }
        return operands.count == 1 ? operands[0] : .allOf(operands)
    }

    private mutating func equality() throws(XML.Error) -> XPathExpression {
        let first = try relation()
        var others: [(XPathComparison, XPathExpression)] = []
        while let comparison: XPathComparison = reader.skip("=") ? .equal : reader.skip("!=") ? .notEqual : nil {
            others.append((comparison, try relation()))
        }
        return others.isEmpty ? first : .comparisons(first, others)
    }

    private mutating func relation() throws(XML.Error) -> XPathExpression {
        let first = try sum()
        var others: [(XPathComparison, XPathExpression)] = []
        while let comparison: XPathComparison = reader.skip("<=")
            ? .lessOrEqual
            : reader.skip(">=") ? .greaterOrEqual : reader.skip("<") ? .less : reader.skip(">") ? .greater : nil
        {
            others.append((comparison, try sum()))
        }
        return others.isEmpty ? first : .comparisons(first, others)
    }

    private mutating func sum() throws(XML.Error) -> XPathExpression {
        let first = try product()
        var others: [(XPathExpression.Arithmetic, XPathExpression)] = []
        while let operation: XPathExpression.Arithmetic = reader.skip("+") ? .add : reader.skip("-") ? .subtract : nil {
            others.append((operation, try product()))
        }
        return others.isEmpty ? first : .arithmetic(first, others)
    }

    private mutating func product() throws(XML.Error) -> XPathExpression {
        let first = try signed()
        var others: [(XPathExpression.Arithmetic, XPathExpression)] = []
        while let operation: XPathExpression.Arithmetic = reader.skip("*")
            ? .multiply
            : reader.skip(operator: "div") ? .divide : reader.skip(operator: "mod") ? .remainder : nil
        {
            others.append((operation, try signed()))
        }
        return others.isEmpty ? first : .arithmetic(first, others)
    }

    private mutating func signed() throws(XML.Error) -> XPathExpression {
        var signs = 0
        while reader.skip("-") { signs += 1 }
        let operand = try union()
        if signs == 0 { return operand }
        // Two minus signs cancel out, but still convert the operand to a number.
        return signs % 2 == 1 ? .negation(operand) : .call(.number, [operand])
    }

    private mutating func union() throws(XML.Error) -> XPathExpression {
        let start = reader.position
        var operands = [try path()]
        while reader.skip("|") {
            operands.append(try path())
            guard operands.allSatisfy({ $0.type == .nodes }) else {
                throw reader.failure("Invalid type of an operand of |", at: start)
            }
        }
        return operands.count == 1 ? operands[0] : .union(operands)
    }
}

// MARK: - Paths

extension XPathCompiler {
    mutating func path() throws(XML.Error) -> XPathExpression {
        if let filter = try filter() { return filter }
        var steps: [XPathStep] = []
        if reader.skip("//") {
            steps.append(.anywhere)
            steps.append(try step())
            try appendSteps(to: &steps)
            return .path(.document, steps.joined)
        }
        let isAbsolute = reader.skip("/")
        guard !isAbsolute || beginsStep else { return .path(.document, []) }
        steps.append(try step())
        try appendSteps(to: &steps)
        return .path(isAbsolute ? .document : .context, steps.joined)
    }

    private mutating func appendSteps(to steps: inout [XPathStep]) throws(XML.Error) {
        while true {
            if reader.skip("//") {
                steps.append(.anywhere)
            } else if !reader.skip("/") {
                return
            }
            steps.append(try step())
        }
    }

    /// Reads an expression that doesn't begin with a step: a value, optionally with predicates and steps.
    private mutating func filter() throws(XML.Error) -> XPathExpression? {
        let start = reader.position
        guard let primary = try primary() else { return nil }
        let predicates = try predicates()
        var steps: [XPathStep] = []
        try appendSteps(to: &steps)
        if predicates.isEmpty, steps.isEmpty { return primary }
        guard primary.type == .nodes else { throw reader.failure("Invalid type before a predicate or step", at: start) }
        return .path(.nodes(primary, predicates), steps.joined)
    }

    private mutating func primary() throws(XML.Error) -> XPathExpression? {
        if reader.skip("(") {
            let inner = try inBrackets { compiler throws(XML.Error) in try compiler.anyOf() }
            try close(")")
            return inner
        }
        if reader.skip("$") { throw reader.failure("Undefined variable") }
        if let text = try reader.literal() { return .text(text) }
        if let number = reader.number() { return .number(number) }
        return try call()
    }

    /// Whether a step can begin at this position.
    private var beginsStep: Bool {
        if ["*", "@", "."].contains(where: { reader.isNext($0, afterSpace: true) }) { return true }
        var ahead = reader
        return ahead.name() != nil
    }

    private mutating func step() throws(XML.Error) -> XPathStep {
        if reader.skip("..") { return XPathStep(axis: .parent, test: .node, predicates: []) }
        if reader.skip(".") { return XPathStep(axis: .`self`, test: .node, predicates: []) }
        let axis = try axis()
        let test = try nodeTest()
        return XPathStep(axis: axis, test: test, predicates: try predicates())
    }

    private mutating func axis() throws(XML.Error) -> XPathAxis {
        if reader.skip("@") { return .attribute }
        var ahead = reader
        guard let name = ahead.name(), ahead.skip("::") else { return .child }
        guard let axis = XPathAxis(rawValue: name) else { throw reader.failure("Unknown axis") }
        reader = ahead
        return axis
    }

    private mutating func nodeTest() throws(XML.Error) -> XPathNodeTest {
        if reader.skip("*") { return .any }
        let start = reader.position
        guard let name = reader.name() else { throw invalid }
        if reader.isNext(":"), !reader.isNext("::") {
            let namespace = try namespace(of: name, at: start)
            _ = reader.skip(":")
            if reader.isNext("*") {
                _ = reader.skip("*")
                return .anyIn(namespace)
            }
            guard !reader.isAtSpace, let local = reader.name() else { throw invalid }
            return .named(XPathName(local), namespace: namespace)
        }
        guard reader.skip("(") else { return .named(XPathName(name), namespace: nil) }
        let test = try nodeType(name, at: start)
        try close(")")
        return test
    }

    private mutating func nodeType(_ name: String, at start: Int) throws(XML.Error) -> XPathNodeTest {
        switch name {
        case "node": return .node
        case "text": return .text
        case "comment": return .comment
        case "processing-instruction":
            return .instruction(try reader.literal().map { XPathName(String(decoding: $0, as: UTF8.self)) })
        default: throw reader.failure("Unknown function", at: start)
        }
    }

    func namespace(of prefix: String, at position: Int) throws(XML.Error) -> XPathName {
        guard let namespace = namespaces[prefix] else {
            throw reader.failure("Undefined namespace prefix", at: position)
        }
        return namespace
    }

    private mutating func predicates() throws(XML.Error) -> [XPathPredicate] {
        var predicates: [XPathPredicate] = []
        while reader.skip("[") {
            let outer = usesPosition
            usesPosition = false
            let expression = try inBrackets { compiler throws(XML.Error) in try compiler.anyOf() }
            try close("]")
            predicates.append(
                XPathPredicate(
                    expression: expression, isPositional: usesPosition || expression.type == .number))
            usesPosition = outer
        }
        return predicates
    }
}

extension XPathStep {
    /// The step that `//` abbreviates.
    fileprivate static var anywhere: XPathStep { XPathStep(axis: .descendantOrSelf, test: .node, predicates: []) }
}

extension [XPathStep] {
    /// The same steps, but with the two steps of each `//name` combined, unless a predicate depends on positions.
    fileprivate var joined: [XPathStep] {
        reduce(into: []) { steps, step in
            if let last = steps.last, last.axis == .descendantOrSelf, case .node = last.test, last.predicates.isEmpty,
                step.axis == .child, !step.isPositional
            {
                steps[steps.count - 1] = XPathStep(axis: .descendant, test: step.test, predicates: step.predicates)
            } else {
                steps.append(step)
            }
        }
    }
}

// MARK: - Functions and brackets

extension XPathCompiler {
    /// Reads a function call, if one comes next.
    mutating func call() throws(XML.Error) -> XPathExpression? {
        var ahead = reader
        ahead.skipSpace()
        let start = ahead.position
        guard let name = ahead.name() else { return nil }
        if ahead.isNext(":"), !ahead.isNext("::") {
            _ = ahead.skip(":")
            guard ahead.name() != nil, ahead.skip("(") else { return nil }
            _ = try namespace(of: name, at: start)
            throw reader.failure("Unknown function", at: start)
        }
        guard ahead.skip("("), !["node", "text", "comment", "processing-instruction"].contains(name) else { return nil }
        guard let function = XPathFunction(rawValue: name) else {
            throw reader.failure("Unknown function", at: start)
        }
        reader = ahead
        if function == .position || function == .last { usesPosition = true }
        let arguments = try inBrackets { compiler throws(XML.Error) in try compiler.arguments() }
        guard function.arguments.contains(arguments.count) else {
            throw reader.failure("Wrong number of arguments", at: start)
        }
        guard !function.takesNodes || arguments.allSatisfy({ $0.type == .nodes }) else {
            throw reader.failure("Invalid type of an argument", at: start)
        }
        return .call(function, arguments)
    }

    private mutating func arguments() throws(XML.Error) -> [XPathExpression] {
        if reader.skip(")") { return [] }
        var arguments = [try anyOf()]
        while reader.skip(",") { arguments.append(try anyOf()) }
        try close(")")
        return arguments
    }

    mutating func close(_ bracket: StaticString) throws(XML.Error) {
        guard reader.skip(bracket) else { throw invalid }
    }

    mutating func inBrackets<Value>(
        _ read: (inout Self) throws(XML.Error) -> Value
    ) throws(XML.Error) -> Value {
        guard depth < Self.maximumDepth else {
            throw XML.Error(
                .xpathTooComplex,
                "brackets in the XPath expression are nested more than \(Self.maximumDepth) levels deep",
                byteOffset: reader.position)
        }
        depth += 1
        defer { depth -= 1 }
        return try read(&self)
    }
}

/// Makes expressions of text, by the grammar of XPath 1.0 (section 3). Whatever can be wrong with one is found here: its
/// prefixes, its functions and what they take are known before it is evaluated.
struct XPathCompiler {
    var reader: XPathReader
    let namespaces: [String: XPathName]
    /// How many brackets are open.
    var depth = 0
    /// Whether the predicate that is being read asks for position or size.
    var asksForPosition = false

    static let maximumLength = 4096
    static let maximumDepth = 64

    static func expression(
        _ text: String, _ namespaces: [String: String]
    ) throws(XML.Error) -> XPathExpression {
        guard text.utf8.count <= maximumLength else {
            throw XML.Error(
                .xpathTooComplex, "the XPath expression has \(text.utf8.count) bytes; \(maximumLength) are allowed")
        }
        for (prefix, name) in namespaces where !XMLName.isValid(prefix) || name.utf8.contains(0) {
            throw XML.Error(.invalidXPath, "“\(prefix)” cannot be the prefix of a namespace in XPath")
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
            throw XML.Error(.invalidXPath, "the XPath expression is empty", byteOffset: reader.place)
        }
        let expression = try anyOf()
        reader.skipSpace()
        guard reader.isAtEnd else { throw invalid }
        return expression
    }

    var invalid: XML.Error { reader.failure("Invalid expression") }
}

// MARK: Operators, from those that bind least

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
        // Two signs still make a number of what is none.
        return signs % 2 == 1 ? .negation(operand) : .call(.number, [operand])
    }

    private mutating func union() throws(XML.Error) -> XPathExpression {
        let start = reader.place
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

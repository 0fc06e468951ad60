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

    /// What begins with anything but a step: a value, perhaps with predicates and steps.
    private mutating func filter() throws(XML.Error) -> XPathExpression? {
        let start = reader.place
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

    /// Whether a step of a path could begin here.
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
        let start = reader.place
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

    func namespace(of prefix: String, at place: Int) throws(XML.Error) -> XPathName {
        guard let namespace = namespaces[prefix] else {
            throw reader.failure("Undefined namespace prefix", at: place)
        }
        return namespace
    }

    private mutating func predicates() throws(XML.Error) -> [XPathPredicate] {
        var predicates: [XPathPredicate] = []
        while reader.skip("[") {
            let outer = asksForPosition
            asksForPosition = false
            let expression = try inBrackets { compiler throws(XML.Error) in try compiler.anyOf() }
            try close("]")
            predicates.append(
                XPathPredicate(
                    expression: expression, isPositional: asksForPosition || expression.type == .number))
            asksForPosition = outer
        }
        return predicates
    }
}

extension XPathStep {
    /// What `//` stands for.
    fileprivate static var anywhere: XPathStep { XPathStep(axis: .descendantOrSelf, test: .node, predicates: []) }
}

extension [XPathStep] {
    /// The same steps with `//name` as one, where no predicate counts nodes.
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

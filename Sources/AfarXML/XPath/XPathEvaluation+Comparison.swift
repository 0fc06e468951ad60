import CLibxml2

extension XPathEvaluation {
    /// Whether two values compare so (XPath 1.0, section 3.4). Nodes do if one of them does: found without comparing each
    /// with each.
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

    /// Whether a node compares so with a number or a text.
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

    /// Whether not all texts are the same, of sets that both have some.
    private func haveDifferentTexts(_ left: [xmlNodePtr], _ right: [xmlNodePtr]) throws(XML.Error) -> Bool {
        let first = try text(of: left[0])
        for node in right where try text(of: node, beyond: first.count) != first { return true }
        for node in left.dropFirst() where try text(of: node, beyond: first.count) != first { return true }
        return false
    }

    /// The least and the greatest number that nodes are; nil where none is one.
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
    /// The comparison of the same values the other way round.
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

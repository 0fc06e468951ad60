extension XML.NodeProtocol {
    /// Evaluates an XPath 1.0 expression from this node.
    ///
    /// ```swift
    /// let titles = try feed.xpath("a:entry/a:title", namespaces: ["a": "http://www.w3.org/2005/Atom"]).nodes
    /// let count = try feed.xpath("count(*)").number
    /// ```
    ///
    /// - Parameters:
    ///   - expression: The expression. A name without a prefix means one that is in no namespace.
    ///   - namespaces: The names of the namespaces by the prefixes that the expression uses. The prefixes that the document
    ///     uses mean nothing. The default is none.
    ///   - maximumSteps: How many steps the evaluation may take. The default is 10 million, some tenths of a second.
    /// - Throws: ``XML/Error`` of the kinds ``XML/Error/Kind/invalidXPath`` with the byte where the expression breaks, and
    ///   ``XML/Error/Kind/xpathTooComplex``.
    public func xpath(
        _ expression: String, namespaces: [String: String] = [:], maximumSteps: Int = 10_000_000
    ) throws(XML.Error) -> XML.XPathResult {
        try XPathEvaluation(of: node, namespaces, maximumSteps).evaluate(expression)
    }
}

extension XML.Document {
    /// Evaluates an XPath 1.0 expression from the document itself, so that `/feed` and `feed` both find the outermost
    /// element. ``XML/NodeProtocol/xpath(_:namespaces:maximumSteps:)`` says the rest.
    public func xpath(
        _ expression: String, namespaces: [String: String] = [:], maximumSteps: Int = 10_000_000
    ) throws(XML.Error) -> XML.XPathResult {
        try node.xpath(expression, namespaces: namespaces, maximumSteps: maximumSteps)
    }
}

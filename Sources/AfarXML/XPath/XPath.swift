import CLibxml2

extension XML.NodeProtocol {
    /// Evaluates an XPath 1.0 expression from this node.
    ///
    /// ```swift
    /// let titles = try feed.xpath("a:entry/a:title", namespaces: ["a": "http://www.w3.org/2005/Atom"]).nodes
    /// let count = try feed.xpath("count(*)").number
    /// ```
    ///
    /// Both the expression and the document can be untrusted: `maximumSteps` limits time and memory. An expression can
    /// have at most 4,096 bytes and 64 levels of nested brackets. The first evaluation in a document takes longer,
    /// because it numbers the document's nodes.
    ///
    /// - Parameters:
    ///   - expression: The expression. A name without a prefix refers to a node without a namespace.
    ///   - namespaces: The namespace URIs by the prefixes that the expression uses. Prefixes declared in the document
    ///     aren't available, except `xml`. The default is empty.
    ///   - maximumSteps: The maximum number of steps. Each node visited, each operator or function, and every eight
    ///     bytes of text read or created count as one step. The default is 10 million. An evaluation with this number
    ///     of steps takes about one second and at most about 300 MB.
    /// - Throws: ``XML/Error`` of the kind ``XML/Error/Kind/invalidXPath``, with the byte offset of the problem, or
    ///   ``XML/Error/Kind/xpathTooComplex``.
    public func xpath(
        _ expression: String, namespaces: [String: String] = [:], maximumSteps: Int = 10_000_000
    ) throws(XML.Error) -> XML.XPathResult {
        Library.prepare()
        let compiled = try XPathCompiler.expression(expression, namespaces)
        let evaluation = XPathEvaluation(of: document, maximumSteps: maximumSteps)
        switch try evaluation.evaluate(compiled, XPathEvaluation.Context(node: pointer)) {
        case .nodes(let nodes): return .nodes(try results(nodes))
        case .text(let text): return .string(String(decoding: text, as: UTF8.self))
        case .number(let number): return .number(number)
        case .boolean(let value): return .boolean(value)
        }
    }

    private func results(_ nodes: [xmlNodePtr]) throws(XML.Error) -> [XML.Node] {
        // Namespace nodes only exist during the evaluation.
        guard !nodes.contains(where: \.isNamespace) else {
            throw XML.Error(
                .invalidXPath,
                "the XPath expression selects namespaces, which can't be returned as nodes. Use string() instead")
        }
        return nodes.map { XML.Node(document: document, pointer: $0) }
    }
}

extension XML.Document {
    /// Evaluates an XPath 1.0 expression from the document itself, so that `/feed` and `feed` both select the outermost
    /// element. For details, see ``XML/NodeProtocol/xpath(_:namespaces:maximumSteps:)``.
    public func xpath(
        _ expression: String, namespaces: [String: String] = [:], maximumSteps: Int = 10_000_000
    ) throws(XML.Error) -> XML.XPathResult {
        try node.xpath(expression, namespaces: namespaces, maximumSteps: maximumSteps)
    }
}

extension XML {
    /// The result of an XPath expression (XPath 1.0, section 1): nodes, text, a number or a Boolean value.
    public enum XPathResult: Hashable, Sendable {
        /// Unique nodes in document order.
        case nodes([Node])
        /// Text.
        case string(String)
        /// A number, which can be infinite or NaN.
        case number(Double)
        /// A Boolean value.
        case boolean(Bool)
    }
}

extension XML.XPathResult {
    /// The nodes, or an empty array if the result has another type.
    public var nodes: [XML.Node] {
        if case .nodes(let nodes) = self { nodes } else { [] }
    }

    /// The nodes that are elements.
    public var elements: [XML.Element] { nodes.compactMap(\.element) }

    /// The first node.
    public var first: XML.Node? { nodes.first }

    /// The result as text, converted like XPath's `string()` (section 4.2). For nodes, it is the text of the first
    /// node.
    public var string: String {
        switch self {
        case .nodes(let nodes): nodes.first?.text ?? ""
        case .string(let text): text
        case .number(let number): Self.text(of: number)
        case .boolean(let value): value ? "true" : "false"
        }
    }

    /// The result as a number, converted like XPath's `number()` (section 4.4). It is NaN for text that isn't a number.
    public var number: Double {
        switch self {
        case .nodes, .string: Self.number(in: string)
        case .number(let number): number
        case .boolean(let value): value ? 1 : 0
        }
    }

    /// The result as a Boolean value, converted like XPath's `boolean()` (section 4.3). It is `true` for at least one
    /// node, nonempty text, or any number except 0 and NaN.
    public var boolean: Bool {
        switch self {
        case .nodes(let nodes): !nodes.isEmpty
        case .string(let text): !text.isEmpty
        case .number(let number): number != 0 && !number.isNaN
        case .boolean(let value): value
        }
    }
}

extension XML.XPathResult {
    static func text(of number: Double) -> String {
        Library.prepare()
        guard let text = xmlXPathCastNumberToString(number) else { return "" }
        defer { afar_xml_free(text) }
        return String(xml: text)
    }

    static func number(in text: String) -> Double {
        Library.prepare()
        return xmlXPathCastStringToNumber(text)
    }
}

import CLibxml2

extension XML.NodeProtocol {
    /// Evaluates an XPath 1.0 expression from this node.
    ///
    /// ```swift
    /// let titles = try feed.xpath("a:entry/a:title", namespaces: ["a": "http://www.w3.org/2005/Atom"]).nodes
    /// let count = try feed.xpath("count(*)").number
    /// ```
    ///
    /// Both the expression and the document may be a stranger's: `maximumSteps` bounds time and memory. An expression has at
    /// most 4,096 bytes, and brackets lie at most 64 deep in each other. The first expression on a document numbers its
    /// nodes besides, once.
    ///
    /// - Parameters:
    ///   - expression: The expression. A name without a prefix means one that is in no namespace.
    ///   - namespaces: The names of the namespaces by the prefixes that the expression uses. The prefixes that the document
    ///     uses mean nothing, but `xml`. The default is none.
    ///   - maximumSteps: How much the evaluation may do. A step is a node that is looked at, an operator or function, or
    ///     eight bytes of text that are read or made. The default is 10 million: about a second, and at most some 300 MB.
    /// - Throws: ``XML/Error`` of the kinds ``XML/Error/Kind/invalidXPath`` with the byte where the expression breaks, and
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
        // These are made for the evaluation, and end with it.
        guard !nodes.contains(where: \.isNamespace) else {
            throw XML.Error(
                .invalidXPath,
                "the XPath expression selects namespaces, which are no nodes here; ask for their string()")
        }
        return nodes.map { XML.Node(document: document, pointer: $0) }
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

// MARK: - Results

extension XML {
    /// What an XPath expression gives (XPath 1.0, section 1): nodes, text, a number or a truth value.
    public enum XPathResult: Hashable, Sendable {
        /// Nodes in the document's order, each once.
        case nodes([Node])
        /// Text.
        case string(String)
        /// A number, which may be infinite or none (NaN).
        case number(Double)
        /// A truth value.
        case boolean(Bool)
    }
}

extension XML.XPathResult {
    /// The nodes; empty when the expression gives something else.
    public var nodes: [XML.Node] {
        if case .nodes(let nodes) = self { nodes } else { [] }
    }

    /// The elements among the nodes.
    public var elements: [XML.Element] { nodes.compactMap(\.element) }

    /// The first node.
    public var first: XML.Node? { nodes.first }

    /// The result as text, converted as XPath's `string()` does (section 4.2): of nodes the text of the first one.
    public var string: String {
        switch self {
        case .nodes(let nodes): nodes.first?.text ?? ""
        case .string(let text): text
        case .number(let number): Self.text(of: number)
        case .boolean(let value): value ? "true" : "false"
        }
    }

    /// The result as a number, converted as XPath's `number()` does (section 4.4): NaN for text that is none.
    public var number: Double {
        switch self {
        case .nodes, .string: Self.number(in: string)
        case .number(let number): number
        case .boolean(let value): value ? 1 : 0
        }
    }

    /// The result as a truth value, converted as XPath's `boolean()` does (section 4.3): whether there is a node, text, or
    /// a number other than 0.
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

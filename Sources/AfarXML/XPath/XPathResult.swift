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

import CLibxml2

/// One evaluation. libxml2's contexts and compiled expressions are changed while they are used, so each is made anew.
final class XPathEvaluation {
    private let document: XML.Document
    private let context: xmlXPathContextPtr
    private var failure: XML.Error?

    init(of node: XML.Node, _ namespaces: [String: String], _ maximumSteps: Int) throws(XML.Error) {
        node.document.orderElements()
        guard let context = xmlXPathNewContext(node.document.pointer) else { throw .outOfMemory }
        self.context = context
        document = node.document
        context.pointee.node = node.pointer
        context.pointee.opLimit = UInt(clamping: max(1, maximumSteps))
        context.pointee.userData = Unmanaged.passUnretained(self).toOpaque()
        context.pointee.error = { owner, problem in
            guard let owner, let problem else { return }
            Unmanaged<XPathEvaluation>.fromOpaque(owner).takeUnretainedValue().note(problem.pointee)
        }
        for (prefix, name) in namespaces {
            guard xmlXPathRegisterNs(context, prefix, name) == 0 else {
                throw XML.Error(.invalidXPath, "“\(prefix)” cannot be the prefix of a namespace in XPath")
            }
        }
    }

    deinit { xmlXPathFreeContext(context) }

    func evaluate(_ expression: String) throws(XML.Error) -> XML.XPathResult {
        guard expression.utf8.contains(where: { !$0.isXMLSpace }) else {
            throw XML.Error(.invalidXPath, "the XPath expression is empty", byteOffset: 0)
        }
        guard !expression.utf8.contains(0) else {
            throw XML.Error(.invalidXPath, "the XPath expression has a NUL in it")
        }
        // libxml2 goes deeper with each operator.
        guard expression.utf8.count <= Self.maximumLength else {
            throw XML.Error(
                .xpathTooComplex,
                "the XPath expression has \(expression.utf8.count) bytes; \(Self.maximumLength) are allowed")
        }
        let result = afar_xml_xpath(context, expression)
        defer { xmlXPathFreeObject(result) }
        if let failure { throw failure }
        guard let result else { throw XML.Error(.invalidXPath, "the XPath expression “\(expression)” gives nothing") }
        return try value(of: result.pointee)
    }

    private static let maximumLength = 4096

    private func value(of result: xmlXPathObject) throws(XML.Error) -> XML.XPathResult {
        switch result.type {
        case XPATH_NODESET: .nodes(try nodes(of: result.nodesetval))
        case XPATH_STRING: .string(String(xml: result.stringval))
        case XPATH_NUMBER: .number(result.floatval)
        case XPATH_BOOLEAN: .boolean(result.boolval != 0)
        default: throw XML.Error(.invalidXPath, "the XPath expression gives something that XPath 1.0 does not know")
        }
    }

    private func nodes(of set: xmlNodeSetPtr?) throws(XML.Error) -> [XML.Node] {
        guard let set = set?.pointee, set.nodeNr > 0 else { return [] }
        var nodes: [XML.Node] = []
        nodes.reserveCapacity(Int(set.nodeNr))
        for case let pointer? in UnsafeBufferPointer(start: set.nodeTab, count: Int(set.nodeNr)) {
            // These are made for the evaluation, and end with it.
            guard pointer.pointee.type != XML_NAMESPACE_DECL else {
                throw XML.Error(
                    .invalidXPath,
                    "the XPath expression selects namespaces, which are no nodes here; ask for their string()")
            }
            nodes.append(XML.Node(document: document, pointer: pointer))
        }
        return nodes
    }

    private func note(_ problem: xmlError) {
        guard failure == nil else { return }
        let expression = String(xml: UnsafeRawPointer(problem.str1)?.assumingMemoryBound(to: xmlChar.self))
        switch xmlParserErrors(UInt32(bitPattern: problem.code)) {
        case XML_ERR_NO_MEMORY: failure = .outOfMemory
        case Self.tooManySteps:
            failure = XML.Error(.xpathTooComplex, "the XPath expression takes more steps than are allowed")
        default:
            let place = Int(problem.int1)
            failure = XML.Error(
                .invalidXPath, "\(Self.words(for: problem.code)) in the XPath expression “\(expression)”",
                byteOffset: expression.isEmpty ? nil : place)
        }
    }

    /// libxml2 has words for these errors, but tells them to its own printer only.
    private static func words(for code: Int32) -> String {
        switch xmlXPathError(UInt32(bitPattern: code) &- XML_XPATH_EXPRESSION_OK.rawValue) {
        case XPATH_NUMBER_ERROR: "Malformed number"
        case XPATH_UNFINISHED_LITERAL_ERROR, XPATH_START_LITERAL_ERROR: "Unfinished text"
        case XPATH_VARIABLE_REF_ERROR, XPATH_UNDEF_VARIABLE_ERROR: "Undefined variable"
        case XPATH_INVALID_PREDICATE_ERROR: "Invalid predicate"
        case XPATH_UNCLOSED_ERROR: "Unclosed bracket"
        case XPATH_UNKNOWN_FUNC_ERROR: "Unknown function"
        case XPATH_INVALID_OPERAND: "Invalid operand"
        case XPATH_INVALID_TYPE: "Invalid type of an argument"
        case XPATH_INVALID_ARITY: "Wrong number of arguments"
        case XPATH_UNDEF_PREFIX_ERROR: "Undefined namespace prefix"
        case XPATH_ENCODING_ERROR, XPATH_INVALID_CHAR_ERROR: "Invalid character"
        case XPATH_STACK_ERROR, XPATH_RECURSION_LIMIT_EXCEEDED: "Too deep nesting"
        default: "Invalid expression"
        }
    }

    /// XPATH_OP_LIMIT_EXCEEDED, among the parser's errors, where XPath's begin at XML_XPATH_EXPRESSION_OK.
    private static let tooManySteps = xmlParserErrors(
        XML_XPATH_EXPRESSION_OK.rawValue + XPATH_OP_LIMIT_EXCEEDED.rawValue)
}

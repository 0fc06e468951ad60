import CLibxml2
import Foundation

/// A libxml2 parser context, its limits, and the errors that the parser reported. It isn't thread-safe.
final class ParseRun {
    let context: xmlParserCtxtPtr
    let rules: UnsafeMutablePointer<afar_xml_rules>
    /// A closure that takes ownership of each tree that is created from a stream.
    var onTree: ((Tree) -> Void)?
    /// A closure that receives each event of a stream.
    var onEvent: ((XML.Event) -> Void)?
    private let options: XML.ParsingOptions
    private var warnings: [XML.Error] = []
    private var failure: XML.Error?

    /// - Parameters:
    ///   - context: A new context, which the run owns.
    ///   - readsXML: Whether the context parses XML. HTML has no namespaces or custom entities.
    init(
        _ context: @autoclosure () -> xmlParserCtxtPtr?, _ options: XML.ParsingOptions, readsXML: Bool
    ) throws(XML.Error) {
        Library.prepare()
        guard let context = context() else { throw .outOfMemory }
        self.context = context
        self.options = options
        rules = .allocate(capacity: 1)
        rules.initialize(
            to: afar_xml_rules(
                maximum_depth: Int32(clamping: options.maximumDepth),
                maximum_namespaces: Int32(clamping: options.maximumNamespaces),
                maximum_attributes: Int32(clamping: options.maximumAttributes),
                maximum_elements: options.maximumElements,
                maximum_nodes: options.maximumNodes,
                maximum_names: options.maximumNames,
                refuses_doctype: options.documentType == .refused,
                refusal: AFAR_XML_NOTHING_REFUSED,
                refused_at: 0,
                elements: 0,
                nodes: 0,
                began_at: 0,
                own_names: 0,
                names: 0,
                wanted: nil,
                open: 0,
                found: { owner, tree in
                    guard let tree else { return }
                    let run = owner.map { Unmanaged<ParseRun>.fromOpaque($0).takeUnretainedValue() }
                    if let onTree = run?.onTree { onTree(Tree(pointer: tree, warnings: [])) } else { xmlFreeDoc(tree) }
                },
                owner: nil))
        rules.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
        context.pointee._private = UnsafeMutableRawPointer(rules)
        if readsXML { afar_xml_install_hooks(context) } else { afar_html_install_hooks(context) }
        context.pointee.sax.pointee.serror = { context, problem in
            guard let problem else { return }
            ParseRun.of(context)?.note(problem.pointee)
        }
    }

    deinit {
        context.pointee.myDoc.map(xmlFreeDoc)
        xmlFreeParserCtxt(context)
        rules.deallocate()
    }

    /// The libxml2 options for XML. External resources aren't loaded, and lines beyond 65,535 are counted. The declared
    /// encoding is ignored, because the bytes have already been converted to UTF-8. Short text is stored inside its node,
    /// which libxml2 allows only for trees that aren't modified.
    static let flags = Int32(
        XML_PARSE_NONET.rawValue | XML_PARSE_BIG_LINES.rawValue | XML_PARSE_IGNORE_ENC.rawValue
            | XML_PARSE_COMPACT.rawValue)

    /// Returns the run that owns a parser context.
    static func of(_ context: UnsafeMutableRawPointer?) -> ParseRun? {
        context.flatMap { afar_xml_rules_of($0).pointee.owner }
            .map { Unmanaged<ParseRun>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns a tree that this run has created. If there was an error, frees the tree and throws the first error.
    ///
    /// - Parameter hasMore: Whether some bytes haven't been passed to libxml2.
    func finish(_ tree: xmlDocPtr?, hasMore: Bool) throws(XML.Error) -> Tree {
        do throws(XML.Error) {
            try check()
            try checkEnd(hasMore: hasMore)
            guard let tree else { throw here(.malformed, "the document is not well-formed") }
            return Tree(pointer: tree, warnings: warnings)
        } catch {
            tree.map(xmlFreeDoc)
            throw error
        }
    }

    /// Returns the tree of an HTML page. Malformed HTML isn't an error, but a page without elements or beyond a limit
    /// is rejected.
    func finishHTML(_ tree: xmlDocPtr?) throws(XML.Error) -> Tree {
        do throws(XML.Error) {
            try check()
            guard let tree else { throw here(.emptyDocument, "the page has no element") }
            return Tree(pointer: tree, warnings: warnings)
        } catch {
            tree.map(xmlFreeDoc)
            throw error
        }
    }

    /// Throws the first error so far.
    func check() throws(XML.Error) {
        switch rules.pointee.refusal {
        case AFAR_XML_NOTHING_REFUSED: if let failure { throw failure }
        case AFAR_XML_DOCTYPE_REFUSED:
            throw here(.documentTypeRefused, "the document has a document type declaration, which the options reject")
        case AFAR_XML_ENTITY_REFUSED:
            throw here(
                .entityRefused,
                "the document refers to an entity that XML doesn't define. Such entities aren't expanded")
        case AFAR_XML_TOO_DEEP:
            throw here(.limitExceeded, "elements are nested more than \(options.maximumDepth) levels deep")
        case AFAR_XML_TOO_MANY_ATTRIBUTES:
            throw here(.limitExceeded, "an element has more than \(options.maximumAttributes) attributes")
        case AFAR_XML_TOO_MANY_ELEMENTS:
            throw here(.limitExceeded, "there are more than \(options.maximumElements) elements")
        case AFAR_XML_TOO_MANY_NODES:
            throw here(
                .limitExceeded,
                "there are more than \(options.maximumNodes) nodes: elements, attributes, comments, instructions")
        case AFAR_XML_TOO_MANY_NAMES:
            throw here(
                .limitExceeded,
                "there are more than \(options.maximumNames) different names, or they are too long")
        case AFAR_XML_DEFAULTS_REFUSED:
            throw here(
                .documentTypeRefused, "the document type declares default attribute values, which aren't supported")
        case AFAR_XML_NOTATION_INCOMPLETE:
            throw here(.malformed, "a notation has neither a public nor a system identifier")
        default:
            throw here(
                .limitExceeded,
                "more than \(options.maximumNamespaces) namespace declarations apply to one element, or they are too long"
            )
        }
    }

    /// Throws an error if libxml2 hasn't parsed all bytes. libxml2 ends a document at a NUL, regardless of the bytes that
    /// follow.
    func checkEnd(hasMore: Bool = false) throws(XML.Error) {
        guard let input = context.pointee.input?.pointee, hasMore || input.cur < input.end else { return }
        throw here(.malformed, "there is content after the end of the document")
    }

    /// Returns an error at the current position of the parser.
    func here(_ kind: XML.Error.Kind, _ message: String) -> XML.Error {
        let input = context.pointee.input
        return XML.Error(
            kind, message, line: (input?.pointee.line).map(Int.init), column: (input?.pointee.col).map(Int.init),
            byteOffset: byteOffset, path: openElements)
    }

    private func note(_ problem: xmlError) {
        let isFailure = problem.isFailure(inHTML: context.pointee.html != 0)
        guard failure == nil, isFailure || warnings.count < Self.maximumWarnings else { return }
        let error = XML.Error(
            XML.Error.Kind(problem), problem.text, line: Int(problem.line),
            column: problem.int2 > 0 ? Int(problem.int2) : nil, byteOffset: byteOffset, path: openElements)
        if isFailure {
            failure = error
            // Stop libxml2 from reporting events or creating nodes for the rest of the chunk. The results before the
            // error then don't depend on how the document is divided into chunks.
            context.pointee.disableSAX = 1
        } else {
            warnings.append(error)
        }
    }

    private static let maximumWarnings = 100

    private var byteOffset: Int {
        rules.pointee.refusal == AFAR_XML_NOTHING_REFUSED ? afar_xml_offset(context) : rules.pointee.refused_at
    }

    private var openElements: String {
        let names = UnsafeBufferPointer(start: context.pointee.nameTab, count: Int(context.pointee.nameNr))
        let shown = names.count <= 20 ? Array(names) : names.prefix(4) + [nil] + names.suffix(12)
        return shown.map { "/" + ($0.map { String(xml: $0, atMost: 100) } ?? "…") }.joined()
    }
}

extension xmlError {
    /// The libxml2 message without its line terminator.
    var text: String {
        message.map { String(cString: $0).trimmingCharacters(in: .whitespacesAndNewlines) } ?? "unknown error \(code)"
    }
}

extension xmlError {
    /// Returns whether the error ends the document. Three kinds of errors don't: errors in HTML, which libxml2 repairs;
    /// validity errors; and system identifiers that aren't URIs, because system identifiers are never loaded.
    fileprivate func isFailure(inHTML isHTML: Bool) -> Bool {
        if isHTML { return code == Int32(XML_ERR_NO_MEMORY.rawValue) }
        let isAboutValidity =
            domain == Int32(XML_FROM_VALID.rawValue) || code == Int32(XML_DTD_XMLID_VALUE.rawValue)
            || code == Int32(XML_ERR_INVALID_URI.rawValue)
        return level != XML_ERR_WARNING && !isAboutValidity
    }
}

extension XML.Error.Kind {
    /// Creates the kind of a parser error.
    init(_ problem: xmlError) {
        switch xmlParserErrors(UInt32(bitPattern: problem.code)) {
        // libxml2 also uses this code for text that exceeds its limit.
        case XML_ERR_NO_MEMORY: self = problem.text.contains("huge text") ? .limitExceeded : .outOfMemory
        case XML_ERR_DOCUMENT_EMPTY: self = .emptyDocument
        case XML_ERR_INVALID_ENCODING: self = .invalidBytes
        case XML_ERR_UNDECLARED_ENTITY, XML_WAR_UNDECLARED_ENTITY, XML_ERR_ENTITY_LOOP: self = .entityRefused
        // libxml2 reports other limits only in its messages.
        case _ where ["too long", "too big", "Huge input"].contains(where: problem.text.contains): self = .limitExceeded
        case XML_ERR_INVALID_CHAR where problem.text.hasPrefix("Input is not proper UTF-8"): self = .invalidBytes
        default: self = .malformed
        }
    }
}

/// The global state of libxml2.
enum Library {
    /// Initializes libxml2. Call this method before all other calls of libxml2, because multiple threads use libxml2.
    /// libxml2 is never cleaned up because other code in the process might use it.
    static func prepare() { _ = isReady }

    private static let isReady: Bool = {
        xmlInitParser()
        return true
    }()
}

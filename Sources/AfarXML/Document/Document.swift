import AfarCore
import CLibxml2
public import Foundation

extension XML {
    /// An immutable document that can be used from any number of tasks at the same time.
    ///
    /// The document's nodes retain the document, so a node is always valid.
    public final class Document: @unchecked Sendable {  // The shared part of the tree is never modified.
        /// The libxml2 tree.
        let pointer: xmlDocPtr
        /// Problems that the parser tolerated, at most 100. For HTML, these are the problems that the parser repaired.
        public let warnings: [XML.Error]
        private let rootPointer: xmlNodePtr
        private let lock = NSLock()
        private var isOrdered = false

        /// Parses a document.
        ///
        /// - Parameters:
        ///   - data: The bytes of the document.
        ///   - contentType: The `Content-Type` of the bytes. Its charset overrides the document's own declaration. The
        ///     default is `nil`.
        ///   - options: The options and limits for parsing.
        /// - Throws: ``XML/Error`` with the line, column, byte offset and path if the document isn't well-formed or
        ///   exceeds a limit.
        public convenience init(
            _ data: Data, contentType: String? = nil, options: ParsingOptions = ParsingOptions()
        ) throws(XML.Error) {
            try self.init(owning: TreeParser(options).parse(data, contentType))
        }

        /// Parses a document from a string. If the string declares an encoding, the declaration is ignored.
        ///
        /// - Parameters:
        ///   - text: The document.
        ///   - options: The options and limits for parsing.
        /// - Throws: ``XML/Error`` with the line, column, byte offset and path if the document isn't well-formed or
        ///   exceeds a limit.
        public convenience init(_ text: String, options: ParsingOptions = ParsingOptions()) throws(XML.Error) {
            try self.init(owning: TreeParser(options).parse(text))
        }

        /// Parses an HTML page.
        ///
        /// libxml2 follows the rules of HTML 4. Current browsers have different rules. Problems are repaired and
        /// reported as ``warnings``. Elements have no namespace.
        ///
        /// - Parameters:
        ///   - data: The bytes of the page. Invalid bytes become U+FFFD.
        ///   - contentType: The `Content-Type` of the bytes. Its charset overrides the page's own `meta` element. The
        ///     default is `nil`.
        ///   - options: The options and limits for parsing.
        /// - Throws: ``XML/Error`` if the page has no element or exceeds a limit.
        public convenience init(
            html data: Data, contentType: String? = nil, options: ParsingOptions = ParsingOptions()
        ) throws(XML.Error) {
            try self.init(owning: TreeParser(options).parseHTML(data, contentType))
        }

        /// Parses an HTML page from a string. For details, see ``init(html:contentType:options:)``.
        public convenience init(html text: String, options: ParsingOptions = ParsingOptions()) throws(XML.Error) {
            try self.init(owning: TreeParser(options).parseHTML(text))
        }

        /// Takes ownership of a tree.
        init(owning tree: Tree) throws(XML.Error) {
            guard let root = xmlDocGetRootElement(tree.pointer) else {
                xmlFreeDoc(tree.pointer)
                throw XML.Error(.emptyDocument, "the document has no element")
            }
            // If a document has no encoding, libxml2 writes attributes in ASCII, with references for all other
            // characters.
            if tree.pointer.pointee.encoding == nil { tree.pointer.pointee.encoding = .init(xmlStrdup("UTF-8")) }
            pointer = tree.pointer
            warnings = tree.warnings
            rootPointer = root
        }

        deinit { xmlFreeDoc(pointer) }

        /// The outermost element.
        public var root: Element { Element(Node(document: self, pointer: rootPointer)) }

        /// The document as a node. It is the parent of the outermost element and of its siblings.
        public var node: Node { Node(document: self, pointer: afar_xml_node(pointer)) }

        /// Numbers the nodes in document order before the first XPath evaluation. Only XPath uses the numbers.
        func orderNodes() {
            lock.withLock {
                if !isOrdered { afar_xml_number_nodes(pointer) }
                isOrdered = true
            }
        }
    }
}

extension XML.NodeProtocol {
    /// Returns the node as XML text, with its content and the required namespace declarations.
    ///
    /// - Parameter prettyPrinted: A Boolean value that indicates whether each child starts on its own line, in elements that
    ///   contain no text. The lines are indented by two spaces per level. White space between these children is then removed
    ///   unless `xml:space` is `preserve`. The default is `false`, which preserves all white space.
    public func xmlString(prettyPrinted: Bool = false) -> String {
        switch node.kind {
        case .document: document.xmlString(prettyPrinted: prettyPrinted)
        // libxml2 writes a space before an attribute.
        case .attribute: String(text(of: pointer, in: document.pointer, indented: false).dropFirst())
        default: copied(prettyPrinted: prettyPrinted)
        }
    }

    /// Returns the text of a copy of the node. The copy declares all required namespaces, and libxml2 changes only the
    /// copy.
    private func copied(prettyPrinted: Bool) -> String {
        guard let document = xmlNewDoc("1.0") else { return "" }
        defer { xmlFreeDoc(document) }
        document.pointee.encoding = .init(xmlStrdup("UTF-8"))
        guard let copy = xmlDocCopyNode(pointer, document, 1) else { return "" }
        xmlAddChild(afar_xml_node(document), copy)
        if prettyPrinted { afar_xml_drop_blanks(copy) }
        return text(of: copy, in: document, indented: prettyPrinted)
    }

    private func text(of node: xmlNodePtr, in document: xmlDocPtr, indented: Bool) -> String {
        guard let buffer = xmlBufferCreate() else { return "" }
        defer { xmlBufferFree(buffer) }
        guard xmlNodeDump(buffer, document, node, 0, indented ? 1 : 0) >= 0 else { return "" }
        let bytes = UnsafeBufferPointer(start: xmlBufferContent(buffer), count: Int(xmlBufferLength(buffer)))
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension XML.Document: CustomStringConvertible {
    /// The document as XML text.
    public var description: String { xmlString() }

    /// Returns the document as XML text in UTF-8, with its declaration and the siblings of the outermost element.
    ///
    /// - Parameter prettyPrinted: A Boolean value that indicates whether each child starts on its own line, in elements that
    ///   contain no text. For details, see ``XML/NodeProtocol/xmlString(prettyPrinted:)``. The default is `false`.
    public func xmlString(prettyPrinted: Bool = false) -> String {
        var lines = [#"<?xml version="1.0" encoding="UTF-8"?>"#]
        var next = pointer.pointee.children
        while let pointer = next {
            let node = XML.Node(document: self, pointer: pointer)
            if node.kind != .other { lines.append(node.xmlString(prettyPrinted: prettyPrinted)) }
            next = pointer.pointee.next
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// A tree that has no owner yet.
struct Tree {
    let pointer: xmlDocPtr
    let warnings: [XML.Error]
}

import AfarCore
import CLibxml2
public import Foundation

extension XML {
    /// A document: immutable, and safe to use from many tasks at once.
    ///
    /// Its nodes keep it alive, so that a node is never left dangling.
    public final class Document: @unchecked Sendable {  // What others read of the tree is never written again.
        /// libxml2's tree.
        let pointer: xmlDocPtr
        /// What the parser found odd but went past, at most 100 things. For HTML: what was repaired.
        public let warnings: [XML.Error]
        private let rootPointer: xmlNodePtr
        private let lock = NSLock()
        private var isOrdered = false

        /// Parses a document.
        ///
        /// - Parameters:
        ///   - data: The bytes.
        ///   - contentType: The Content-Type that they came with, whose charset outranks the document's own declaration.
        ///     The default is none.
        ///   - options: How the document is read, and what it may be and hold.
        /// - Throws: ``XML/Error`` with line, column, byte and path, for a document that is not well-formed or goes past a
        ///   limit.
        public convenience init(
            _ data: Data, contentType: String? = nil, options: ParsingOptions = ParsingOptions()
        ) throws(XML.Error) {
            try self.init(owning: TreeParser(options).parse(data, contentType))
        }

        /// Parses a document that is text already; an encoding that it declares means nothing.
        ///
        /// - Parameters:
        ///   - text: The document.
        ///   - options: What the document may be and hold.
        /// - Throws: ``XML/Error`` with line, column, byte and path, for a document that is not well-formed or goes past a
        ///   limit.
        public convenience init(_ text: String, options: ParsingOptions = ParsingOptions()) throws(XML.Error) {
            try self.init(owning: TreeParser(options).parse(text))
        }

        /// Parses an HTML page, as libxml2 does it: by the rules of HTML 4's time, which browsers have left behind. Whatever
        /// is wrong with the page is repaired, and reported by ``warnings``. Elements are in no namespace.
        ///
        /// - Parameters:
        ///   - data: The bytes. Those that mean nothing in their encoding become U+FFFD.
        ///   - contentType: The Content-Type that they came with, whose charset outranks the page's own `meta` element.
        ///     The default is none.
        ///   - options: How the page is read, and what it may hold.
        /// - Throws: ``XML/Error`` for a page that has no element or goes past a limit.
        public convenience init(
            html data: Data, contentType: String? = nil, options: ParsingOptions = ParsingOptions()
        ) throws(XML.Error) {
            try self.init(owning: TreeParser(options).parseHTML(data, contentType))
        }

        /// Parses an HTML page that is text already. ``init(html:contentType:options:)`` says the rest.
        public convenience init(html text: String, options: ParsingOptions = ParsingOptions()) throws(XML.Error) {
            try self.init(owning: TreeParser(options).parseHTML(text))
        }

        /// Takes a tree over.
        init(owning tree: Tree) throws(XML.Error) {
            guard let root = xmlDocGetRootElement(tree.pointer) else {
                xmlFreeDoc(tree.pointer)
                throw XML.Error(.emptyDocument, "the document has no element")
            }
            // So that attributes are written in UTF-8, not in ASCII with references.
            if tree.pointer.pointee.encoding == nil { tree.pointer.pointee.encoding = .init(xmlStrdup("UTF-8")) }
            pointer = tree.pointer
            warnings = tree.warnings
            rootPointer = root
        }

        deinit { xmlFreeDoc(pointer) }

        /// The outermost element.
        public var root: Element { Element(Node(document: self, pointer: rootPointer)) }

        /// The document as a node: the parent of the outermost element and of what stands beside it.
        public var node: Node { Node(document: self, pointer: afar_xml_node(pointer)) }

        /// Numbers the nodes once, before the first XPath expression, so that it is known which of two comes first. Only
        /// XPath looks at the numbers.
        func orderNodes() {
            lock.withLock {
                if !isOrdered { afar_xml_number_nodes(pointer) }
                isOrdered = true
            }
        }
    }
}

// MARK: - Serialization

extension XML.NodeProtocol {
    /// This as XML text, with everything in it and the namespaces that it needs.
    ///
    /// - Parameter prettyPrinted: Whether elements that hold elements only are put on lines of their own, indented by two
    ///   spaces for each level; white space between them is dropped then, unless `xml:space` is `preserve`. The default
    ///   is to leave everything as it is.
    public func xmlString(prettyPrinted: Bool = false) -> String {
        switch node.kind {
        case .document: document.xmlString(prettyPrinted: prettyPrinted)
        // libxml2 writes an attribute with the space before it.
        case .attribute: String(text(of: pointer, in: document.pointer, indented: false).dropFirst())
        default: copied(prettyPrinted: prettyPrinted)
        }
    }

    /// Writes a copy: that has all namespaces that it needs, and whatever libxml2 does to it does it to nobody else.
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

    /// The document as XML text in UTF-8, with its declaration and what stands beside the outermost element.
    ///
    /// - Parameter prettyPrinted: Whether elements that hold elements only are put on lines of their own.
    ///   ``XML/NodeProtocol/xmlString(prettyPrinted:)`` says the rest. The default is to leave everything as it is.
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

// MARK: - Trees

/// A tree that nobody owns yet.
struct Tree {
    let pointer: xmlDocPtr
    let warnings: [XML.Error]
}

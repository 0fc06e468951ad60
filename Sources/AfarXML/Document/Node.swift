import CLibxml2

extension XML {
    /// Any node of a document, such as an element, an attribute, text or a comment.
    public struct Node: Sendable {
        /// The document, which the node retains.
        public let document: Document
        nonisolated(unsafe) let pointer: xmlNodePtr

        init(document: Document, pointer: xmlNodePtr) {
            self.document = document
            self.pointer = pointer
        }

        /// The kind of node.
        public var kind: Kind { Kind(pointer.pointee.type) }

        /// The node as an element, if it is one.
        public var element: Element? { kind == .element ? Element(self) : nil }

        /// The node as an attribute, if it is one.
        public var attribute: Attribute? { kind == .attribute ? Attribute(self) : nil }
    }
}

extension XML.Node: XML.NodeProtocol {
    /// The node itself.
    public var node: XML.Node { self }
}

extension XML.Node: Hashable {
    /// Returns a Boolean value that indicates whether both values refer to the same node of the same document.
    public static func == (one: Self, other: Self) -> Bool { one.pointer == other.pointer }

    /// Hashes the node's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(pointer) }
}

extension XML.Node {
    /// A kind of node.
    public enum Kind: Hashable, Sendable {
        case document, element, attribute, text, cdata, comment, processingInstruction
        /// A document type declaration or another node that isn't content.
        case other

        init(_ type: xmlElementType) {
            self =
                switch type {
                case XML_DOCUMENT_NODE, XML_HTML_DOCUMENT_NODE: .document
                case XML_ELEMENT_NODE: .element
                case XML_ATTRIBUTE_NODE: .attribute
                case XML_TEXT_NODE: .text
                case XML_CDATA_SECTION_NODE: .cdata
                case XML_COMMENT_NODE: .comment
                case XML_PI_NODE: .processingInstruction
                default: .other
                }
        }
    }
}

// MARK: - Common properties

extension XML {
    /// The common interface of nodes, elements and attributes.
    public protocol NodeProtocol: Hashable, Sendable, CustomStringConvertible {
        /// The value as a node.
        var node: Node { get }
    }
}

extension XML.NodeProtocol {
    /// The node as XML text, including its content.
    public var description: String { xmlString() }

    /// The document, which the node retains.
    public var document: XML.Document { node.document }

    var pointer: xmlNodePtr { node.pointer }

    /// The name with its prefix as written. It is empty for text and comments.
    public var name: String {
        guard let prefix else { return localName }
        return "\(prefix):\(localName)"
    }

    /// The name without its prefix. It is empty for text and comments.
    public var localName: String {
        switch node.kind {
        case .element, .attribute, .processingInstruction: String(xml: pointer.pointee.name)
        default: ""
        }
    }

    /// The prefix as written. Use ``namespaceURI`` to identify a namespace.
    public var prefix: String? { namespace?.pointee.prefix.map { String(xml: $0) } }

    /// The namespace URI, if any.
    public var namespaceURI: String? { namespace?.pointee.href.map { String(xml: $0) } }

    /// The text of the node and its descendants. For an attribute, its value.
    public var text: String {
        // Avoids an intermediate copy for most elements.
        if node.kind == .element {
            guard let child = pointer.pointee.children else { return "" }
            if child.pointee.next == nil, child.pointee.type == XML_TEXT_NODE {
                return String(xml: child.pointee.content)
            }
        }
        guard let content = xmlNodeGetContent(pointer) else { return "" }
        defer { afar_xml_free(content) }
        return String(xml: content)
    }

    /// The line on which the node begins. The first line is 1. If the line is unknown, the value is 0.
    public var line: Int { max(0, xmlGetLineNo(pointer)) }

    /// The parent element, or `nil` for the outermost element.
    public var parent: XML.Element? {
        pointer.pointee.parent.flatMap { XML.Node(document: document, pointer: $0).element }
    }

    /// The path to the node for display, with local names: `/feed/entry[2]/title`. An element has an index if siblings
    /// have the same name. Long paths are abbreviated.
    public var path: String { pointer.path }

    private var namespace: xmlNsPtr? {
        switch node.kind {
        case .element, .attribute: pointer.pointee.ns
        default: nil
        }
    }
}

// MARK: - Paths

extension UnsafeMutablePointer<xmlNode> {
    /// The path to the node. It consists of local names, with an index if siblings have the same name.
    var path: String {
        var steps: [String] = []
        var next: xmlNodePtr? = self
        while let step = next {
            let name = step.pointee.name.map { String(xml: $0, atMost: 100) } ?? ""
            switch step.pointee.type {
            case XML_ELEMENT_NODE: steps.append(name + step.number)
            case XML_ATTRIBUTE_NODE: steps.append("@" + name)
            case XML_TEXT_NODE, XML_CDATA_SECTION_NODE: steps.append("text()")
            case XML_COMMENT_NODE: steps.append("comment()")
            case XML_PI_NODE: steps.append("processing-instruction()")
            default: break
            }
            next = step.pointee.parent
        }
        let names = steps.reversed().map { "/" + $0 }
        return names.count <= 20 ? names.joined() : (names.prefix(4) + ["/…"] + names.suffix(12)).joined()
    }

    /// The index of an element among siblings with the same name, in brackets. Empty if no other sibling has the
    /// name.
    private var number: String {
        guard let before = countSiblingsWithSameName(xmlPreviousElementSibling) else { return "[…]" }
        if before > 0 { return "[\(before + 1)]" }
        return countSiblingsWithSameName(xmlNextElementSibling) == 0 ? "" : "[1]"
    }

    /// Returns the number of siblings in one direction with the same name, or `nil` if there are 1,000 siblings or more
    /// in that direction. Without this limit, counting for each element of a long list would take quadratic time.
    private func countSiblingsWithSameName(_ next: (xmlNodePtr?) -> xmlNodePtr?) -> Int? {
        var count = 0
        var sibling = next(self)
        for _ in 0..<1000 {
            guard let other = sibling else { return count }
            if xmlStrEqual(other.pointee.name, pointee.name) != 0 { count += 1 }
            sibling = next(other)
        }
        return nil
    }
}

// MARK: - libxml2 strings

extension String {
    /// Creates a string from libxml2's UTF-8 text. A null pointer results in an empty string.
    init(xml text: UnsafePointer<xmlChar>?) {
        self = text.map { String(cString: $0) } ?? ""
    }

    /// Creates a string from at most the given number of bytes of libxml2's text.
    init(xml text: UnsafePointer<xmlChar>, atMost count: Int) {
        let length = (0..<count).first { text[$0] == 0 } ?? count
        self = String(decoding: UnsafeBufferPointer(start: text, count: length), as: UTF8.self)
    }
}

import CLibxml2

extension XML {
    /// Anything in a document: an element, an attribute, text, a comment.
    public struct Node: Sendable {
        /// The document that it is in, which it keeps alive.
        public let document: Document
        nonisolated(unsafe) let pointer: xmlNodePtr

        init(document: Document, pointer: xmlNodePtr) {
            self.document = document
            self.pointer = pointer
        }

        /// What this is.
        public var kind: Kind { Kind(pointer.pointee.type) }

        /// This as an element, if it is one.
        public var element: Element? { kind == .element ? Element(self) : nil }

        /// This as an attribute, if it is one.
        public var attribute: Attribute? { kind == .attribute ? Attribute(self) : nil }
    }
}

extension XML.Node: XML.NodeProtocol {
    /// Itself.
    public var node: XML.Node { self }
}

extension XML.Node: Hashable {
    /// Whether both are the same place of the same document.
    public static func == (one: Self, other: Self) -> Bool { one.pointer == other.pointer }

    /// Feeds the place into the hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(pointer) }
}

extension XML.Node {
    /// What a node can be.
    public enum Kind: Hashable, Sendable {
        case document, element, attribute, text, cdata, comment, processingInstruction
        /// A document type declaration, or something else that is no part of the content.
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

// MARK: - What nodes share

extension XML {
    /// What nodes, elements and attributes have in common.
    public protocol NodeProtocol: Hashable, Sendable, CustomStringConvertible {
        /// This as a plain node.
        var node: Node { get }
    }
}

extension XML.NodeProtocol {
    /// This as XML text, with everything in it.
    public var description: String { xmlString() }

    /// The document that it is in, which it keeps alive.
    public var document: XML.Document { node.document }

    var pointer: xmlNodePtr { node.pointer }

    /// The name with its prefix, as written; empty for text and comments.
    public var name: String {
        guard let prefix else { return localName }
        return "\(prefix):\(localName)"
    }

    /// The name without its prefix; empty for text and comments.
    public var localName: String {
        switch node.kind {
        case .element, .attribute, .processingInstruction: String(xml: pointer.pointee.name)
        default: ""
        }
    }

    /// The prefix as written. What counts is ``namespaceURI``.
    public var prefix: String? { namespace?.pointee.prefix.map { String(xml: $0) } }

    /// The name of the namespace, if it is in one.
    public var namespaceURI: String? { namespace?.pointee.href.map { String(xml: $0) } }

    /// The text of this and of all that is in it; of an attribute, its value.
    public var text: String {
        // Most elements hold one piece of text, which needs no copy in between.
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

    /// The line where it begins, from 1; 0 where that is not known.
    public var line: Int { max(0, xmlGetLineNo(pointer)) }

    /// The element that this is in; nil for the outermost.
    public var parent: XML.Element? {
        pointer.pointee.parent.flatMap { XML.Node(document: document, pointer: $0).element }
    }

    /// The way to it from the document, by local names: `/feed/entry[2]/title`, with a number where siblings bear the same
    /// name. For people: a long one is shortened.
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
    /// The way to this from the document by local names, with a number where siblings bear the same.
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
        // Nobody reads all of a long one.
        return names.count <= 20 ? names.joined() : (names.prefix(4) + ["/…"] + names.suffix(12)).joined()
    }

    /// Which of its namesakes an element is, in brackets, if there are some.
    private var number: String {
        guard let before = namesakes(xmlPreviousElementSibling) else { return "[…]" }
        if before > 0 { return "[\(before + 1)]" }
        return namesakes(xmlNextElementSibling) == 0 ? "" : "[1]"
    }

    /// How many siblings in one direction bear the same name; nil among very many, since asking each of a long list would take
    /// the square of its length.
    private func namesakes(_ next: (xmlNodePtr?) -> xmlNodePtr?) -> Int? {
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

// MARK: - Texts of libxml2

extension String {
    /// libxml2's text, which is UTF-8; empty for none.
    init(xml text: UnsafePointer<xmlChar>?) {
        self = text.map { String(cString: $0) } ?? ""
    }

    /// As much of libxml2's text as so many bytes hold.
    init(xml text: UnsafePointer<xmlChar>, atMost count: Int) {
        let length = (0..<count).first { text[$0] == 0 } ?? count
        self = String(decoding: UnsafeBufferPointer(start: text, count: length), as: UTF8.self)
    }
}

import CLibxml2

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

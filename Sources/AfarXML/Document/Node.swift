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

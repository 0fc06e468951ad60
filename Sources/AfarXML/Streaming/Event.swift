extension XML {
    /// What a document consists of, in the order written.
    public enum Event: Hashable, Sendable {
        /// An element begins.
        case startElement(StartTag)
        /// An element ends.
        case endElement(Name)
        /// Text, whether in CDATA or not. One text may come in several pieces.
        case text(String)
        /// A comment.
        case comment(String)
        /// A processing instruction.
        case processingInstruction(target: String, data: String)
    }

    /// The name of an element or an attribute.
    public struct Name: Hashable, Sendable {
        /// The name without a prefix.
        public let localName: String
        /// The prefix as written. What counts is ``namespaceURI``.
        public let prefix: String?
        /// The name of the namespace, if it is in one.
        public let namespaceURI: String?
    }

    /// How an element begins.
    public struct StartTag: Hashable, Sendable {
        /// The element's name.
        public let name: Name
        /// The attributes, in the order written.
        public let attributes: [(name: Name, value: String)]
    }
}

extension XML.StartTag {
    /// The value of an attribute that is in no namespace, as most are.
    public subscript(localName: String) -> String? {
        attributes.first { $0.name.localName == localName && $0.name.namespaceURI == nil }?.value
    }

    /// Whether both have the same name and the same attributes in the same order.
    public static func == (one: Self, other: Self) -> Bool {
        one.name == other.name && one.attributes.elementsEqual(other.attributes, by: ==)
    }

    /// Feeds name and attributes into the hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        for attribute in attributes {
            hasher.combine(attribute.name)
            hasher.combine(attribute.value)
        }
    }
}

public import AfarSerializers

extension XML {
    /// How a document is read: its encoding, and what it may be and hold.
    ///
    /// Whatever is chosen: no file and no address is ever read, no entity is expanded that a document declares itself,
    /// and limits hold that no option changes: 50,000 bytes for a name, 9 million for all different names, for a tag with its
    /// attributes, 10 million for a text or a comment, 65,536 for the declarations in a document type.
    public struct ParsingOptions: Hashable, Sendable {
        /// The greatest length of a document, in bytes. The default is 64 MiB; larger ones are better streamed. On a stream it
        /// is that of each element that is made, give or take a chunk.
        public var maximumBytes: Int
        /// How deep elements may lie in each other. The default is 256, which is also the most that is possible.
        public var maximumDepth: Int {
            didSet { maximumDepth = min(maximumDepth, Self.greatestDepth) }
        }
        /// How many attributes an element may have. The default is 256. The time that they take grows with their square. In
        /// HTML some more may pass.
        public var maximumAttributes: Int
        /// How many elements a document may have, or on a stream each element that is made. The default is a million, which
        /// take some hundred megabytes of memory.
        public var maximumElements: Int
        /// How many nodes a document may have, or on a stream each element that is made: elements, attributes, comments,
        /// processing instructions and CDATA sections. The default is 4 million, which take about a gigabyte of memory at most,
        /// besides their text.
        public var maximumNodes: Int
        /// How many different names a document may have, or a stream from its beginning to its end: of elements, attributes,
        /// prefixes, namespaces and processing instructions. The default is 50,000. Beyond some 100,000, the time that names
        /// take grows with the square of their number.
        public var maximumNames: Int
        /// How many namespace declarations may be in force at one place. The default is 256.
        public var maximumNamespaces: Int
        /// Whether a document type declaration is accepted. The default is not. Pages in HTML may have one in any case.
        public var documentType: DocumentType

        /// The encoding to use whatever else is said. The default is nil: a byte-order mark tells, else the charset of the
        /// Content-Type, else the document's own declaration, else it is UTF-8 (RFC 7303, section 3).
        public var encoding: TextEncoding?

        /// Makes options.
        public init(
            maximumBytes: Int = 64 << 20,
            maximumDepth: Int = 256,
            maximumAttributes: Int = 256,
            maximumElements: Int = 1_000_000,
            maximumNodes: Int = 4_000_000,
            maximumNames: Int = 50_000,
            maximumNamespaces: Int = 256,
            documentType: DocumentType = .refused,
            encoding: TextEncoding? = nil
        ) {
            self.maximumBytes = maximumBytes
            self.maximumDepth = min(maximumDepth, Self.greatestDepth)
            self.maximumAttributes = maximumAttributes
            self.maximumElements = maximumElements
            self.maximumNodes = maximumNodes
            self.maximumNames = maximumNames
            self.maximumNamespaces = maximumNamespaces
            self.documentType = documentType
            self.encoding = encoding
        }

        private static let greatestDepth = 256
    }
}

extension XML.ParsingOptions {
    /// What happens to `<!DOCTYPE …>`.
    public enum DocumentType: Hashable, Sendable {
        /// The document is refused.
        case refused
        /// The declaration is passed over: its entities are not declared, the files it names are not read. A reference to an
        /// entity other than the five that XML defines is an error, and so is a default of an attribute, which would have to
        /// be added to elements.
        case ignored
    }
}

public import AfarSerializers

extension XML {
    /// The options and limits for parsing a document.
    ///
    /// Some rules can't be changed. Files and URLs are never loaded, and entities that a document declares are never expanded.
    /// The following limits always apply:
    ///
    /// - 50,000 bytes for a name, and 9 million bytes for all distinct names.
    /// - 9 million bytes for a tag with its attributes.
    /// - 10 million bytes for a piece of text or a comment.
    /// - 65,536 bytes for the declarations in a document type.
    public struct ParsingOptions: Hashable, Sendable {
        /// The maximum size of a document in bytes. The default is 64 MiB. Stream larger documents instead. In a stream, the
        /// limit applies to each element that the parser creates, and is checked after each chunk.
        public var maximumBytes: Int
        /// The maximum nesting depth of elements. The default and upper limit is 256.
        public var maximumDepth: Int {
            didSet { maximumDepth = min(maximumDepth, Self.greatestDepth) }
        }
        /// The maximum number of attributes of an element. The default is 256. The processing time grows quadratically with
        /// this number. In HTML, the limit can be slightly exceeded.
        public var maximumAttributes: Int
        /// The maximum number of elements in a document or, for a stream, in each element that is created. The default
        /// is one million, which uses several hundred megabytes of memory.
        public var maximumElements: Int
        /// The maximum number of nodes in a document or, for a stream, in each element that is created. Elements, attributes,
        /// comments, processing instructions and CDATA sections count as nodes. The default is 4 million, which uses up to
        /// about one gigabyte of memory in addition to the text.
        public var maximumNodes: Int
        /// The maximum number of distinct names in a document or in an entire stream. Names of elements, attributes,
        /// prefixes, namespaces and processing instructions count. The default is 50,000. Above about 100,000, the
        /// processing time grows quadratically.
        public var maximumNames: Int
        /// The maximum number of namespace declarations that can apply to one element. The default is 256.
        public var maximumNamespaces: Int
        /// The handling of document type declarations. The default is ``DocumentType/refused``. HTML pages can always have a
        /// declaration.
        public var documentType: DocumentType

        /// The encoding to use regardless of other information. If it is `nil` (the default), the first available of these
        /// determines the encoding: a byte-order mark, the charset of the `Content-Type`, and the document's own declaration.
        /// If none is available, the encoding is UTF-8 (RFC 7303, section 3).
        public var encoding: TextEncoding?

        /// Creates parsing options.
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
    /// The handling of `<!DOCTYPE …>`.
    public enum DocumentType: Hashable, Sendable {
        /// The document is rejected.
        case refused
        /// The declaration is ignored: its entities aren't declared, and files that it refers to aren't loaded.
        /// References to entities other than the five that XML defines are errors. Declaring a default value for an
        /// attribute is an error too, because the parser would have to add the attribute to elements.
        case ignored
    }
}

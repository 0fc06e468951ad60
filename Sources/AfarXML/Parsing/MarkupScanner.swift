import CLibxml2

/// Finds what would cost libxml2 the square of its length, or what it would fail at, before libxml2 sees it.
struct MarkupScanner {
    private var scanner = afar_xml_scanner()
    private let maximumAttributes: Int
    private let maximumDocumentType: Int

    init(_ options: XML.ParsingOptions) {
        maximumAttributes = options.maximumAttributes
        // One that is refused is refused for what it is.
        maximumDocumentType = options.documentType == .refused ? .max : Int(AFAR_XML_MAXIMUM_DOCUMENT_TYPE)
    }

    /// How many of the bytes by now belong to a tag that has no end yet.
    var openTagLength: Int { scanner.place == AFAR_XML_TAG ? scanner.seen - scanner.tag : 0 }

    /// Looks at the document's next bytes, in UTF-8.
    mutating func scan(_ bytes: UnsafeRawBufferPointer) throws(XML.Error) {
        let start = bytes.bindMemory(to: UInt8.self).baseAddress
        let finding = afar_xml_scan(
            &scanner, start, bytes.count, Int32(clamping: maximumAttributes), maximumDocumentType)
        switch finding {
        case AFAR_XML_NOTHING_FOUND: return
        case AFAR_XML_CROWD_OF_ATTRIBUTES:
            throw refusal("an element has more than \(maximumAttributes) attributes", at: scanner.tag)
        case AFAR_XML_LONG_TAG:
            throw refusal("a tag has more than \(AFAR_XML_MAXIMUM_TAG) bytes", at: scanner.tag)
        default:
            throw refusal(
                "the declarations in the document type have more than \(AFAR_XML_MAXIMUM_DOCUMENT_TYPE) bytes",
                at: scanner.declarations)
        }
    }

    private func refusal(_ message: String, at offset: Int) -> XML.Error {
        XML.Error(.limitExceeded, message, byteOffset: offset)
    }
}

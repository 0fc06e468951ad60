import AfarSerializers
import CLibxml2
import Foundation

/// A parser that creates trees from complete documents.
struct TreeParser {
    let options: XML.ParsingOptions

    init(_ options: XML.ParsingOptions) { self.options = options }

    func parse(_ data: Data, _ contentType: String?) throws(XML.Error) -> Tree {
        try checkSize(data.count)
        let encoding = try SourceEncoding(options, contentType).encoding(of: data)
        guard encoding == .utf8 else { return try parse(SourceEncoding.text(of: data, encoding)) }
        return try data.withBytes { bytes throws(XML.Error) in try parse(bytes) }
    }

    /// Parses text regardless of the encoding that it declares.
    func parse(_ text: String) throws(XML.Error) -> Tree {
        try Data(text.utf8).withBytes { bytes throws(XML.Error) in try parse(bytes) }
    }

    func parseHTML(_ data: Data, _ contentType: String?) throws(XML.Error) -> Tree {
        try checkSize(data.count)
        return try parseHTML(SourceEncoding(options, contentType).textOfHTML(data))
    }

    func parseHTML(_ text: String) throws(XML.Error) -> Tree {
        try Data(text.utf8).withBytes { bytes throws(XML.Error) in
            try checkSize(bytes.count)
            let run = try ParseRun(htmlNewParserCtxt(), options, readsXML: false)
            let flags = HTML_PARSE_NONET.rawValue | HTML_PARSE_RECOVER.rawValue | HTML_PARSE_IGNORE_ENC.rawValue
            var source = source(of: bytes, run)
            let tree = withUnsafeMutablePointer(to: &source) { source in
                htmlCtxtReadIO(run.context, afar_html_read, nil, source, nil, "UTF-8", Int32(flags))
            }
            return try run.finishHTML(tree)
        }
    }

    private func parse(_ text: UnsafeRawBufferPointer) throws(XML.Error) -> Tree {
        try checkSize(text.count)
        // Remove a byte-order mark, because libxml2 skips it only if it receives the complete document at once.
        let isMarked = text.starts(with: [0xEF, 0xBB, 0xBF])
        let bytes = UnsafeRawBufferPointer(rebasing: text.dropFirst(isMarked ? 3 : 0))
        guard bytes.contains(where: { !$0.isXMLSpace }) else {
            throw XML.Error(.emptyDocument, "the document consists of \(bytes.count) bytes of white space")
        }
        try checkMarkup(of: bytes)
        let run = try ParseRun(xmlNewParserCtxt(), options, readsXML: true)
        var source = source(of: bytes, run)
        let tree = withUnsafeMutablePointer(to: &source) { source in
            xmlCtxtReadIO(run.context, afar_xml_read, nil, source, nil, "UTF-8", ParseRun.flags)
        }
        return try run.finish(tree, hasMore: source.left > 0)
    }

    private func source(of bytes: UnsafeRawBufferPointer, _ run: ParseRun) -> afar_xml_source {
        afar_xml_source(at: bytes.bindMemory(to: CChar.self).baseAddress, left: bytes.count, parser: run.context)
    }

    private func checkSize(_ count: Int) throws(XML.Error) {
        let limit = min(options.maximumBytes, Int(Int32.max))
        guard count <= limit else {
            throw XML.Error(.limitExceeded, "the document has \(count) bytes, but at most \(limit) are allowed")
        }
    }

    private func checkMarkup(of bytes: UnsafeRawBufferPointer) throws(XML.Error) {
        var scanner = MarkupScanner(options)
        do throws(XML.Error) {
            try scanner.scan(bytes)
        } catch {
            let line = bytes[..<(error.byteOffset ?? 0)].count { $0 == UInt8(ascii: "\n") } + 1
            throw XML.Error(error.kind, error.message, line: line, byteOffset: error.byteOffset)
        }
    }
}

/// A scanner that checks a document before libxml2 receives it. It detects input on which libxml2 would fail or take
/// quadratic time.
struct MarkupScanner {
    private var scanner = afar_xml_scanner()
    private let maximumAttributes: Int
    private let maximumDocumentType: Int

    init(_ options: XML.ParsingOptions) {
        maximumAttributes = options.maximumAttributes
        // If document types aren't allowed, the parser rejects the document type regardless of its length.
        maximumDocumentType = options.documentType == .refused ? .max : Int(AFAR_XML_MAXIMUM_DOCUMENT_TYPE)
    }

    /// The number of received bytes of an incomplete tag, or 0 if no tag is incomplete.
    var openTagLength: Int { scanner.place == AFAR_XML_TAG ? scanner.seen - scanner.tag : 0 }

    /// Scans the next bytes of the document in UTF-8.
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

extension Data {
    /// Calls a closure with the bytes and rethrows its error.
    func withBytes<Value, Failure>(
        _ work: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeBytes { bytes in Result { () throws(Failure) in try work(bytes) } }.get()
    }
}

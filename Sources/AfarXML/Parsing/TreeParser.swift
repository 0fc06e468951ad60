import CLibxml2
import Foundation

/// Makes trees of whole documents.
struct TreeParser {
    let options: XML.ParsingOptions

    init(_ options: XML.ParsingOptions) { self.options = options }

    /// Parses bytes that say themselves how they are encoded.
    func parse(_ data: Data) throws(XML.Error) -> Tree {
        try data.withBytes { bytes throws(XML.Error) in try parse(bytes, isUTF8: false) }
    }

    /// Parses text, whatever encoding it declares.
    func parse(_ text: String) throws(XML.Error) -> Tree {
        try Data(text.utf8).withBytes { bytes throws(XML.Error) in try parse(bytes, isUTF8: true) }
    }

    /// Parses HTML in UTF-8 as browsers of HTML 4's time did: nothing is refused for its form.
    func parseHTML(_ text: Data) throws(XML.Error) -> Tree {
        try text.withBytes { bytes throws(XML.Error) in
            try checkSize(of: bytes)
            let run = try ParseRun(htmlNewParserCtxt(), options, readsXML: false)
            let flags = HTML_PARSE_NONET.rawValue | HTML_PARSE_RECOVER.rawValue
            let tree = htmlCtxtReadMemory(
                run.context, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), nil, "UTF-8",
                Int32(flags))
            return try run.finish(tree)
        }
    }

    private func parse(_ bytes: UnsafeRawBufferPointer, isUTF8: Bool) throws(XML.Error) -> Tree {
        try checkSize(of: bytes)
        try checkAttributes(of: bytes)
        let run = try ParseRun(xmlNewParserCtxt(), options, readsXML: true)
        var flags = XML_PARSE_NONET.rawValue | XML_PARSE_BIG_LINES.rawValue
        if isUTF8 { flags |= XML_PARSE_IGNORE_ENC.rawValue }
        let tree = xmlCtxtReadMemory(
            run.context, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), nil, nil, Int32(flags))
        return try run.finish(tree)
    }

    private func checkSize(of bytes: UnsafeRawBufferPointer) throws(XML.Error) {
        guard bytes.contains(where: { !$0.isXMLSpace }) else {
            throw XML.Error(.emptyDocument, "there is nothing to parse: \(bytes.count) bytes of white space")
        }
        let limit = min(options.maximumBytes, Int(Int32.max))
        guard bytes.count <= limit else {
            throw XML.Error(.limitExceeded, "the document has \(bytes.count) bytes; \(limit) are allowed")
        }
    }

    private func checkAttributes(of bytes: UnsafeRawBufferPointer) throws(XML.Error) {
        var counter = AttributeCounter(options)
        do throws(XML.Error) {
            try counter.count(bytes)
        } catch {
            let line = bytes[..<(error.byteOffset ?? 0)].count { $0 == UInt8(ascii: "\n") } + 1
            throw XML.Error(error.kind, error.message, line: line, byteOffset: error.byteOffset)
        }
    }
}

extension Data {
    /// Works on the bytes, and throws what that throws.
    func withBytes<Value, Failure>(
        _ work: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeBytes { bytes in Result { () throws(Failure) in try work(bytes) } }.get()
    }
}

extension UInt8 {
    /// Whether this is XML's white space (XML 1.0, section 2.3).
    var isXMLSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}

import AfarCore
import AfarSerializers
import AfarXML
import Foundation
import HTTPTypes
import Testing

/// The encoding of a document. In order of precedence: an explicit option, a byte order mark, the Content-Type, the
/// declaration, UTF-8.
@Suite struct EncodingTests {
    /// Parses a document as a whole and in chunks, and checks its text.
    private func check(
        _ data: Data, _ contentType: String? = nil, _ options: XML.ParsingOptions = .init(), is text: String,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(
            try XML.Document(data, contentType: contentType, options: options).root.text == text,
            sourceLocation: location)
        for step in [1, 2, 3, 50, 5_000] {
            var parser = XML.ElementParser(matching: "/a", options: options) { $0.text }
            parser.begin(head(contentType))
            #expect(try parser.all(of: data, cutAt: step).map { try $0.get() } == [text], sourceLocation: location)
        }
    }

    private func error(_ data: Data, _ contentType: String? = nil) throws -> XML.Error {
        var parser = XML.ElementParser(matching: "/a") { $0.text }
        parser.begin(head(contentType))
        #expect(throws: AFError.self) { for result in parser.all(of: data, cutAt: 3) { _ = try result.get() } }
        return try #require(throws: XML.Error.self) { _ = try XML.Document(data, contentType: contentType) }
    }

    private func head(_ contentType: String?) -> ResponseHead {
        var fields = HTTPFields()
        fields[.contentType] = contentType
        return ResponseHead(status: 200, fields: fields, url: "http://localhost/")
    }

    @Test func utf8IsTheDefault() throws {
        try check(Data("<a>ä€\u{1F600}</a>".utf8), is: "ä€\u{1F600}")
        try check(Data("<?xml version='1.0'?><a>ä</a>".utf8), "text/xml", is: "ä")
        #expect(try error(Data("<a>".utf8) + [0xE4] + Data("</a>".utf8)).kind == .invalidBytes)
    }

    @Test(arguments: ["iso-8859-1", "windows-1252", "latin1"])
    func theDeclaredEncodingIsUsed(label: String) throws {
        let text = "<?xml version='1.0' encoding='\(label)'?><a>ä</a>"
        try check(try #require(text.data(using: .isoLatin1)), is: "ä")
    }

    @Test func theContentTypeOverridesTheDeclaration() throws {
        let text = "<?xml version='1.0' encoding='utf-8'?><a>ä</a>"
        let latin = try #require(text.data(using: .isoLatin1))
        try check(latin, "application/xml; charset=\"ISO-8859-1\"", is: "ä")
        try check(Data(text.replacing("utf-8", with: "iso-8859-1").utf8), "text/xml;charset=utf-8", is: "ä")
    }

    @Test func aByteOrderMarkOverridesBoth() throws {
        let text = "<?xml version='1.0' encoding='iso-8859-1'?><a>ä€</a>"
        try check(Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8), "text/xml; charset=iso-8859-1", is: "ä€")
        for (encoding, mark) in [
            (String.Encoding.utf16LittleEndian, [0xFF, 0xFE] as [UInt8]), (.utf16BigEndian, [0xFE, 0xFF]),
        ] {
            let bytes = try #require(text.data(using: encoding))
            try check(Data(mark) + bytes, "text/xml; charset=utf-8", is: "ä€")
        }
    }

    @Test(arguments: [
        (
            String.Encoding.utf8, [0xEF, 0xBB, 0xBF] as [UInt8], ["utf-8", "UTF8"], ["iso-8859-1", "utf-16", "no-such"]
        ),
        (.utf16LittleEndian, [0xFF, 0xFE], ["utf-16", "UTF-16LE"], ["utf-8", "iso-8859-1", "utf-16be", "utf-32"]),
        (.utf16BigEndian, [0xFE, 0xFF], ["UTF-16", "utf-16be"], ["utf-8", "Shift_JIS", "utf-16le"]),
        (.utf32LittleEndian, [0xFF, 0xFE, 0, 0], ["utf-32"], ["utf-8", "utf-16"]),
    ])
    func aByteOrderMarkAndADeclarationMustAgree(
        encoding: String.Encoding, mark: [UInt8], same: [String], others: [String]
    ) throws {
        func document(_ label: String, _ padding: String = "") throws -> Data {
            let text = "<?xml version='1.0'\(padding) encoding='\(label)'?><a>ä</a>"
            return Data(mark) + (try #require(text.data(using: encoding)))
        }
        try check(Data(mark) + (try #require("<a>ä</a>".data(using: encoding))), is: "ä")
        for label in same { try check(document(label), is: "ä") }
        for label in others {
            let found = try error(document(label))
            #expect(found.kind == .unsupportedEncoding)
            #expect(found.description.contains(label))
            #expect(try error(document(label, String(repeating: " ", count: 500))).kind == .unsupportedEncoding)
            // An external encoding overrides the declaration.
            try check(document(label), "text/xml; charset=utf-8", is: "ä")
        }
    }

    @Test func anExplicitEncodingOverridesAll() throws {
        let text = "<?xml version='1.0' encoding='utf-8'?><a>я</a>"
        let bytes = try #require(text.data(using: .windowsCP1251))
        try check(bytes, "text/xml; charset=utf-8", .init(encoding: .windows1251), is: "я")
    }

    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian])
    func wideEncodingsAreDetectedWithoutAMark(encoding: String.Encoding) throws {
        let text = "<?xml version='1.0' encoding='utf-16'?><a>ä\u{1F600}</a>"
        try check(try #require(text.data(using: encoding)), is: "ä\u{1F600}")
    }

    @Test func eastAsianEncodingsAreDecoded() throws {
        let text = "<?xml version='1.0' encoding='Shift_JIS'?><a>日本</a>"
        try check(try #require(text.data(using: .shiftJIS)), is: "日本")
    }

    @Test func unknownEncodingsAndMalformedBytesAreErrors() throws {
        #expect(try error(Data("<?xml version='1.0' encoding='no-such'?><a/>".utf8)).kind == .unsupportedEncoding)
        #expect(try error(Data("<a/>".utf8), "text/xml; charset=no-such").kind == .unsupportedEncoding)
        #expect(try error(Data("<a/>".utf8), "text/xml; charset=no-such").description.contains("no-such"))
        let japanese = Data("<?xml version='1.0' encoding='Shift_JIS'?><a>".utf8) + [0x81, 0xFF] + Data("</a>".utf8)
        #expect(try error(japanese).kind == .invalidBytes)
        // In UTF-16, the declaration couldn't have been read, so it is ignored.
        try check(Data("<?xml version='1.0' encoding='utf-16'?><a>ä</a>".utf8), is: "ä")
    }

    @Test func decodersUseTheResponsesCharset() throws {
        struct Value: Decodable { let b: String }
        let data = try #require("<a><b>ä</b></a>".data(using: .isoLatin1))
        let serializer = DecodableResponseSerializer<Value>(decoder: XMLDecoder())
        let input = SerializationInput(
            request: nil, head: head("text/xml; charset=iso-8859-1"), data: data, error: nil)
        #expect(try serializer.serialize(input).b == "ä")
    }
}

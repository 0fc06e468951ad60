import AfarCore
import AfarSerializers
import Foundation
import Testing

/// Detection of encodings, and handling of malformed bytes.
@Suite struct TextDecodingTests {
    private static let latin = Data([0x67, 0x72, 0xFC, 0x6E])

    @Test func theCallersEncodingTakesPrecedence() throws {
        let bytes = Data([0xEF, 0xBB, 0xBF, 0x41])
        let text = try TextDecoding(encoding: .windows1252).decode(bytes, contentType: "text/plain; charset=utf-8")
        #expect(text.text == "ï»¿A")
        #expect(text.reason == .override)
    }

    @Test func aByteOrderMarkOverridesTheCharset() throws {
        let text = try TextDecoding.automatic.decode(Data([0xFF, 0xFE, 0x41, 0x00]), contentType: "a/b; charset=utf-8")
        #expect(text.text == "A")
        #expect(text.encoding == .utf16LittleEndian)
        #expect(text.reason == .byteOrderMark)
    }

    @Test(arguments: [
        "text/plain; charset=iso-8859-1", "text/plain;charset=\"ISO-8859-1\"", "text/plain; Charset = 'latin1' ",
        "text/plain; boundary=\"a;charset=utf-8\"; charset=latin1", "text/plain; charset=latin1; charset=utf-8",
        "text/plain; charset=\"lat\\in1\"; x", "text/plain; charset=; charset=latin1", ";charset=latin1",
        "text/html; charset=latin1, text/plain", "TEXT/PLAIN; x; =; CHARSET=LATIN1",
    ])
    func theCharsetIsParsedLeniently(contentType: String) throws {
        let text = try TextDecoding.automatic.decode(Self.latin, contentType: contentType)
        #expect(text.text == "grün")
        #expect(text.encoding == .windows1252)
        #expect(text.reason == .charset)
    }

    @Test(arguments: [nil, "", "text/plain", "text/plain; charset", "text/plain; charset=\"", "charset=latin1", ";;;"])
    func withoutACharsetTextIsUTF8OrWindows1252(contentType: String?) throws {
        let text = try TextDecoding.automatic.decode(Data("grün €".utf8), contentType: contentType)
        #expect(text.text == "grün €")
        #expect(text.reason == .assumption)
        let other = try TextDecoding.automatic.decode(Self.latin + Data([0x80]), contentType: contentType)
        #expect(other.text == "grün€")
        #expect(other.encoding == .windows1252)
        #expect(other.reason == .fallback)
    }

    @Test(arguments: [
        (TextEncoding.utf8, "application/json"), (.utf16LittleEndian, "application/problem+json"),
        (.utf16BigEndian, "text/json"), (.utf32LittleEndian, "Application/JSON; x=y"),
        (.utf32BigEndian, "application/json"),
    ])
    func jsonsEncodingIsDetected(encoding: TextEncoding, contentType: String) throws {
        let bytes = try #"{"a":"é"}"#.bytes(in: encoding)
        let text = try TextDecoding.automatic.decode(bytes, contentType: contentType)
        #expect(text.text == #"{"a":"é"}"#)
        #expect(text.encoding == encoding)
        #expect(text.reason == .mediaType)
    }

    @Test(arguments: [
        (#"<?xml version="1.0" encoding="windows-1251"?><a/>"#, "windows-1251"),
        ("<?xml version='1.0'\n encoding = 'Shift_JIS' ?><a/>", "Shift_JIS"),
        (#"<?xml version="1.0" encoding="UTF-16"?><a/>"#, "UTF-8"),
    ])
    func xmlDeclaresItsEncoding(document: String, name: String) throws {
        let text = try TextDecoding.automatic.decode(Data(document.utf8), contentType: "image/svg+xml")
        #expect(text.encoding.name == name)
        #expect(text.reason == .declaration)
    }

    @Test func xmlOfWideUnitsIsRecognized() throws {
        for encoding in [TextEncoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian] {
            let bytes = try #"<?xml version="1.0"?><a/>"#.bytes(in: encoding)
            let text = try TextDecoding.automatic.decode(bytes, contentType: "text/xml")
            #expect(text.encoding == encoding)
            #expect(text.text.hasPrefix("<?xml"))
        }
    }

    @Test(arguments: ["<a encoding='big5'/>", "<?xml version='1.0'?><a encoding='big5'/>", "<?xml encoding='big5'", ""])
    func invalidDeclarationsAreIgnored(document: String) throws {
        let text = try TextDecoding.automatic.decode(Data(document.utf8), contentType: "application/xml")
        #expect(text.encoding == .utf8)
        #expect(text.reason == .assumption)
    }

    @Test func theDeclaredEncodingMustBeValid() {
        for decoding in [TextDecoding.automatic, .strict] {
            let error = #expect(throws: TextDecodingError.self) {
                try decoding.decode(Self.latin, contentType: "text/plain; charset=utf-8")
            }
            #expect(error?.reason == .malformedBytes(encoding: .utf8, offset: 2))
            #expect(error?.localizedDescription.contains("offset 2") == true)
            #expect(error?.localizedDescription.contains("UTF-8") == true)
        }
    }

    @Test func strictTextIsUTF8ByDefault() {
        let error = #expect(throws: TextDecodingError.self) { try TextDecoding.strict.decode(Self.latin) }
        #expect(error?.reason == .malformedBytes(encoding: .utf8, offset: 2))
    }

    @Test func malformedBytesCanBeReplaced() throws {
        let text = try TextDecoding.replacing.decode(Self.latin, contentType: "text/plain; charset=utf-8")
        #expect(text.text == "gr\u{FFFD}n")
        #expect(text.malformedOffset == 2)
        #expect(try TextDecoding.replacing.decode(Data("grün".utf8)).malformedOffset == nil)
    }

    @Test func aFallbackEncodingCanBeSet() throws {
        let decoding = TextDecoding(malformedBytes: .fallBack(to: .shiftJIS))
        #expect(try decoding.decode(Data([0x93, 0xFA])).text == "日")
        let error = #expect(throws: TextDecodingError.self) { try decoding.decode(Data([0x41, 0x93, 0xFF])) }
        #expect(error?.reason == .malformedBytes(encoding: .shiftJIS, offset: 1))
    }

    @Test(arguments: ["text/plain; charset=martian", "application/json; charset=martian"], [Self.latin, Data([0xC3])])
    func anUnknownCharsetIsAnErrorThatNamesIt(contentType: String, bytes: Data) {
        for decoding in [TextDecoding.automatic, .strict] {
            let error = #expect(throws: TextDecodingError.self) {
                try decoding.decode(bytes, contentType: contentType)
            }
            #expect(error?.reason == .unknownCharset(label: "martian"))
            #expect(error?.localizedDescription.contains("\"martian\"") == true)
        }
    }

    @Test(arguments: ["text/plain; charset=martian", "application/json; charset=martian", "text/html; charset=martian"])
    func validUTF8InAnUnknownCharsetIsDecoded(contentType: String) throws {
        for decoding in [TextDecoding.automatic, .strict, .replacing] {
            for expected in ["", "plain", "grün, 日本"] {
                let text = try decoding.decode(Data(expected.utf8), contentType: contentType)
                #expect(text.text == expected)
                #expect(text.encoding == .utf8)
                #expect(text.unknownCharset == "martian")
            }
        }
    }

    @Test func anUnknownCharsetCanBeIgnored() throws {
        let decoding = TextDecoding(unknownCharsets: .ignore)
        let text = try decoding.decode(Self.latin, contentType: "text/plain; charset=martian")
        #expect(text.text == "grün")
        #expect(text.unknownCharset == "martian")
        #expect(text.reason == .fallback)
    }

    @Test func anUnknownXMLDeclarationIsAnError() throws {
        let document = Data(#"<?xml version="1.0" encoding="martian"?><a/>"#.utf8)
        #expect(throws: TextDecodingError(.unknownCharset(label: "martian"))) {
            try TextDecoding.automatic.decode(document + Data([0xFC]), contentType: "text/xml")
        }
        #expect(throws: TextDecodingError(.unknownCharset(label: "martian"))) {
            try TextDecoding.automatic.encoding(of: document, as: MediaType("text/xml"))
        }
        let text = try TextDecoding.automatic.decode(document, contentType: "text/xml").text
        #expect(text == String(decoding: document, as: UTF8.self))
    }

    @Test func alamofiresRulesUseTheCharsetOrLatin1() throws {
        let decoding = TextDecoding.charsetOrLatin1
        #expect(try decoding.decode(Self.latin + Data([0x80])).text == "grün\u{80}")
        #expect(try decoding.decode(Data("é".utf8), contentType: "a/b; charset=utf-8").text == "é")
        #expect(try decoding.decode(Data("é".utf8), contentType: "application/json").text == "Ã©")
        let unknown = try decoding.decode(Data("é".utf8), contentType: "a/b; charset=martian")
        #expect(unknown.text == "Ã©")
        #expect(unknown.encoding == .isoLatin1)
    }
}

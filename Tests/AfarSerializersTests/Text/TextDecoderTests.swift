import AfarSerializers
import Foundation
import Testing

/// The streaming decoder returns the same text regardless of the sizes of the chunks.
@Suite struct TextDecoderTests {
    private func text(of chunks: [Data], in encoding: TextEncoding, findsByteOrderMarks: Bool = false) -> String {
        var decoder = TextDecoder(encoding, findsByteOrderMarks: findsByteOrderMarks)
        let texts = chunks.map { decoder.decode($0) }
        return texts.joined() + decoder.finish()
    }

    @Test(arguments: TextEncoding.all) func chunkBoundariesDoNotMatter(encoding: TextEncoding) {
        var random = RandomBytes(seed: 7)
        for _ in 0..<20 {
            let bytes = Data(random.text())
            let whole = text(of: [bytes], in: encoding)
            #expect(text(of: bytes.map { Data([$0]) }, in: encoding) == whole)
            for cut in 0...bytes.count {
                #expect(text(of: [bytes.prefix(cut), bytes.dropFirst(cut)], in: encoding) == whole)
            }
        }
    }

    @Test(arguments: [
        (TextEncoding.utf8, "Grün, 日本, 🍋"), (.utf16LittleEndian, "Grün, 日本, 🍋"), (.utf16BigEndian, "Grün, 日本, 🍋"),
        (.utf32LittleEndian, "Grün, 日本, 🍋"), (.utf32BigEndian, "Grün, 日本, 🍋"), (.windows1252, "Grün, 10 €"),
        (.windows1251, "Привет"), (.isoLatin1, "Grün"), (.ascii, "Green"), (.shiftJIS, "日本語ｶﾅ"),
        (.iso2022JP, "日本語 text"),
    ])
    func textEncodedByFoundationIsDecoded(encoding: TextEncoding, sample: String) throws {
        let bytes = try sample.bytes(in: encoding)
        for cut in 0...bytes.count {
            let text = text(of: [bytes.prefix(cut), bytes.dropFirst(cut)], in: encoding)
            #expect(text == sample)
        }
    }

    @Test(
        arguments: [
            ([0xB0, 0xA1, 0x8F, 0xB0, 0xA1, 0x8E, 0xB1], TextEncoding.eucJP, "亜丂ｱ"),
            ([0xA4, 0xA4, 0xA4, 0xE5], .big5, "中文"), ([0xC7, 0xD1, 0xB1, 0xDB], .eucKR, "한글"),
            ([0xD6, 0xD0, 0x94, 0x39, 0xDA, 0x33, 0x80], .gb18030, "中💩€"), ([0xD6, 0xD0, 0xCE, 0xC4], .gbk, "中文"),
            ([0x1B, 0x28, 0x4A, 0x5C, 0x7E, 0x1B, 0x28, 0x49, 0x31], .iso2022JP, "¥‾ｱ"),
        ] as [([UInt8], TextEncoding, String)])
    func multibyteCharactersAreDecoded(bytes: [UInt8], encoding: TextEncoding, expected: String) {
        #expect(text(of: [Data(bytes)], in: encoding) == expected)
    }

    @Test(
        arguments: [
            // The ASCII byte of a malformed pair is decoded separately.
            ([0x81, 0x22, 0x3E], TextEncoding.shiftJIS, "\u{FFFD}\">", 0),
            ([0x41, 0xA4, 0x3C], .big5, "A\u{FFFD}<", 1),
            ([0x41, 0x42, 0xFE, 0x7F], .eucKR, "AB\u{FFFD}\u{7F}", 2), ([0x8F, 0xA2, 0x41], .eucJP, "\u{FFFD}A", 0),
            ([0x81, 0x30, 0x81, 0x41], .gb18030, "\u{FFFD}0丄", 0), ([0x81, 0x30], .gb18030, "\u{FFFD}", 0),
            ([0x41, 0x1B, 0x24, 0x41], .iso2022JP, "A\u{FFFD}$A", 1),
            ([0x41, 0xD8, 0x00, 0x41], .utf16BigEndian, "䇘A", nil),
            ([0x00, 0xD8, 0x41, 0x00], .utf16LittleEndian, "\u{FFFD}A", 0),
            ([0x41, 0x00, 0x42], .utf16LittleEndian, "A\u{FFFD}", 2),
            ([0x41, 0xE2, 0x82], .utf8, "A\u{FFFD}", 1), ([0xED, 0xA0, 0x80], .utf8, "\u{FFFD}\u{FFFD}\u{FFFD}", 0),
            ([0x41, 0xF0, 0x9F, 0x8D, 0x41], .utf8, "A\u{FFFD}A", 1), ([0x41, 0x80], .ascii, "A\u{FFFD}", 1),
            ([0x00, 0x11, 0x00, 0x00], .utf32BigEndian, "\u{FFFD}", 0), ([0x41, 0x42], .isoLatin1, "AB", nil),
        ] as [([UInt8], TextEncoding, String, Int?)])
    func malformedBytesAreReplacedAndReported(bytes: [UInt8], encoding: TextEncoding, expected: String, offset: Int?) {
        var decoder = TextDecoder(encoding)
        #expect(decoder.decode(Data(bytes)) + decoder.finish() == expected)
        #expect(decoder.malformedOffset == offset)
    }

    @Test func longInputIsDecodedInBlocks() {
        // Longer than the decoder's buffer, with a character across each boundary.
        let bytes = Data([0x41]) + Data((0..<20_000).map { $0 % 2 == 0 ? 0x93 : 0xFA })
        var decoder = TextDecoder(.shiftJIS)
        let text = decoder.decode(bytes) + decoder.finish()
        #expect(text == "A" + String(repeating: "日", count: 10_000))
        #expect(decoder.malformedOffset == nil)
        #expect(decoder.decode(Data([0xFF])) == "\u{FFFD}")
        #expect(decoder.malformedOffset == 20_001)
    }

    @Test func theReplacementEncodingHidesNothing() throws {
        let encoding = try #require(TextEncoding(label: "iso-2022-kr"))
        #expect(text(of: [Data("<script>".utf8), Data("x".utf8)], in: encoding) == "\u{FFFD}")
        #expect(text(of: [Data()], in: encoding) == "")
    }

    private static let marks: [(TextEncoding, [UInt8])] = [
        (.utf8, [0xEF, 0xBB, 0xBF]), (.utf16LittleEndian, [0xFF, 0xFE]), (.utf16BigEndian, [0xFE, 0xFF]),
        (.utf32LittleEndian, [0xFF, 0xFE, 0x00, 0x00]), (.utf32BigEndian, [0x00, 0x00, 0xFE, 0xFF]),
    ]

    @Test(arguments: marks) func aSplitByteOrderMarkIsSkipped(encoding: TextEncoding, mark: [UInt8]) throws {
        let bytes = try Data(mark) + "Aé".bytes(in: encoding)
        for cut in 0...bytes.count {
            let chunks = [bytes.prefix(cut), bytes.dropFirst(cut)]
            #expect(text(of: chunks, in: encoding) == "Aé")
            #expect(text(of: chunks, in: .windows1251, findsByteOrderMarks: true) == "Aé")
        }
        #expect(text(of: bytes.map { Data([$0]) }, in: .big5, findsByteOrderMarks: true) == "Aé")
        #expect(text(of: [Data(mark)], in: .utf8, findsByteOrderMarks: true) == "")
    }

    @Test func anotherEncodingsMarkIsUsedOnlyOnRequest() {
        #expect(text(of: [Data([0xFF, 0xFE])], in: .windows1252) == "ÿþ")
        #expect(text(of: [Data([0xEF]), Data([0xBB])], in: .windows1252, findsByteOrderMarks: true) == "ï»")
        var decoder = TextDecoder(.utf8, findsByteOrderMarks: true)
        #expect(decoder.decode(Data([0xFE, 0xFF, 0x00, 0x41])) == "A")
        #expect(decoder.encoding == .utf16BigEndian)
        #expect(decoder.decode(Data([0xDC, 0x00])) == "\u{FFFD}")
        #expect(decoder.malformedOffset == 4)
    }

    @Test func aLaterMarkIsACharacter() {
        #expect(text(of: [Data([0x41, 0xEF, 0xBB, 0xBF])], in: .utf8).unicodeScalars.map(\.value) == [0x41, 0xFEFF])
    }
}

import AfarSerializers
import Foundation
import Testing

/// Each pointer of each index of the Encoding Standard is decoded to its code point.
@Suite struct IndexTests {
    @Test(arguments: [
        "ibm866", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8",
        "iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-15", "iso-8859-16", "koi8-r", "koi8-u", "macintosh",
        "windows-874", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255",
        "windows-1256", "windows-1257", "windows-1258", "x-mac-cyrillic",
    ])
    func singleBytes(name: String) throws {
        try check(name, in: try #require(TextEncoding(label: name))) { [UInt8(0x80 + $0)] }
    }

    @Test func big5() throws {
        try check("big5", in: .big5) { pointer in
            let trail = pointer % 157
            return [UInt8(pointer / 157 + 0x81), UInt8(trail + (trail < 0x3F ? 0x40 : 0x62))]
        }
        #expect(text(of: [0x88, 0x62, 0x88, 0x64, 0x88, 0xA3, 0x88, 0xA5], in: .big5) == "Ê̄Ê̌ê̄ê̌")
    }

    @Test func eucKR() throws {
        try check("euc-kr", in: .eucKR) { [UInt8($0 / 190 + 0x81), UInt8($0 % 190 + 0x41)] }
    }

    @Test(arguments: [TextEncoding.gbk, .gb18030]) func gb18030(encoding: TextEncoding) throws {
        try check("gb18030", in: encoding) { pointer in
            let trail = pointer % 190
            return [UInt8(pointer / 190 + 0x81), UInt8(trail + (trail < 0x3F ? 0x40 : 0x41))]
        }
    }

    @Test func jis0208() throws {
        try check("jis0208", in: .shiftJIS, without: 8836...10715) { pointer in
            let row = pointer / 188
            let trail = pointer % 188
            return [UInt8(row + (row < 0x1F ? 0x81 : 0xC1)), UInt8(trail + (trail < 0x3F ? 0x40 : 0x41))]
        }
        #expect(text(of: [0xF0, 0x40, 0xF9, 0xFC], in: .shiftJIS) == "\u{E000}\u{E757}")
    }

    @Test func japaneseEncodingsAgree() throws {
        for pointer in 0..<8836 {
            let bytes = [UInt8(pointer / 94 + 0x21), UInt8(pointer % 94 + 0x21)]
            let row = pointer / 188
            let trail = pointer % 188
            let shifted = [UInt8(row + (row < 0x1F ? 0x81 : 0xC1)), UInt8(trail + (trail < 0x3F ? 0x40 : 0x41))]
            let expected = text(of: shifted, in: .shiftJIS).first
            #expect(text(of: bytes.map { $0 | 0x80 }, in: .eucJP).first == expected)
            #expect(text(of: [0x1B, 0x24, 0x42] + bytes, in: .iso2022JP).first == expected)
        }
    }

    @Test func jis0212() throws {
        try check("jis0212", in: .eucJP) { [0x8F, UInt8($0 / 94 + 0xA1), UInt8($0 % 94 + 0xA1)] }
    }

    @Test func charactersOfFourBytes() {
        var checksum = FNV()
        for pointer in [0..<39500, 188_990..<189_100, 1_237_500..<1_237_600].joined() {
            let bytes = [
                pointer / 12600 + 0x81, pointer / 1260 % 10 + 0x30, pointer / 10 % 126 + 0x81, pointer % 10 + 0x30,
            ]
            checksum.add(text(of: bytes.map(UInt8.init), in: .gb18030).utf8)
        }
        // Created with encoding_rs 0.8.31 from the same bytes.
        #expect(checksum.value == 0xBFCA_31F2_F0EA_74DC)
    }

    /// Compares an encoding with the checksum of its index.
    ///
    /// - Parameters:
    ///   - without: Pointers that the encoding uses differently.
    ///   - bytes: Returns the encoded form of a pointer.
    private func check(
        _ name: String, in encoding: TextEncoding, without: ClosedRange<Int>? = nil,
        bytes: (Int) -> [UInt8]
    ) throws {
        let (length, expected) = try #require(IndexChecksums.all[name])
        var checksum = FNV()
        for pointer in 0..<length {
            var decoder = TextDecoder(encoding)
            let scalars = (decoder.decode(Data(bytes(pointer))) + decoder.finish()).unicodeScalars
            let isOfIndex = scalars.count == 1 && decoder.malformedOffset == nil && without?.contains(pointer) != true
            checksum.add(isOfIndex ? scalars.first?.value ?? 0 : 0)
        }
        #expect(checksum.value == expected)
    }

    private func text(of bytes: [UInt8], in encoding: TextEncoding) -> String {
        var decoder = TextDecoder(encoding)
        return decoder.decode(Data(bytes)) + decoder.finish()
    }
}

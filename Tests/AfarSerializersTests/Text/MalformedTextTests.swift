import AfarSerializers
import Foundation
import Testing

/// Random bytes, mostly malformed, are decoded to the same text as with another implementation of the Encoding
/// Standard.
@Suite struct MalformedTextTests {
    @Test(arguments: checksums.keys.sorted()) func malformedBytesAreDecodedPerTheStandard(name: String) throws {
        let encoding = try #require(TextEncoding(label: name))
        var random = RandomBytes(seed: 1)
        var checksum = FNV()
        var all = Data()
        for _ in 0..<1000 {
            let bytes = Data(random.text())
            checksum.add(text(of: bytes, in: encoding).utf8)
            checksum.add([0xFF])
            all.append(bytes)
        }
        checksum.add(text(of: all, in: encoding).utf8)
        #expect(checksum.value == Self.checksums[name])
    }

    @Test func anEscapeSequenceIsNotPartOfTheMalformedBytes() {
        for size in 1...4 {
            var decoder = TextDecoder(.iso2022JP)
            let bytes: [UInt8] = [0x1B, 0x24, 0x42, 0xFF]
            var text = ""
            for start in stride(from: 0, to: bytes.count, by: size) {
                text += decoder.decode(Data(bytes[start..<min(start + size, bytes.count)]))
            }
            #expect(text + decoder.finish() == "\u{FFFD}")
            #expect(decoder.malformedOffset == 3)
        }
    }

    private func text(of bytes: Data, in encoding: TextEncoding) -> String {
        var decoder = TextDecoder(encoding)
        return decoder.decode(bytes) + decoder.finish()
    }

    /// FNV-1a checksums of the UTF-8 of 1,000 texts, with 0xFF after each, and of one text that contains all bytes.
    ///
    /// They were created with encoding_rs 0.8.31 (Firefox's decoders) from the same bytes. The 18 characters that have
    /// moved in GB18030 since then are at their current positions.
    private static let checksums: [String: UInt64] = [
        "UTF-8": 0xE4A1_E74E_2F46_4AF7,
        "IBM866": 0x9FD6_4210_F823_465F,
        "ISO-8859-2": 0x3C07_257D_8494_BC09,
        "ISO-8859-3": 0x9A3D_92A5_2DA8_0CE9,
        "ISO-8859-4": 0xF5A1_9EAC_34AE_7FC5,
        "ISO-8859-5": 0xE84A_F62C_3189_DE73,
        "ISO-8859-6": 0xEB1D_7E41_9F40_05B1,
        "ISO-8859-7": 0x9CEA_A914_5710_F14F,
        "ISO-8859-8": 0xCE57_33FA_C463_5D3D,
        "ISO-8859-8-I": 0xCE57_33FA_C463_5D3D,
        "ISO-8859-10": 0x86E5_3F1F_6708_1D2B,
        "ISO-8859-13": 0x6BE3_5464_1319_05BD,
        "ISO-8859-14": 0x4477_C767_E687_2C99,
        "ISO-8859-15": 0x3722_295F_1F6A_4C73,
        "ISO-8859-16": 0x5152_F1FD_FD17_0193,
        "KOI8-R": 0x3058_597A_27ED_0B2F,
        "KOI8-U": 0xB452_BEC3_F8F2_937D,
        "macintosh": 0x60F1_55E9_3FC2_2ED5,
        "windows-874": 0x1598_4730_8A3D_397B,
        "windows-1250": 0x964C_2A09_7B05_529D,
        "windows-1251": 0x78D2_9C2C_B146_2257,
        "windows-1252": 0x8DEE_3B41_5F47_386B,
        "windows-1253": 0x2E5A_6B87_ED31_CFA5,
        "windows-1254": 0x2BE6_68E7_51B4_B257,
        "windows-1255": 0x5E66_2D0E_1A83_9591,
        "windows-1256": 0xCBCA_2C10_7756_03F3,
        "windows-1257": 0xAD1F_7018_8FFB_8E55,
        "windows-1258": 0xC183_D400_2DC6_9E65,
        "x-mac-cyrillic": 0x7F9F_7EDE_33BD_5419,
        "GBK": 0x3B11_8793_A147_483A,
        "gb18030": 0x3B11_8793_A147_483A,
        "Big5": 0x401F_86E9_B319_127B,
        "EUC-JP": 0x5724_9A76_8A32_81A5,
        "ISO-2022-JP": 0xFCA6_F524_3BCE_22EF,
        "Shift_JIS": 0x60B0_06BC_0FC5_C929,
        "EUC-KR": 0x6FEE_A39D_8397_6AD6,
        "UTF-16BE": 0x6B9F_3DCB_C1E6_203A,
        "UTF-16LE": 0xBA31_EE95_C006_633E,
        "x-user-defined": 0x0F1E_6183_D168_64E7,
    ]
}

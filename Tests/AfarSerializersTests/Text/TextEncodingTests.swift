import AfarSerializers
import Foundation
import Testing

@Suite struct TextEncodingTests {
    /// An unusual label for each encoding of the Encoding Standard.
    private static let labels = [
        "unicode11utf8": "UTF-8", "866": "IBM866", "csisolatin2": "ISO-8859-2", "iso-ir-109": "ISO-8859-3",
        "l4": "ISO-8859-4", "cyrillic": "ISO-8859-5", "asmo-708": "ISO-8859-6", "sun_eu_greek": "ISO-8859-7",
        "visual": "ISO-8859-8", "logical": "ISO-8859-8-I", "l6": "ISO-8859-10", "iso885913": "ISO-8859-13",
        "iso8859-14": "ISO-8859-14", "l9": "ISO-8859-15", "iso-8859-16": "ISO-8859-16", "koi": "KOI8-R",
        "koi8-ru": "KOI8-U", "x-mac-roman": "macintosh", "tis-620": "windows-874", "x-cp1250": "windows-1250",
        "cp1251": "windows-1251", "us-ascii": "windows-1252", "x-cp1253": "windows-1253", "l5": "windows-1254",
        "cp1255": "windows-1255", "cp1256": "windows-1256", "x-cp1257": "windows-1257", "cp1258": "windows-1258",
        "x-mac-ukrainian": "x-mac-cyrillic", "gb_2312-80": "GBK", "gb18030": "gb18030", "big5-hkscs": "Big5",
        "x-euc-jp": "EUC-JP", "csiso2022jp": "ISO-2022-JP", "ms_kanji": "Shift_JIS", "ks_c_5601-1987": "EUC-KR",
        "hz-gb-2312": "replacement", "unicodefffe": "UTF-16BE", "ucs-2": "UTF-16LE", "x-user-defined": "x-user-defined",
    ]

    @Test(arguments: labels.keys.sorted()) func labelsAreMappedToEncodings(label: String) {
        #expect(TextEncoding(label: label)?.name == Self.labels[label])
    }

    @Test(arguments: [" UTF-8\t", "\n\u{0C}Utf8\r", "UTF-8"]) func caseAndWhiteSpaceAreIgnored(label: String) {
        #expect(TextEncoding(label: label) == .utf8)
    }

    /// The lowercase form of a Kelvin sign is k, but labels compare only ASCII letters. U+00A0 isn't white space here.
    @Test(arguments: ["", " ", "martian", "utf-7", "\u{212A}oi8-r", "utf-8\0", "\u{A0}utf-8", "utf 8"])
    func otherLabelsAreUnknown(label: String) {
        #expect(TextEncoding(label: label) == nil)
    }

    @Test func encodingNamesAreUnique() {
        #expect(Set(TextEncoding.all.map(\.name)).count == TextEncoding.all.count)
        #expect(Set(Self.labels.values).isSubset(of: TextEncoding.all.map(\.name)))
        #expect(TextEncoding.all.count == Self.labels.count + 4)
        #expect("\(TextEncoding.shiftJIS)" == "Shift_JIS")
    }

    @Test func utf32IsSupportedBeyondTheStandard() {
        #expect(TextEncoding(label: "UTF-32") == .utf32BigEndian)
        #expect(TextEncoding(label: "utf-32le") == .utf32LittleEndian)
    }

    @Test func foundationsEncodingsAreMapped() {
        for encoding in TextEncoding.all {
            guard let name = encoding.stringEncoding else { continue }
            #expect(TextEncoding(name) == encoding)
        }
        #expect(TextEncoding(.isoLatin1) == .isoLatin1)
        #expect(TextEncoding(.japaneseEUC) == .eucJP)
        #expect(TextEncoding(String.Encoding(rawValue: 0x8000_0632)) == .gb18030)
        #expect(TextEncoding(.utf16) == nil)
        #expect(TextEncoding(.nonLossyASCII) == nil)
    }

    /// Tests all labels if the folder in AFAR_ENCODING_DATA contains the standard's encodings.json.
    @Test(.enabled(if: folder != nil)) func everyLabelMatchesTheStandard() throws {
        struct Group: Decodable {
            struct Encoding: Decodable {
                let name: String
                let labels: [String]
            }

            let encodings: [Encoding]
        }
        let file = try #require(Self.folder).appending(path: "encodings.json")
        let encodings = try JSONDecoder().decode([Group].self, from: Data(contentsOf: file)).flatMap(\.encodings)
        #expect(encodings.flatMap(\.labels).count >= 228)
        for encoding in encodings {
            for label in encoding.labels { #expect(TextEncoding(label: label)?.name == encoding.name) }
        }
    }

    private static let folder = ProcessInfo.processInfo.environment["AFAR_ENCODING_DATA"].map { URL(filePath: $0) }
}

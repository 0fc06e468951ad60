public import Foundation

extension TextEncoding {
    /// The encoding that Foundation means; nil for those that only Foundation has, and for `.utf16` and `.utf32`, which
    /// leave the order of bytes open.
    public init?(_ encoding: String.Encoding) {
        guard let kind = Kind.allCases.first(where: { $0.stringEncoding == encoding }) else { return nil }
        self.init(kind)
    }

    /// Foundation's name for the encoding, whether or not Foundation can decode it here; nil where it has none.
    public var stringEncoding: String.Encoding? { kind.stringEncoding }
}

extension TextEncoding.Kind {
    fileprivate var stringEncoding: String.Encoding? {
        switch self {
        case .utf8: .utf8
        case .utf16BigEndian: .utf16BigEndian
        case .utf16LittleEndian: .utf16LittleEndian
        case .utf32BigEndian: .utf32BigEndian
        case .utf32LittleEndian: .utf32LittleEndian
        case .ascii: .ascii
        case .isoLatin1: .isoLatin1
        case .iso88592: .isoLatin2
        case .windows1250: .windowsCP1250
        case .windows1251: .windowsCP1251
        case .windows1252: .windowsCP1252
        case .windows1253: .windowsCP1253
        case .windows1254: .windowsCP1254
        case .macintosh: .macOSRoman
        case .eucJP: .japaneseEUC
        case .iso2022JP: .iso2022JP
        case .shiftJIS: .shiftJIS
        default: coreFoundationNumber.map { String.Encoding(rawValue: 0x8000_0000 | $0) }
        }
    }

    /// Core Foundation's number of the encoding, which Foundation takes for those that it has no name for.
    private var coreFoundationNumber: UInt? {
        switch self {
        case .xMacCyrillic: 0x0007
        case .iso88593: 0x0203
        case .iso88594: 0x0204
        case .iso88595: 0x0205
        case .iso88596: 0x0206
        case .iso88597: 0x0207
        case .iso88598: 0x0208
        case .iso885910: 0x020A
        case .iso885913: 0x020D
        case .iso885914: 0x020E
        case .iso885915: 0x020F
        case .iso885916: 0x0210
        case .ibm866: 0x0419
        case .windows874: 0x041D
        case .windows1255: 0x0505
        case .windows1256: 0x0506
        case .windows1257: 0x0507
        case .windows1258: 0x0508
        case .gbk: 0x0631
        case .gb18030: 0x0632
        case .eucKR: 0x0940
        case .koi8R: 0x0A02
        case .big5: 0x0A03
        case .koi8U: 0x0A08
        default: nil
        }
    }
}

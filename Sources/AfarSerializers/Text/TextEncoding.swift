import AfarCharsets
import AfarCore
public import Foundation

/// A text encoding. Afar supports all encodings of the Encoding Standard (https://encoding.spec.whatwg.org) and a few
/// others that servers use.
public struct TextEncoding: Sendable, Hashable, CustomStringConvertible {
    /// The name in the Encoding Standard, such as "windows-1252".
    public var name: String { kind.rawValue }
    /// The name of the encoding.
    public var description: String { name }
    let kind: Kind

    init(_ kind: Kind) {
        self.kind = kind
    }

    enum Kind: String, CaseIterable {
        case utf8 = "UTF-8"
        case ibm866 = "IBM866"
        case iso88592 = "ISO-8859-2"
        case iso88593 = "ISO-8859-3"
        case iso88594 = "ISO-8859-4"
        case iso88595 = "ISO-8859-5"
        case iso88596 = "ISO-8859-6"
        case iso88597 = "ISO-8859-7"
        case iso88598 = "ISO-8859-8"
        case iso88598I = "ISO-8859-8-I"
        case iso885910 = "ISO-8859-10"
        case iso885913 = "ISO-8859-13"
        case iso885914 = "ISO-8859-14"
        case iso885915 = "ISO-8859-15"
        case iso885916 = "ISO-8859-16"
        case koi8R = "KOI8-R"
        case koi8U = "KOI8-U"
        case macintosh = "macintosh"
        case windows874 = "windows-874"
        case windows1250 = "windows-1250"
        case windows1251 = "windows-1251"
        case windows1252 = "windows-1252"
        case windows1253 = "windows-1253"
        case windows1254 = "windows-1254"
        case windows1255 = "windows-1255"
        case windows1256 = "windows-1256"
        case windows1257 = "windows-1257"
        case windows1258 = "windows-1258"
        case xMacCyrillic = "x-mac-cyrillic"
        case gbk = "GBK"
        case gb18030 = "gb18030"
        case big5 = "Big5"
        case eucJP = "EUC-JP"
        case iso2022JP = "ISO-2022-JP"
        case shiftJIS = "Shift_JIS"
        case eucKR = "EUC-KR"
        case replacement = "replacement"
        case utf16BigEndian = "UTF-16BE"
        case utf16LittleEndian = "UTF-16LE"
        case xUserDefined = "x-user-defined"

        // Not part of the Encoding Standard.
        case utf32BigEndian = "UTF-32BE"
        case utf32LittleEndian = "UTF-32LE"
        case isoLatin1 = "ISO-8859-1"
        case ascii = "US-ASCII"
    }
}

extension TextEncoding {
    /// All supported encodings.
    public static let all = Kind.allCases.map(TextEncoding.init(_:))

    /// UTF-8.
    public static var utf8: TextEncoding { TextEncoding(.utf8) }
    /// UTF-16, little-endian. The label `utf-16` refers to this encoding.
    public static var utf16LittleEndian: TextEncoding { TextEncoding(.utf16LittleEndian) }
    /// UTF-16, big-endian.
    public static var utf16BigEndian: TextEncoding { TextEncoding(.utf16BigEndian) }
    /// UTF-32, little-endian. The Encoding Standard omits it, but some servers use it.
    public static var utf32LittleEndian: TextEncoding { TextEncoding(.utf32LittleEndian) }
    /// UTF-32, big-endian. The label `utf-32` refers to this encoding.
    public static var utf32BigEndian: TextEncoding { TextEncoding(.utf32BigEndian) }
    /// Western European. As in browsers, the labels `iso-8859-1`, `latin1` and `us-ascii` refer to this encoding.
    public static var windows1252: TextEncoding { TextEncoding(.windows1252) }
    /// Cyrillic.
    public static var windows1251: TextEncoding { TextEncoding(.windows1251) }
    /// ISO-8859-1 exactly: each byte is the code point with the same number. No label refers to this encoding.
    public static var isoLatin1: TextEncoding { TextEncoding(.isoLatin1) }
    /// ASCII exactly: bytes from 0x80 are malformed. No label refers to this encoding.
    public static var ascii: TextEncoding { TextEncoding(.ascii) }
    /// Japanese, with Windows extensions.
    public static var shiftJIS: TextEncoding { TextEncoding(.shiftJIS) }
    /// Japanese.
    public static var eucJP: TextEncoding { TextEncoding(.eucJP) }
    /// Japanese, 7-bit with escape sequences.
    public static var iso2022JP: TextEncoding { TextEncoding(.iso2022JP) }
    /// Simplified Chinese. It is decoded as gb18030.
    public static var gbk: TextEncoding { TextEncoding(.gbk) }
    /// Simplified Chinese and all of Unicode.
    public static var gb18030: TextEncoding { TextEncoding(.gb18030) }
    /// Traditional Chinese, with extensions for Hong Kong.
    public static var big5: TextEncoding { TextEncoding(.big5) }
    /// Korean, with Windows extensions.
    public static var eucKR: TextEncoding { TextEncoding(.eucKR) }
}

extension TextEncoding {
    /// Whether ASCII characters take more than one byte.
    var hasWideCodeUnits: Bool {
        [.utf16BigEndian, .utf16LittleEndian, .utf32BigEndian, .utf32LittleEndian].contains(self)
    }
}

extension TextEncoding {
    /// Creates the encoding for a label according to the Encoding Standard (section 4.2), as browsers do. Case and
    /// surrounding white space are ignored.
    ///
    /// The labels `utf-32`, `utf-32be` and `utf-32le` are also supported. The initializer returns `nil` for an unknown
    /// label.
    public init?(label: String) {
        let spaces: [UInt8] = [0x09, 0x0A, 0x0C, 0x0D, 0x20]
        guard let first = label.utf8.firstIndex(where: { !spaces.contains($0) }),
            let last = label.utf8.lastIndex(where: { !spaces.contains($0) }),
            let kind = Self.kinds[String(label[first...last]).asciiLowercased]
        else { return nil }
        self.init(kind)
    }

    private static let kinds: [String: Kind] = {
        var kinds: [String: Kind] = [
            "utf-32": .utf32BigEndian, "utf-32be": .utf32BigEndian, "utf-32le": .utf32LittleEndian,
        ]
        for line in EncodingLabels.lines.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard let name = words.first, let kind = Kind(rawValue: name) else { continue }
            for label in words.dropFirst() { kinds[label] = kind }
        }
        return kinds
    }()
}

extension TextEncoding {
    /// Creates the encoding for one of Foundation's encodings. The initializer returns `nil` for encodings that only
    /// Foundation supports, and for `.utf16` and `.utf32`, which don't specify a byte order.
    public init?(_ encoding: String.Encoding) {
        guard let kind = Kind.allCases.first(where: { $0.stringEncoding == encoding }) else { return nil }
        self.init(kind)
    }

    /// The corresponding Foundation encoding, or `nil` if Foundation has no name for it. The result doesn't depend on
    /// whether Foundation can decode the encoding on this platform.
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

    /// The Core Foundation number of an encoding that has no name in Foundation. Foundation accepts the number instead.
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

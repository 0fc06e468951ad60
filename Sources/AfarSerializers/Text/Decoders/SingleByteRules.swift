import AfarCharsets

/// Rules for encodings with single-byte characters (Encoding Standard, section 9.1).
struct SingleByteRules: DecodingRules {
    let isReadyForASCII = true
    /// The code points of the bytes from 0x80, or 0 for invalid bytes.
    private let upperHalf: [UInt32]

    init(_ upperHalf: [UInt32]) {
        self.upperHalf = upperHalf
    }

    func take(_ byte: UInt8) -> DecodingStep {
        guard byte >= 0x80 else { return .scalar(UInt32(byte)) }
        let scalar = upperHalf[Int(byte & 0x7F)]
        return scalar == 0 ? .malformed : .scalar(scalar)
    }

    func end() -> DecodingStep? { nil }
}

extension TextEncoding {
    /// The code points of the bytes from 0x80 in a single-byte encoding, or 0 for invalid bytes.
    var upperHalf: [UInt32] {
        switch kind {
        case .isoLatin1: Array(0x80...0xFF)
        // Encoding Standard, section 14.5.
        case .xUserDefined: Array(0xF780...0xF7FF)
        default: (0..<128).map { index?[$0] ?? 0 }
        }
    }

    private var index: CodePointTable? {
        switch kind {
        case .ibm866: .ibm866
        case .iso88592: .iso88592
        case .iso88593: .iso88593
        case .iso88594: .iso88594
        case .iso88595: .iso88595
        case .iso88596: .iso88596
        case .iso88597: .iso88597
        case .iso88598, .iso88598I: .iso88598
        case .iso885910: .iso885910
        case .iso885913: .iso885913
        case .iso885914: .iso885914
        case .iso885915: .iso885915
        case .iso885916: .iso885916
        case .koi8R: .koi8R
        case .koi8U: .koi8U
        case .macintosh: .macintosh
        case .windows874: .windows874
        case .windows1250: .windows1250
        case .windows1251: .windows1251
        case .windows1252: .windows1252
        case .windows1253: .windows1253
        case .windows1254: .windows1254
        case .windows1255: .windows1255
        case .windows1256: .windows1256
        case .windows1257: .windows1257
        case .windows1258: .windows1258
        case .xMacCyrillic: .xMacCyrillic
        default: nil
        }
    }
}

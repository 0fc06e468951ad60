import AfarCharsets

/// EUC-JP (Encoding Standard, section 12.1.1).
struct EUCJPRules: DecodingRules {
    private let jis0208 = CodePointTable.jis0208
    private let jis0212 = CodePointTable.jis0212
    private var lead: UInt8?
    private var isJIS0212 = false

    var isReadyForASCII: Bool { lead == nil }

    mutating func take(_ byte: UInt8) -> DecodingStep {
        guard let lead else {
            switch byte {
            case ..<0x80: return .scalar(UInt32(byte))
            case 0x8E, 0x8F, 0xA1...0xFE:
                lead = byte
                return .more
            default: return .malformed
            }
        }
        if lead == 0x8E, (0xA1...0xDF).contains(byte) {
            self.lead = nil
            return .scalar(0xFF61 - 0xA1 + UInt32(byte))
        }
        if lead == 0x8F, (0xA1...0xFE).contains(byte) {
            self.lead = byte
            isJIS0212 = true
            return .more
        }
        let table = isJIS0212 ? jis0212 : jis0208
        self.lead = nil
        isJIS0212 = false
        guard (0xA1...0xFE).contains(lead), (0xA1...0xFE).contains(byte) else {
            return .scalar(0, orMalformedBefore: byte)
        }
        return .scalar(table[(Int(lead) - 0xA1) * 94 + Int(byte) - 0xA1], orMalformedBefore: byte)
    }

    mutating func end() -> DecodingStep? {
        guard lead != nil else { return nil }
        lead = nil
        isJIS0212 = false
        return .malformed
    }
}

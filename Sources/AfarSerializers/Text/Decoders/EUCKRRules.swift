import AfarCharsets

/// EUC-KR (Encoding Standard, section 13.1.1).
struct EUCKRRules: DecodingRules {
    private let table = CodePointTable.eucKr
    private var lead: UInt8?

    var isReadyForASCII: Bool { lead == nil }

    mutating func take(_ byte: UInt8) -> DecodingStep {
        guard let lead else {
            switch byte {
            case ..<0x80: return .scalar(UInt32(byte))
            case 0x81...0xFE:
                lead = byte
                return .more
            default: return .malformed
            }
        }
        self.lead = nil
        guard (0x41...0xFE).contains(byte) else { return .scalar(0, orMalformedBefore: byte) }
        let pointer = (Int(lead) - 0x81) * 190 + Int(byte) - 0x41
        return .scalar(table[pointer], orMalformedBefore: byte)
    }

    mutating func end() -> DecodingStep? {
        guard lead != nil else { return nil }
        lead = nil
        return .malformed
    }
}

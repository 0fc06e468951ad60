import AfarCharsets

/// Big5 (Encoding Standard, section 11.1.1).
struct Big5Rules: DecodingRules {
    private let table = CodePointTable.big5
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
        guard (0x40...0x7E).contains(byte) || (0xA1...0xFE).contains(byte) else {
            return .scalar(0, orMalformedBefore: byte)
        }
        let pointer = (Int(lead) - 0x81) * 157 + Int(byte) - (byte < 0x7F ? 0x40 : 0x62)
        switch pointer {
        case 1133: return .scalars(0xCA, 0x304)
        case 1135: return .scalars(0xCA, 0x30C)
        case 1164: return .scalars(0xEA, 0x304)
        case 1166: return .scalars(0xEA, 0x30C)
        default: return .scalar(table[pointer], orMalformedBefore: byte)
        }
    }

    mutating func end() -> DecodingStep? {
        guard lead != nil else { return nil }
        lead = nil
        return .malformed
    }
}

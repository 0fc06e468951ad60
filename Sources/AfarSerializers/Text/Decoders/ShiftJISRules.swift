import AfarCharsets

/// Shift_JIS (Encoding Standard, section 12.3.1).
struct ShiftJISRules: DecodingRules {
    private let table = CodePointTable.jis0208
    private var lead: UInt8?

    var isReadyForASCII: Bool { lead == nil }

    mutating func take(_ byte: UInt8) -> DecodingStep {
        guard let lead else {
            switch byte {
            case ...0x80: return .scalar(UInt32(byte))
            case 0xA1...0xDF: return .scalar(0xFF61 - 0xA1 + UInt32(byte))
            case 0x81...0x9F, 0xE0...0xFC:
                lead = byte
                return .more
            default: return .malformed
            }
        }
        self.lead = nil
        guard (0x40...0x7E).contains(byte) || (0x80...0xFC).contains(byte) else {
            return .scalar(0, orMalformedBefore: byte)
        }
        let row = Int(lead) - (lead < 0xA0 ? 0x81 : 0xC1)
        let pointer = row * 188 + Int(byte) - (byte < 0x7F ? 0x40 : 0x41)
        // Windows' characters of the user's own.
        if (8836...10715).contains(pointer) { return .scalar(0xE000 - 8836 + UInt32(pointer)) }
        return .scalar(table[pointer], orMalformedBefore: byte)
    }

    mutating func end() -> DecodingStep? {
        guard lead != nil else { return nil }
        lead = nil
        return .malformed
    }
}

/// UTF-16 (Encoding Standard, section 14.2).
struct UTF16Rules: DecodingRules {
    let isReadyForASCII = false
    private let isBigEndian: Bool
    private var firstByte: UInt8?
    private var leadSurrogate: UInt32?

    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
    }

    mutating func take(_ byte: UInt8) -> DecodingStep {
        guard let first = firstByte else {
            firstByte = byte
            return .more
        }
        firstByte = nil
        let unit = isBigEndian ? UInt32(first) << 8 | UInt32(byte) : UInt32(byte) << 8 | UInt32(first)
        if let lead = leadSurrogate {
            leadSurrogate = nil
            guard unit & 0xFC00 == 0xDC00 else { return .malformedBeforeTwo(first, byte) }
            return .scalar(0x10000 + (lead & 0x3FF) << 10 + unit & 0x3FF)
        }
        switch unit & 0xFC00 {
        case 0xD800:
            leadSurrogate = unit
            return .more
        case 0xDC00: return .malformed
        default: return .scalar(unit)
        }
    }

    mutating func end() -> DecodingStep? {
        guard firstByte != nil || leadSurrogate != nil else { return nil }
        firstByte = nil
        leadSurrogate = nil
        return .malformed
    }
}

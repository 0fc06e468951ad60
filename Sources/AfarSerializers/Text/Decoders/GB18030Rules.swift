import AfarCharsets

/// gb18030, and GBK, which is decoded alike (Encoding Standard, sections 10.1.1 and 10.2.1).
struct GB18030Rules: DecodingRules {
    private let table = CodePointTable.gb18030
    private let ranges = CodePointTable.gb18030Ranges
    private var first: UInt8?
    private var second: UInt8?
    private var third: UInt8?

    var isReadyForASCII: Bool { first == nil }

    mutating func take(_ byte: UInt8) -> DecodingStep {
        guard let first else { return begin(with: byte) }
        guard let second else { return continueTwoBytes(first, byte) }
        guard let third else {
            if (0x81...0xFE).contains(byte) {
                third = byte
                return .more
            }
            forget()
            return .malformedBeforeTwo(second, byte)
        }
        forget()
        guard (0x30...0x39).contains(byte) else { return .malformedBeforeThree(second, third, byte) }
        let high = (Int(first) - 0x81) * 10 + Int(second) - 0x30
        let low = (Int(third) - 0x81) * 10 + Int(byte) - 0x30
        let codePoint = codePoint(at: high * 1260 + low)
        return codePoint == 0 ? .malformed : .scalar(codePoint)
    }

    mutating func end() -> DecodingStep? {
        guard first != nil else { return nil }
        forget()
        return .malformed
    }

    private mutating func begin(with byte: UInt8) -> DecodingStep {
        switch byte {
        case ..<0x80: return .scalar(UInt32(byte))
        case 0x80: return .scalar(0x20AC)
        case 0x81...0xFE:
            first = byte
            return .more
        default: return .malformed
        }
    }

    private mutating func continueTwoBytes(_ first: UInt8, _ byte: UInt8) -> DecodingStep {
        if (0x30...0x39).contains(byte) {
            second = byte
            return .more
        }
        forget()
        guard (0x40...0x7E).contains(byte) || (0x80...0xFE).contains(byte) else {
            return .scalar(0, orMalformedBefore: byte)
        }
        let pointer = (Int(first) - 0x81) * 190 + Int(byte) - (byte < 0x7F ? 0x40 : 0x41)
        return .scalar(table[pointer], orMalformedBefore: byte)
    }

    private mutating func forget() {
        first = nil
        second = nil
        third = nil
    }

    /// The code point of a character of four bytes (Encoding Standard, section 5, "index gb18030 ranges code point").
    private func codePoint(at pointer: Int) -> UInt32 {
        if pointer > 39419 && pointer < 189_000 || pointer > 1_237_575 { return 0 }
        if pointer == 7457 { return 0xE7C7 }
        var low = 0
        var high = ranges.count / 2
        while high - low > 1 {
            let middle = (low + high) / 2
            if Int(ranges[2 * middle]) <= pointer { low = middle } else { high = middle }
        }
        return ranges[2 * low + 1] + UInt32(pointer) - ranges[2 * low]
    }
}

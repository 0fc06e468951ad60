import AfarCharsets

// MARK: - Chinese

/// gb18030 and GBK, which have the same decoder (Encoding Standard, sections 10.1.1 and 10.2.1).
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

    /// Returns the code point of a four-byte character (Encoding Standard, section 5, "index gb18030 ranges code
    /// point").
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

// MARK: - Japanese

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

/// ISO-2022-JP (Encoding Standard, section 12.2.1).
struct ISO2022JPRules: DecodingRules {
    private enum State {
        case ascii, roman, katakana, leadByte, trailByte, escapeStart, escape
    }

    let isReadyForASCII = false
    private let table = CodePointTable.jis0208
    private var state = State.ascii
    /// The state to return to after an invalid escape sequence.
    private var outputState = State.ascii
    private var lead: UInt8 = 0
    /// Whether the previous item was an escape sequence. A second sequence makes the first one malformed.
    private var hasJustSwitched = false

    mutating func take(_ byte: UInt8) -> DecodingStep {
        switch state {
        case .escapeStart: return continueEscape(byte)
        case .escape: return endEscape(byte)
        case .trailByte: return endPair(byte)
        case .ascii, .roman, .katakana, .leadByte: break
        }
        if byte == 0x1B {
            state = .escapeStart
            return .more
        }
        hasJustSwitched = false
        switch (state, byte) {
        case (.katakana, 0x21...0x5F): return .scalar(0xFF61 - 0x21 + UInt32(byte))
        case (.leadByte, 0x21...0x7E):
            lead = byte
            state = .trailByte
            return .more
        case (.katakana, _), (.leadByte, _), (_, 0x0E), (_, 0x0F), (_, 0x80...): return .malformed
        case (.roman, 0x5C): return .scalar(0xA5)
        case (.roman, 0x7E): return .scalar(0x203E)
        default: return .scalar(UInt32(byte))
        }
    }

    mutating func end() -> DecodingStep? {
        switch state {
        case .ascii, .roman, .katakana, .leadByte:
            return nil
        case .trailByte:
            state = .leadByte
            return .malformed
        case .escapeStart:
            state = outputState
            return .malformed
        case .escape:
            state = outputState
            return .malformedBefore(lead)
        }
    }

    private mutating func endPair(_ byte: UInt8) -> DecodingStep {
        if byte == 0x1B {
            state = .escapeStart
            return .malformed
        }
        state = .leadByte
        guard (0x21...0x7E).contains(byte) else { return .malformed }
        let codePoint = table[(Int(lead) - 0x21) * 94 + Int(byte) - 0x21]
        return codePoint == 0 ? .malformed : .scalar(codePoint)
    }

    private mutating func continueEscape(_ byte: UInt8) -> DecodingStep {
        if byte == 0x24 || byte == 0x28 {
            lead = byte
            state = .escape
            return .more
        }
        hasJustSwitched = false
        state = outputState
        return .malformedBefore(byte)
    }

    private mutating func endEscape(_ byte: UInt8) -> DecodingStep {
        let next: State? =
            switch (lead, byte) {
            case (0x28, 0x42): .ascii
            case (0x28, 0x4A): .roman
            case (0x28, 0x49): .katakana
            case (0x24, 0x40), (0x24, 0x42): .leadByte
            default: nil
            }
        guard let next else {
            hasJustSwitched = false
            state = outputState
            return .malformedBeforeTwo(lead, byte)
        }
        state = next
        outputState = next
        defer { hasJustSwitched = true }
        return hasJustSwitched ? .malformed : .nothing
    }
}

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
        // Windows' user-defined characters.
        if (8836...10715).contains(pointer) { return .scalar(0xE000 - 8836 + UInt32(pointer)) }
        return .scalar(table[pointer], orMalformedBefore: byte)
    }

    mutating func end() -> DecodingStep? {
        guard lead != nil else { return nil }
        lead = nil
        return .malformed
    }
}

// MARK: - Korean

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

// MARK: - Unsupported encodings

/// The encodings that aren't decoded because they can hide content. Any input becomes a single U+FFFD (Encoding
/// Standard, section 14.1).
struct ReplacementRules: DecodingRules {
    let isReadyForASCII = false
    private var hasBegun = false

    mutating func take(_ byte: UInt8) -> DecodingStep {
        defer { hasBegun = true }
        return hasBegun ? .more : .malformed
    }

    func end() -> DecodingStep? { nil }
}

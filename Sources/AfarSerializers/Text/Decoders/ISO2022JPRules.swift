import AfarCharsets

/// ISO-2022-JP (Encoding Standard, section 12.2.1).
struct ISO2022JPRules: DecodingRules {
    private enum State {
        case ascii, roman, katakana, leadByte, trailByte, escapeStart, escape
    }

    let isReadyForASCII = false
    private let table = CodePointTable.jis0208
    private var state = State.ascii
    /// The state to go back to after an escape sequence that means nothing.
    private var outputState = State.ascii
    private var lead: UInt8 = 0
    /// Whether an escape sequence was the last thing that came. A second one makes the first malformed.
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

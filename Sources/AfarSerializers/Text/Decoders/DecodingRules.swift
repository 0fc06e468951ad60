/// How an encoding reads bytes, one after the other: the Encoding Standard's "decoder".
protocol DecodingRules: Sendable {
    /// Whether the next byte begins a character and stands for itself if it is ASCII.
    var isReadyForASCII: Bool { get }

    /// Takes a byte.
    mutating func take(_ byte: UInt8) -> DecodingStep

    /// Called at the end, repeatedly until it returns nil.
    mutating func end() -> DecodingStep?
}

/// What a byte has led to.
enum DecodingStep {
    /// The character needs more bytes.
    case more
    /// What was taken is whole, and stands for no character.
    case nothing
    case scalar(UInt32)
    case scalars(UInt32, UInt32)
    /// What was taken since the last character is malformed.
    case malformed
    /// The same, but these bytes, the last that were taken, are to be taken again.
    case malformedBefore(UInt8)
    case malformedBeforeTwo(UInt8, UInt8)
    case malformedBeforeThree(UInt8, UInt8, UInt8)

    /// The step that a code point of an index means, where a malformed pair gives back its second byte if that is ASCII.
    static func scalar(_ codePoint: UInt32, orMalformedBefore byte: UInt8) -> DecodingStep {
        if codePoint != 0 { return .scalar(codePoint) }
        return byte < 0x80 ? .malformedBefore(byte) : .malformed
    }
}

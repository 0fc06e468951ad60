/// The encodings that are not to be decoded, because they can hide what is in a text: whatever the bytes, one U+FFFD
/// (Encoding Standard, section 14.1).
struct ReplacementRules: DecodingRules {
    let isReadyForASCII = false
    private var hasBegun = false

    mutating func take(_ byte: UInt8) -> DecodingStep {
        defer { hasBegun = true }
        return hasBegun ? .more : .malformed
    }

    func end() -> DecodingStep? { nil }
}

/// UTF-32 (the Unicode Standard, section 3.10).
struct UTF32Rules: DecodingRules {
    let isReadyForASCII = false
    private let isBigEndian: Bool
    private var bits: UInt32 = 0
    private var count = 0

    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
    }

    mutating func take(_ byte: UInt8) -> DecodingStep {
        bits = bits << 8 | UInt32(byte)
        count += 1
        guard count == 4 else { return .more }
        let scalar = Unicode.Scalar(isBigEndian ? bits : bits.byteSwapped)
        bits = 0
        count = 0
        return scalar.map { .scalar($0.value) } ?? .malformed
    }

    mutating func end() -> DecodingStep? {
        guard count > 0 else { return nil }
        count = 0
        return .malformed
    }
}

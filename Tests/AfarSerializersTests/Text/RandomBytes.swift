/// Generates bytes that often resemble text. The sequence is the same in every run.
struct RandomBytes: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    /// Returns four letters and up to 39 bytes: ASCII, digits, parts of escape sequences, and mostly bytes from 0x80.
    mutating func text() -> [UInt8] {
        let count = Int((next() >> 32) % 40)
        return Array("AAAA".utf8)
            + (0..<count).map { _ in
                let number = next() >> 16
                let pick = number >> 8
                return switch number % 8 {
                case 0: UInt8(pick % 128)
                case 1: 0x30 + UInt8(pick % 10)
                case 2: 0x1B
                case 3: Array("($BJI@".utf8)[Int(pick % 6)]
                default: 0x80 + UInt8(pick % 128)
                }
            }
    }
}

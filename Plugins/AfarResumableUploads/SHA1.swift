import Foundation

/// SHA-1 (FIPS 180-4), which all tus servers with checksums support. It detects damaged bytes, not deliberate changes.
struct SHA1 {
    private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
        0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0
    )
    private var rest: [UInt8] = []
    private var count: UInt64 = 0
    private var words = [UInt32](repeating: 0, count: 80)

    mutating func update(_ data: some DataProtocol) {
        count += UInt64(data.count)
        rest.append(contentsOf: data)
        processBlocks()
    }

    mutating func finish() -> Data {
        let bitCount = count &* 8
        rest.append(0x80)
        while rest.count % 64 != 56 { rest.append(0) }
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            rest.append(UInt8(truncatingIfNeeded: bitCount >> shift))
        }
        processBlocks()
        var digest = Data()
        for word in [state.0, state.1, state.2, state.3, state.4] {
            for shift in stride(from: UInt32(24), through: 0, by: -8) {
                digest.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return digest
    }

    private mutating func processBlocks() {
        let blockCount = rest.count / 64
        guard blockCount > 0 else { return }
        rest.withUnsafeBufferPointer { bytes in
            for block in 0..<blockCount { Self.process(bytes, at: block * 64, &words, &state) }
        }
        rest.removeFirst(blockCount * 64)
    }

    private static func process(
        _ bytes: UnsafeBufferPointer<UInt8>, at start: Int, _ words: inout [UInt32],
        _ state: inout (UInt32, UInt32, UInt32, UInt32, UInt32)
    ) {
        func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
        for index in 0..<16 {
            let byte = start + 4 * index
            words[index] =
                UInt32(bytes[byte]) << 24 | UInt32(bytes[byte + 1]) << 16 | UInt32(bytes[byte + 2]) << 8
                | UInt32(bytes[byte + 3])
        }
        for index in 16..<80 {
            words[index] = rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1)
        }
        var (a, b, c, d, e) = state
        for index in 0..<80 {
            let (mix, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotated(a, 5) &+ mix &+ e &+ constant &+ words[index]
            (a, b, c, d, e) = (next, a, rotated(b, 30), c, d)
        }
        state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
    }
}

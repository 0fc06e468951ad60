import Foundation

/// The SHA-1 hash (FIPS 180-4). It is broken for signatures and stands here for the handshake of WebSockets only, which
/// asks for it.
package struct SHA1: HashFunction {
    typealias State = (UInt32, UInt32, UInt32, UInt32, UInt32)

    static let isBigEndian = true

    var blocks = HashBlocks()
    var state: State = (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0)

    init() {}

    /// The hash of a text's UTF-8.
    package static func digest(of text: String) -> [UInt8] {
        hash(of: text)
    }

    static func words(of state: State) -> [UInt32] { [state.0, state.1, state.2, state.3, state.4] }

    static func process(
        _ block: UnsafeRawBufferPointer, into state: inout State
    ) {
        var words = (0..<16).map { UInt32(bigEndian: block.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self)) }
        for index in 16..<80 {
            words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1))
        }
        var (a, b, c, d, e) = state
        for index in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch index / 20 {
                case 0: ((b & c) | (~b & d), 0x5A82_7999)
                case 1: (b ^ c ^ d, 0x6ED9_EBA1)
                case 2: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotated(a, by: 5) &+ mixed &+ e &+ constant &+ words[index]
            (e, d, c, b, a) = (d, c, rotated(b, by: 30), a, next)
        }
        state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}

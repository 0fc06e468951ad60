import Foundation

/// The MD5 hash (RFC 1321). It is broken for signatures and stands here for Digest authentication only, where servers ask
/// for it.
struct MD5: HashFunction {
    typealias State = (UInt32, UInt32, UInt32, UInt32)

    static let isBigEndian = false

    var blocks = HashBlocks()
    var state: State = (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476)

    /// RFC 1321, section 3.4: the integer parts of 2³² times the sines of 1 to 64.
    private static let sines: [UInt32] = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }
    /// By how much each of the four rounds rotates, in its four kinds of steps.
    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    static func words(of state: State) -> [UInt32] { [state.0, state.1, state.2, state.3] }

    static func process(
        _ block: UnsafeRawBufferPointer, into state: inout State
    ) {
        var (a, b, c, d) = state
        for step in 0..<64 {
            let (mixed, index) =
                switch step / 16 {
                case 0: ((b & c) | (~b & d), step)
                case 1: ((b & d) | (c & ~d), (5 * step + 1) % 16)
                case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                default: (c ^ (b | ~d), (7 * step) % 16)
                }
            let word = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
            let sum = a &+ mixed &+ sines[step] &+ word
            let shift = shifts[step / 16 * 4 + step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d)
    }
}

public import Foundation

/// The endless bytes of `/bytes/{n}?seed=S`, equal for equal seeds.
///
/// They are the outputs of SplitMix64 in little-endian order: the state starts at the seed and grows by
/// `9e3779b97f4a7c15` for each output, which is the state mixed by two rounds of xor-shift and multiplication.
public struct PseudoRandomBytes: Sendable {
    private var state: UInt64
    private var left: [UInt8] = []

    /// Starts the sequence of a seed.
    public init(seed: UInt64 = 0) {
        state = seed
    }

    /// The first bytes of a seed's sequence; none for a negative count.
    public static func bytes(_ count: Int, seed: UInt64 = 0) -> Data {
        var generator = PseudoRandomBytes(seed: seed)
        return generator.next(count)
    }

    /// The bytes at some offsets of a seed's sequence; there are none before 0.
    public static func bytes(_ range: Range<Int>, seed: UInt64 = 0) -> Data {
        let range = range.clamped(to: 0..<Int.max)
        let word = range.lowerBound / 8
        var generator = PseudoRandomBytes(seed: seed &+ UInt64(word) &* increment)
        return Data(generator.next(range.upperBound - word * 8).dropFirst(range.lowerBound - word * 8))
    }

    /// The next bytes, none for a negative count; how the sequence is cut into calls does not change it.
    public mutating func next(_ count: Int) -> Data {
        let count = max(0, count)
        var data = Data(left.prefix(count))
        left.removeFirst(data.count)
        let words = (count - data.count + 7) / 8
        var fresh = [UInt64](repeating: 0, count: words)
        for index in fresh.indices { fresh[index] = nextWord().littleEndian }
        fresh.withUnsafeBytes { bytes in
            let taken = count - data.count
            data.append(contentsOf: bytes.prefix(taken))
            left += bytes.dropFirst(taken)
        }
        return data
    }

    private static let increment: UInt64 = 0x9e37_79b9_7f4a_7c15

    private mutating func nextWord() -> UInt64 {
        state &+= Self.increment
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}

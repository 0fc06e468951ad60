import Foundation

/// A pseudorandom number generator with a fixed sequence (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Creates a generator.
    ///
    /// - Parameters:
    ///   - seed: The seed.
    ///   - bytes: Additional bytes that the sequence depends on.
    init(seed: UInt64, _ bytes: some Sequence<UInt8>) {
        // FNV-1a.
        state = bytes.reduce(0xCBF2_9CE4_8422_2325 ^ seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Returns a number below a bound, which must be at least 1.
    mutating func number(below bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Returns `true` with a probability of 1 in `number`.
    mutating func isOne(in number: Int) -> Bool { self.number(below: number) == 0 }

    /// Returns a random element, or `nil` if the array is empty.
    mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[number(below: elements.count)]
    }

    /// Splits the bytes at random positions.
    mutating func chunks(of bytes: Data) -> [Data] {
        var chunks: [Data] = []
        var rest = bytes
        while !rest.isEmpty {
            let length = isOne(in: 3) ? 1 : 1 + number(below: rest.count)
            // Either a copy, whose indices begin at 0, or a slice, whose indices don't.
            chunks.append(isOne(in: 2) ? Data(rest.prefix(length)) : rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return chunks
    }
}

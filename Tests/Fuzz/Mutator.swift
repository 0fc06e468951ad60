import Foundation

/// Creates inputs from a subject's seeds by changing, removing, repeating and mixing their bytes.
struct Mutator {
    /// The maximum length of an input.
    static let maximumLength = 1 << 14

    private let seeds: [[UInt8]]
    private let tokens: [[UInt8]]

    init(_ subject: Subject) {
        seeds = subject.seeds.map { [UInt8]($0) }
        tokens = subject.tokens.map { Array($0.utf8) }
    }

    /// Returns a seed with one or a few changes, rarely with many. One in 50 inputs is an unchanged seed.
    func input(_ random: inout SeededGenerator) -> Data {
        var bytes = random.pick(seeds) ?? []
        guard !random.isOne(in: 50) else { return Data(bytes) }
        for _ in 0...random.number(below: random.isOne(in: 4) ? 8 : 2) { change(&bytes, &random) }
        return Data(bytes.prefix(Self.maximumLength))
    }

    private func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let place = random.number(below: bytes.count + 1)
        let range = place..<min(bytes.count, place + 1 + random.number(below: random.isOne(in: 4) ? 64 : 6))
        switch random.number(below: 12) {
        case 0: bytes.insert(UInt8(random.number(below: 256)), at: place)
        case 1 where place < bytes.count: bytes[place] = UInt8(random.number(below: 256))
        case 2 where place < bytes.count: bytes[place] ^= 1 << random.number(below: 8)
        case 3 where place < bytes.count: bytes[place] = random.pick(Self.remarkableBytes) ?? 0
        case 4: bytes.removeSubrange(range)
        case 5: bytes.insert(contentsOf: bytes[range], at: random.number(below: bytes.count + 1))
        case 6 where random.isOne(in: 4): bytes.removeSubrange(place...)
        case 7: repeatPiece(Array(bytes[range]), in: &bytes, at: place, &random)
        case 8: mix(&bytes, at: place, &random)
        case 9 where random.isOne(in: 4): repeatPiece(random.pick(tokens) ?? [], in: &bytes, at: place, &random)
        default: bytes.insert(contentsOf: random.pick(tokens) ?? [], at: place)
        }
    }

    /// Repeats a piece, which creates deep nesting and long runs.
    private func repeatPiece(
        _ piece: [UInt8], in bytes: inout [UInt8], at place: Int, _ random: inout SeededGenerator
    ) {
        let most = random.pick([3, 30, 600, 6_000]) ?? 0
        let count = min(random.number(below: most), Self.maximumLength / max(1, piece.count))
        bytes.insert(contentsOf: repeatElement(piece, count: count).joined(), at: place)
    }

    /// Replaces the rest of the bytes with the end of a seed.
    private func mix(_ bytes: inout [UInt8], at place: Int, _ random: inout SeededGenerator) {
        let other = random.pick(seeds) ?? []
        bytes.replaceSubrange(place..., with: other.dropFirst(random.number(below: other.count + 1)))
    }

    private static let remarkableBytes: [UInt8] = [
        0, 1, 0x09, 0x0A, 0x0D, 0x1B, 0x1E, 0x20, 0x22, 0x26, 0x2D, 0x30, 0x39, 0x3C, 0x3E, 0x5B, 0x5D, 0x7F, 0x80,
        0x81,
        0xA0, 0xC0, 0xD8, 0xED, 0xEF, 0xF4, 0xFE, 0xFF,
    ]
}

import Foundation
import Testing

@testable import AfarTestServer

struct PayloadsTests {
    @Test func pseudoRandomBytesMatchSplitMix64() {
        // The first outputs of the reference implementation for seed 0.
        let expected: [UInt64] = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]
        let bytes = expected.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) } }
        #expect(PseudoRandomBytes.bytes(16) == Data(bytes))
    }

    @Test func pseudoRandomBytesDoNotDependOnTheCalls() {
        var generator = PseudoRandomBytes(seed: 7)
        let parts = [1, 0, 3, 8, 5, 30].map { generator.next($0) }
        #expect(parts.map(\.count) == [1, 0, 3, 8, 5, 30])
        #expect(Data(parts.joined()) == PseudoRandomBytes.bytes(47, seed: 7))
        #expect(PseudoRandomBytes.bytes(47, seed: 8) != PseudoRandomBytes.bytes(47, seed: 7))
    }

    @Test func patternBytesRepeatTheAlphabet() {
        let whole = PatternBytes.bytes(200_000)
        #expect(whole.prefix(27) == Data("abcdefghijklmnopqrstuvwxyza".utf8))
        #expect(PatternBytes.bytes(65_510..<140_000) == whole[65_510..<140_000])
        #expect(PatternBytes.bytes(0).isEmpty)
    }

    @Test(arguments: [-1, Int.min]) func noBytesPrecedeTheFirst(count: Int) {
        #expect(PatternBytes.bytes(count).isEmpty)
        #expect(PseudoRandomBytes.bytes(count).isEmpty)
        #expect(PatternBytes.bytes(count..<3) == Data("abc".utf8))
        #expect(PseudoRandomBytes.bytes(count..<3) == PseudoRandomBytes.bytes(3))
        #expect(PatternBytes.bytes(count..<count).isEmpty)
        var generator = PseudoRandomBytes()
        #expect(generator.next(count).isEmpty)
        #expect(generator.next(3) == PseudoRandomBytes.bytes(3))
    }

    @Test func bodyChecksumDoesNotDependOnTheCalls() {
        let bytes = PseudoRandomBytes.bytes(100)
        var checksum = BodyChecksum()
        for part in [0..<3, 3..<4, 4..<29, 29..<29, 29..<100] { checksum.update(bytes[part]) }
        #expect(checksum.hex == BodyChecksum(bytes).hex)
        #expect(checksum.count == 100)
        #expect(BodyChecksum().hex == "cbf29ce484222325")
        // One word: (basis ^ 0x61) × prime.
        #expect(BodyChecksum(Data("a".utf8)).hex == "af63dc4c8601ec8c")
    }

    @Test func checksumsHaveTheirKnownValues() {
        #expect(Checksums.crc32("123456789".utf8) == 0xcbf4_3926)
        #expect(Checksums.adler32("Wikipedia".utf8) == 0x11e6_0398)
        for count in [0, 1, 7, 300] {
            #expect(Checksums.crc32(zeros: count) == Checksums.crc32(repeatElement(0, count: count)))
        }
    }
}

import Foundation

/// Zeros in the zlib format (RFC 1950, RFC 1951), at the format's maximum ratio: 1,032 zeros per byte.
enum DeflatedZeros {
    /// Returns compressed data with 1 + `runs` × 258 zeros.
    static func data(runs: Int) -> Data {
        var bits = Bits(bytes: [0x78, 0xDA])
        bits.append(1, count: 1)
        bits.append(2, count: 2)
        // 286 literal/length codes, 1 distance code, 18 code length codes.
        bits.append(29, count: 5)
        bits.append(0, count: 5)
        bits.append(14, count: 4)
        // Lengths for 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1: 1 bit for 18, 2 bits for 2 and 1.
        for length: UInt32 in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2] { bits.append(length, count: 3) }
        let (zeros, one, two): ([Bool], [Bool], [Bool]) = ([false], [true, false], [true, true])
        func skip(_ count: UInt32) {
            bits.append(code: zeros)
            bits.append(count - 11, count: 7)
        }
        // The literal 0 and the end have codes of 2 bits. The length 258 and the distance 1 have codes of 1 bit.
        bits.append(code: two)
        skip(138)
        skip(117)
        bits.append(code: two)
        skip(28)
        bits.append(code: one)
        bits.append(code: one)
        bits.append(code: [true, false])
        for _ in 0..<runs { bits.append(0, count: 2) }
        bits.append(code: [true, true])
        let count = UInt32((1 + runs * 258) % 65_521)
        return Data(bits.bytes) + withUnsafeBytes(of: (count << 16 | 1).bigEndian) { Data($0) }
    }

    private struct Bits {
        var bytes: [UInt8]
        private var used = 8

        init(bytes: [UInt8]) { self.bytes = bytes }

        mutating func append(_ value: UInt32, count: Int) {
            for bit in 0..<count { append(value >> bit & 1 == 1) }
        }

        mutating func append(code: [Bool]) {
            for bit in code { append(bit) }
        }

        private mutating func append(_ bit: Bool) {
            if used == 8 {
                bytes.append(0)
                used = 0
            }
            if bit { bytes[bytes.count - 1] |= 1 << used }
            used += 1
        }
    }
}

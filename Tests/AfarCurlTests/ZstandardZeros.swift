import Foundation

/// Zeros in Zstandard's format (RFC 8878): 32,768 of them in each byte.
enum ZstandardZeros {
    /// So many times 128 KiB.
    static func data(blocks: Int) -> Data {
        // The magic number, a frame without a length or checksum, a window of 128 KiB.
        var data = Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 7 << 3])
        for block in 1...blocks {
            let header = UInt32(128 * 1024) << 3 | 1 << 1 | (block == blocks ? 1 : 0)
            withUnsafeBytes(of: header.littleEndian) { data.append(contentsOf: $0.prefix(3)) }
            data.append(0)
        }
        return data
    }
}

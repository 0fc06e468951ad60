import Foundation

/// Zeros in the Zstandard format (RFC 8878): 32,768 zeros per byte.
enum ZstandardZeros {
    /// Returns compressed data with `blocks` × 128 KiB of zeros.
    static func data(blocks: Int) -> Data {
        // The magic number; a frame without length or checksum; a 128 KiB window.
        var data = Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 7 << 3])
        for block in 1...blocks {
            let header = UInt32(128 * 1024) << 3 | 1 << 1 | (block == blocks ? 1 : 0)
            withUnsafeBytes(of: header.littleEndian) { data.append(contentsOf: $0.prefix(3)) }
            data.append(0)
        }
        return data
    }
}

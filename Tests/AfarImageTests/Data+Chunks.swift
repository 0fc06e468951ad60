import Foundation
import Testing

extension Data {
    private static func bigEndian(_ value: Int) -> Data {
        Data((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) })
    }

    private static func littleEndian(_ value: Int) -> Data { Data(bigEndian(value).reversed()) }

    private static func pngChunk(_ kind: String, _ content: Data) -> Data {
        let body = Data(kind.utf8) + content
        return bigEndian(content.count) + body + bigEndian(Int(body.crc32))
    }

    /// Returns the PNG file with an additional chunk after its header.
    func insertingPNGChunk(_ kind: String, _ content: Data) -> Data {
        prefix(33) + Self.pngChunk(kind, content) + dropFirst(33)
    }

    /// Returns the PNG file with a different size in its header.
    func changingPNGHeader(width: Int, height: Int) throws -> Data {
        let header = Self.bigEndian(width) + Self.bigEndian(height) + self[24..<29]
        return prefix(8) + Self.pngChunk("IHDR", header) + dropFirst(33)
    }

    /// Returns the JPEG file with an additional segment at the beginning.
    func insertingJPEGSegment(_ code: UInt8, _ content: Data) -> Data {
        prefix(2) + [0xFF, code] + Self.bigEndian(content.count + 2).suffix(2) + content + dropFirst(2)
    }

    /// Converts a simple WebP file of 16 × 12 pixels to the extended format, with an additional chunk at the end.
    func appendingWebPChunk(_ kind: String, _ content: Data, flags: UInt8) -> Data {
        func chunk(_ kind: String, _ content: Data) -> Data {
            Data(kind.utf8) + Self.littleEndian(content.count) + content + Data(count: content.count % 2)
        }
        let header = Data([flags, 0, 0, 0, 15, 0, 0, 11, 0, 0])
        let chunks = Data("WEBP".utf8) + chunk("VP8X", header) + dropFirst(12) + chunk(kind, content)
        return Data("RIFF".utf8) + Self.littleEndian(chunks.count) + chunks
    }

    /// The CRC-32 according to ISO 3309, as used in PNG.
    private var crc32: UInt32 {
        var sum = UInt32.max
        for byte in self {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}

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

    /// The same PNG file with one more chunk behind its header.
    func insertingPNGChunk(_ kind: String, _ content: Data) -> Data {
        prefix(33) + Self.pngChunk(kind, content) + dropFirst(33)
    }

    /// The same PNG file with another size in its header.
    func changingPNGHeader(width: Int, height: Int) throws -> Data {
        let header = Self.bigEndian(width) + Self.bigEndian(height) + self[24..<29]
        return prefix(8) + Self.pngChunk("IHDR", header) + dropFirst(33)
    }

    /// The same JPEG file with one more segment at its beginning.
    func insertingJPEGSegment(_ code: UInt8, _ content: Data) -> Data {
        prefix(2) + [0xFF, code] + Self.bigEndian(content.count + 2).suffix(2) + content + dropFirst(2)
    }

    /// A simple WebP file as an extended one of 16 × 12 pixels that has another chunk at its end.
    func appendingWebPChunk(_ kind: String, _ content: Data, flags: UInt8) -> Data {
        func chunk(_ kind: String, _ content: Data) -> Data {
            Data(kind.utf8) + Self.littleEndian(content.count) + content + Data(count: content.count % 2)
        }
        let header = Data([flags, 0, 0, 0, 15, 0, 0, 11, 0, 0])
        let chunks = Data("WEBP".utf8) + chunk("VP8X", header) + dropFirst(12) + chunk(kind, content)
        return Data("RIFF".utf8) + Self.littleEndian(chunks.count) + chunks
    }

    /// ISO 3309, as PNG has it.
    private var crc32: UInt32 {
        var sum = UInt32.max
        for byte in self {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}

import Foundation

/// A small PNG image in one colour.
enum PNG {
    static func image(width: Int, height: Int, red: UInt8, green: UInt8, blue: UInt8) -> Data {
        let row = [0] + Array(repeatElement([red, green, blue], count: width).joined())
        let pixels = Array(repeatElement(row, count: height).joined())
        let header = bigEndian(width) + bigEndian(height) + [8, 2, 0, 0, 0]
        let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        return Data(signature + chunk("IHDR", header) + chunk("IDAT", Deflate.zlib(pixels)) + chunk("IEND", []))
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let content = Array(type.utf8) + data
        return bigEndian(data.count) + content + bigEndian(Int(Checksums.crc32(content)))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Array($0) }
    }
}

import AfarImage
import Foundation

/// A generated picture with the detail of a photograph: smooth areas, edges, and noise at several scales.
enum Photograph {
    static func image(width: Int, height: Int) throws -> Image {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * 4)
        for y in 0..<height {
            for x in 0..<width {
                let (u, v) = (Double(x) / Double(width), Double(y) / Double(height))
                // Hills under a sky; the rough ground fades out.
                let ridge = 0.45 + 0.08 * sin(u * 9) + 0.04 * sin(u * 31 + 2)
                let octaves = v < ridge ? 2 : 5
                var rough = 0.0
                for octave in 0..<octaves {
                    let size = 128 >> octave
                    rough += noise(x, y, size) / Double(1 << octave)
                }
                let base = v < ridge ? (140.0, 180.0, 230.0 - 60 * v) : (90.0, 120 - 40 * v, 60.0)
                let grain = Double(hash(x, y) & 31) - 15.5
                for channel in [base.0, base.1, base.2] {
                    bytes.append(UInt8(clamping: Int(channel + 50 * rough * (v < ridge ? 0.3 : 1) + grain)))
                }
                bytes.append(255)
            }
        }
        return try Image(width: width, height: height, premultipliedRGBA: bytes)
    }

    /// Returns value noise: random numbers from −1 to 1 at the corners of a grid, interpolated in between.
    private static func noise(_ x: Int, _ y: Int, _ size: Int) -> Double {
        let (column, row) = (x / size, y / size)
        let (fx, fy) = (Double(x % size) / Double(size), Double(y % size) / Double(size))
        let (sx, sy) = (fx * fx * (3 - 2 * fx), fy * fy * (3 - 2 * fy))
        func corner(_ dx: Int, _ dy: Int) -> Double {
            Double(hash(column + dx, row + dy + size * 7_919) & 0xFFFF) / 32_768 - 1
        }
        let top = corner(0, 0) * (1 - sx) + corner(1, 0) * sx
        let bottom = corner(0, 1) * (1 - sx) + corner(1, 1) * sx
        return top * (1 - sy) + bottom * sy
    }

    private static func hash(_ x: Int, _ y: Int) -> UInt64 {
        var value =
            UInt64(truncatingIfNeeded: x) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: y)
            &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 29) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 32
    }
}

import AfarImage
import Foundation
import Testing

/// The Exif orientations 1 to 8.
enum Orientations {
    static let all = Array(1...8)

    /// Returns Exif data that contains only an orientation.
    static func exif(_ orientation: Int, isLittleEndian: Bool = true) -> Data {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) }
            return isLittleEndian ? bytes : bytes.reversed()
        }
        let header = Array((isLittleEndian ? "II" : "MM").utf8) + number(42, 2) + number(8, 4)
        let entry = number(0x0112, 2) + number(3, 2) + number(1, 4) + number(orientation, 2) + number(0, 2)
        return Data(header + number(1, 2) + entry + number(0, 4))
    }

    /// Checks that each pixel of the file is at the position that the Exif table specifies.
    static func expect(
        _ image: Image, _ orientation: Int, _ color: (Int, Int) -> [Int], tolerance: Int = 0
    ) {
        let (width, height) = (Gradient.width, Gradient.height)
        let isTurned = orientation > 4
        #expect(image.width == (isTurned ? height : width) && image.height == (isTurned ? width : height))
        var difference = 0
        for (x, y) in (0..<width * height).map({ ($0 % width, $0 / width) }) {
            // The position of the first row and column in the Exif table.
            let (left, top) =
                switch orientation {
                case 2: (width - 1 - x, y)
                case 3: (width - 1 - x, height - 1 - y)
                case 4: (x, height - 1 - y)
                case 5: (y, x)
                case 6: (height - 1 - y, x)
                case 7: (height - 1 - y, width - 1 - x)
                case 8: (y, width - 1 - x)
                default: (x, y)
                }
            difference = max(difference, zip(image.channels(left, top), color(x, y)).map { abs($0 - $1) }.max() ?? .max)
        }
        #expect(difference <= tolerance, "orientation \(orientation)")
    }
}

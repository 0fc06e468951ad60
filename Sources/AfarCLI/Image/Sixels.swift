import AfarImage

/// An image in sixels, the graphics of DEC's VT340: bands of six rows, in each of which every colour is written for itself.
enum Sixels {
    /// The levels of red, green and blue.
    private static let levels = 6
    // Where between two levels a pixel is rounded up, in an order that the eye sees as the level in between (Bayer).
    private static let thresholds = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]

    static func text(of image: Image) -> String {
        // Pixels that are not written stay as they are.
        var text = "\u{1B}P0;1;0q\"1;1;\(image.width);\(image.height)"
        for color in 0..<levels * levels * levels {
            let channels = [color / (levels * levels), color / levels % levels, color % levels]
            text += "#\(color);2;" + channels.map { "\($0 * 100 / (levels - 1))" }.joined(separator: ";")
        }
        for top in stride(from: 0, to: image.height, by: 6) { text += band(of: image, from: top) + "-" }
        return text + "\u{1B}\\\n"
    }

    private static func band(of image: Image, from top: Int) -> String {
        var columns: [Int: [UInt8]] = [:]
        for y in top..<min(top + 6, image.height) {
            for x in 0..<image.width {
                guard let pixel = image[x, y], pixel.alpha >= 128 else { continue }
                columns[color(pixel, x, y), default: [UInt8](repeating: 0, count: image.width)][x] |= 1 << (y - top)
            }
        }
        return columns.sorted { $0.key < $1.key }.map { "#\($0.key)" + runs($0.value) }.joined(separator: "$")
    }

    private static func color(_ pixel: Image.Pixel, _ x: Int, _ y: Int) -> Int {
        let threshold = thresholds[y % 4 * 4 + x % 4]
        return [pixel.red, pixel.green, pixel.blue].reduce(0) { color, channel in
            // In sixteenths of a level.
            let place = Int(channel) * (levels - 1) * 16 / 255
            return color * levels + min(place / 16 + (place % 16 > threshold ? 1 : 0), levels - 1)
        }
    }

    /// Six rows of one colour; what repeats is counted.
    private static func runs(_ columns: [UInt8]) -> String {
        var text = ""
        var rest = columns[...]
        while let column = rest.first {
            let count = rest.prefix { $0 == column }.count
            rest = rest.dropFirst(count)
            let character = String(UnicodeScalar(63 + column))
            text += count > 3 ? "!\(count)\(character)" : String(repeating: character, count: count)
        }
        return text
    }
}

import AfarImage
import Foundation
import Testing

/// The picture in all fixtures, as a formula that matches the one in fixtures.py.
enum Gradient {
    static let (width, height) = (16, 12)

    static func alpha(_ x: Int, _ y: Int) -> Int { 255 - x * 10 - y * 4 }
    static func gray(_ x: Int, _ y: Int) -> Int { x * 10 + y * 5 }

    static func rgb(_ x: Int, _ y: Int) -> [Int] { [x * 16, y * 20, (x + y) * 8, 255] }
    static func rgba(_ x: Int, _ y: Int) -> [Int] { premultiplied(rgb(x, y), alpha(x, y)) }
    static func gray(_ x: Int, _ y: Int) -> [Int] { [gray(x, y), gray(x, y), gray(x, y), 255] }

    static func premultiplied(_ color: [Int], _ alpha: Int) -> [Int] {
        color.prefix(3).map { ($0 * alpha + 127) / 255 } + [alpha]
    }
}

extension Image.Pixel {
    var channels: [Int] { [red, green, blue, alpha].map(Int.init) }
}

extension Image {
    func channels(_ x: Int, _ y: Int) -> [Int] { self[x, y]?.channels ?? [] }

    /// Creates an image from a formula.
    static func of(_ width: Int, _ height: Int, scale: CGFloat = 1, _ color: (Int, Int) -> [Int]) throws -> Image {
        let bytes = (0..<width * height).flatMap { color($0 % width, $0 / width) }.map { UInt8(clamping: $0) }
        return try Image(width: width, height: height, premultipliedRGBA: bytes, scale: scale)
    }

    /// Returns the maximum difference between the pixels' channels and a formula.
    func difference(from color: (Int, Int) -> [Int]) -> Int {
        (0..<width * height).map { index in
            zip(channels(index % width, index / width), color(index % width, index / width))
                .map { abs($0 - $1) }.max() ?? .max
        }.max() ?? .max
    }
}

/// Checks that an image has 16 × 12 pixels and differs from a formula by no more than a tolerance.
func expect(
    _ image: Image, _ color: (Int, Int) -> [Int], tolerance: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(image.width == Gradient.width && image.height == Gradient.height, sourceLocation: sourceLocation)
    #expect(image.difference(from: color) <= tolerance, sourceLocation: sourceLocation)
}

/// Returns the code of the error that a closure throws.
func code(of body: () throws -> Void) -> ImageError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? ImageError)?.code
    }
}

public import Foundation

/// A picture in memory: pixels, and the frames of an animation where there are any.
///
/// Pixels are RGBA with 8 bits each, in this order, the colours premultiplied with alpha, row by row from the top, without
/// gaps. An image never changes; copies share its memory. Colours are as they stand in the file, mostly sRGB: colour
/// profiles are not applied.
public struct Image: Sendable {
    /// The greatest width and height that an image can have, in pixels.
    public static let maximumDimension = 30_000

    /// The pixels of one point of ``size``, 1 by default.
    public let scale: CGFloat
    /// The frames of an animation, the first of which is the image itself; empty for a still image.
    public let frames: [Frame]
    /// How often an animation is to be played; 0 for ever.
    public let loopCount: Int
    let pixels: PixelBuffer

    init(_ pixels: PixelBuffer, scale: CGFloat = 1, frames: [Frame] = [], loopCount: Int = 0) {
        self.pixels = pixels
        self.scale = scale > 0 && scale.isFinite ? scale : 1
        self.frames = frames
        self.loopCount = loopCount
    }

    /// The width in pixels.
    public var width: Int { pixels.width }
    /// The height in pixels.
    public var height: Int { pixels.height }
    /// Width and height in points: in pixels divided by ``scale``.
    public var size: CGSize { CGSize(width: CGFloat(width) / scale, height: CGFloat(height) / scale) }
    /// Whether every pixel is opaque; false also where nobody has looked.
    public var isOpaque: Bool { pixels.isOpaque }
    /// Whether there are several frames.
    public var isAnimated: Bool { !frames.isEmpty }

    /// The memory that the pixels of all frames take, in bytes.
    public var byteCount: Int {
        guard isAnimated else { return pixels.byteCount }
        return frames.reduce(0) { $0 + $1.image.pixels.byteCount }
    }

    /// One pixel; nil outside of the image.
    ///
    /// - Parameters:
    ///   - x: The column, from the left, from 0.
    ///   - y: The row, from the top, from 0.
    public subscript(x: Int, y: Int) -> Pixel? {
        guard (0..<width).contains(x), (0..<height).contains(y) else { return nil }
        return pixels.read { bytes in
            let place = (y * width + x) * 4
            return Pixel(
                red: bytes[place], green: bytes[place + 1], blue: bytes[place + 2], alpha: bytes[place + 3])
        }
    }

    /// Calls a closure with the bytes of all pixels, which are valid while it runs.
    public func withUnsafePixels<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try pixels.read(body)
    }
}

extension Image: Equatable {
    /// Whether both have the same pixels, the same scale and the same frames.
    public static func == (lhs: Image, rhs: Image) -> Bool {
        lhs.scale == rhs.scale && lhs.loopCount == rhs.loopCount && lhs.pixels == rhs.pixels
            && lhs.frames == rhs.frames
    }
}

extension Image: CustomStringConvertible {
    /// The size in pixels, and the number of frames of an animation.
    public var description: String {
        let scale = scale == 1 ? "" : " @\(scale)x"
        return "Image(\(width) × \(height)\(scale)\(isAnimated ? ", \(frames.count) frames" : ""))"
    }
}

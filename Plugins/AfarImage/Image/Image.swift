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

// MARK: - Making images

extension Image {
    /// Makes an image of pixels.
    ///
    /// - Parameters:
    ///   - width: The width in pixels, from 1 to ``maximumDimension``.
    ///   - height: The height in pixels, from 1 to ``maximumDimension``.
    ///   - premultipliedRGBA: Four bytes for each pixel, red, green, blue and alpha, row by row from the top. A colour is at
    ///     most as large as alpha.
    ///   - scale: The pixels of a point. The default is 1.
    /// - Throws: ``ImageError`` with the code ``ImageError/Code-swift.struct/invalidPixels``.
    public init(width: Int, height: Int, premultipliedRGBA: some Sequence<UInt8>, scale: CGFloat = 1) throws {
        let sizes = 1...Self.maximumDimension
        guard sizes.contains(width), sizes.contains(height) else {
            throw ImageError(
                .invalidPixels,
                "An image cannot be \(width) × \(height) pixels: give it from 1 to \(sizes.upperBound) in each direction"
            )
        }
        let bytes = Array(premultipliedRGBA)
        let count = width * height * 4
        guard bytes.count == count else {
            throw ImageError(
                .invalidPixels,
                "\(width) × \(height) pixels are \(count) bytes, four for each; \(bytes.count) were given")
        }
        let pixels = try PixelBuffer(width: width, height: height) {
            $0.copyBytes(from: bytes)
            return $0.isOpaque
        }
        self.init(pixels, scale: scale)
    }

    /// Makes an animation.
    ///
    /// - Parameters:
    ///   - frames: At least one; all of one size.
    ///   - loopCount: How often the animation is played. The default, 0, repeats it indefinitely.
    /// - Throws: ``ImageError`` with the code ``ImageError/Code-swift.struct/invalidPixels``.
    public init(frames: [Frame], loopCount: Int = 0) throws {
        guard let first = frames.first?.image else {
            throw ImageError(.invalidPixels, "An animation needs a frame")
        }
        guard frames.allSatisfy({ $0.image.width == first.width && $0.image.height == first.height }) else {
            throw ImageError(.invalidPixels, "The frames of an animation must be of one size")
        }
        self.init(first.pixels, scale: first.scale, frames: frames, loopCount: max(0, loopCount))
    }

    /// Decodes an image: PNG, JPEG or WebP, which its first bytes tell.
    ///
    /// - Parameters:
    ///   - data: The file.
    ///   - options: The size that is wanted, the scale, and what the image may cost.
    ///   - decoders: The formats that can be read. The default is ``standardDecoders``.
    /// - Throws: ``ImageError``.
    public init(
        data: Data, options: ImageDecodingOptions = ImageDecodingOptions(),
        decoders: [any ImageDecoder] = Image.standardDecoders
    ) throws {
        guard data.count <= options.limits.maximumBytes else {
            throw ImageError.tooManyBytes(options.limits)
        }
        guard let decoder = decoders.first(where: { $0.canDecode(data) }) else {
            let names = decoders.map(\.format.name).joined(separator: ", ")
            throw ImageError(
                .unknownFormat,
                data.isEmpty
                    ? "There is no image: the data is empty"
                    : "The data is no image of a known format (\(names))")
        }
        self = try decoder.decode(data, options: options)
    }

    /// The decoders of PNG, JPEG and WebP.
    public static var standardDecoders: [any ImageDecoder] { [PNGDecoder(), JPEGDecoder(), WebPDecoder()] }
}

// MARK: - Frames and pixels

extension Image {
    /// A picture of an animation.
    public struct Frame: Sendable, Equatable {
        /// The whole picture, as large as the others, without frames of its own.
        public let image: Image
        /// How long the frame is shown, as stored in the file. Browsers show a frame of 10 milliseconds or less for 100.
        public let duration: Duration

        /// Makes a frame.
        public init(image: Image, duration: Duration) {
            self.image = image.isAnimated ? Image(image.pixels, scale: image.scale) : image
            self.duration = duration
        }
    }
}

extension Image {
    /// A colour with its opacity.
    public struct Pixel: Hashable, Sendable {
        /// Red, premultiplied with ``alpha``: at most as large as that.
        public let red: UInt8
        /// Green, premultiplied with ``alpha``.
        public let green: UInt8
        /// Blue, premultiplied with ``alpha``.
        public let blue: UInt8
        /// The opacity; 255 is opaque.
        public let alpha: UInt8

        /// Makes a pixel.
        public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
            self.red = red
            self.green = green
            self.blue = blue
            self.alpha = alpha
        }

        /// Opaque white.
        public static let white = Pixel(red: 255, green: 255, blue: 255)
        /// Opaque black.
        public static let black = Pixel(red: 0, green: 0, blue: 0)
        /// Nothing.
        public static let clear = Pixel(red: 0, green: 0, blue: 0, alpha: 0)
    }
}

public import Foundation

/// An image in memory: its pixels, and the frames of an animation.
///
/// A pixel has four bytes: red, green, blue and alpha. Colors are premultiplied by alpha. Rows are stored from top to bottom without
/// padding. Images are immutable, and copies share their memory. Colors are in the color space of the file, usually sRGB, because
/// color profiles aren't applied.
public struct Image: Sendable {
    /// The maximum width and height of an image in pixels.
    public static let maximumDimension = 30_000

    /// The number of pixels per point of ``size``. The default is 1.
    public let scale: CGFloat
    /// The frames of an animation, or an empty array for a still image. The first frame has the same pixels as the image
    /// itself.
    public let frames: [Frame]
    /// The number of times that an animation is played. 0 repeats it indefinitely.
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
    /// The size in points: the size in pixels divided by ``scale``.
    public var size: CGSize { CGSize(width: CGFloat(width) / scale, height: CGFloat(height) / scale) }
    /// A Boolean value that indicates whether every pixel is known to be opaque.
    public var isOpaque: Bool { pixels.isOpaque }
    /// A Boolean value that indicates whether the image is an animation.
    public var isAnimated: Bool { !frames.isEmpty }

    /// The memory usage of the pixels of all frames in bytes.
    public var byteCount: Int {
        guard isAnimated else { return pixels.byteCount }
        return frames.reduce(0) { $0 + $1.image.pixels.byteCount }
    }

    /// A pixel, or nil outside the image.
    ///
    /// - Parameters:
    ///   - x: The column, starting from 0 at the left.
    ///   - y: The row, starting from 0 at the top.
    public subscript(x: Int, y: Int) -> Pixel? {
        guard (0..<width).contains(x), (0..<height).contains(y) else { return nil }
        return pixels.read { bytes in
            let place = (y * width + x) * 4
            return Pixel(
                red: bytes[place], green: bytes[place + 1], blue: bytes[place + 2], alpha: bytes[place + 3])
        }
    }

    /// Calls a closure with the bytes of all pixels. The bytes are only valid within the closure.
    public func withUnsafePixels<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try pixels.read(body)
    }
}

extension Image: Equatable {
    /// Returns whether two images have the same pixels, scale, frames and loop count.
    public static func == (lhs: Image, rhs: Image) -> Bool {
        lhs.scale == rhs.scale && lhs.loopCount == rhs.loopCount && lhs.pixels == rhs.pixels
            && lhs.frames == rhs.frames
    }
}

extension Image: CustomStringConvertible {
    /// The size in pixels and the number of frames of an animation.
    public var description: String {
        let scale = scale == 1 ? "" : " @\(scale)x"
        return "Image(\(width) × \(height)\(scale)\(isAnimated ? ", \(frames.count) frames" : ""))"
    }
}

extension Image {
    /// Creates an image from pixels.
    ///
    /// - Parameters:
    ///   - width: The width in pixels, from 1 to ``maximumDimension``.
    ///   - height: The height in pixels, from 1 to ``maximumDimension``.
    ///   - premultipliedRGBA: Four bytes for each pixel, red, green, blue and alpha, in rows from top to bottom. The value of a color
    ///     must not exceed alpha.
    ///   - scale: The pixels per point. The default is 1.
    /// - Throws: ``ImageError`` with the code ``ImageError/Code-swift.struct/invalidPixels``.
    public init(width: Int, height: Int, premultipliedRGBA: some Sequence<UInt8>, scale: CGFloat = 1) throws {
        let sizes = 1...Self.maximumDimension
        guard sizes.contains(width), sizes.contains(height) else {
            throw ImageError(
                .invalidPixels,
                "An image cannot be \(width) × \(height) pixels: use 1 to \(sizes.upperBound) in each direction"
            )
        }
        let bytes = Array(premultipliedRGBA)
        let count = width * height * 4
        guard bytes.count == count else {
            throw ImageError(
                .invalidPixels,
                "\(width) × \(height) pixels require \(count) bytes, four for each, instead of \(bytes.count)")
        }
        let pixels = try PixelBuffer(width: width, height: height) {
            $0.copyBytes(from: bytes)
            return $0.isOpaque
        }
        self.init(pixels, scale: scale)
    }

    /// Creates an animation.
    ///
    /// - Parameters:
    ///   - frames: One or more frames of the same size.
    ///   - loopCount: The number of times that the animation is played. The default, 0, repeats it indefinitely.
    /// - Throws: ``ImageError`` with the code ``ImageError/Code-swift.struct/invalidPixels``.
    public init(frames: [Frame], loopCount: Int = 0) throws {
        guard let first = frames.first?.image else {
            throw ImageError(.invalidPixels, "An animation requires at least one frame")
        }
        guard frames.allSatisfy({ $0.image.width == first.width && $0.image.height == first.height }) else {
            throw ImageError(.invalidPixels, "The frames of an animation must have the same size")
        }
        self.init(first.pixels, scale: first.scale, frames: frames, loopCount: max(0, loopCount))
    }

    /// Creates an image by decoding PNG, JPEG or WebP data. Detects the format from the first bytes.
    ///
    /// - Parameters:
    ///   - data: The contents of an image file.
    ///   - options: The target size, the scale and the limits.
    ///   - decoders: The decoders for the supported formats. The default is ``standardDecoders``.
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
                    ? "The image data is empty"
                    : "The data is not an image in a known format (\(names))")
        }
        self = try decoder.decode(data, options: options)
    }

    /// The decoders for PNG, JPEG and WebP.
    public static var standardDecoders: [any ImageDecoder] { [PNGDecoder(), JPEGDecoder(), WebPDecoder()] }
}

extension Image {
    /// A frame of an animation.
    public struct Frame: Sendable, Equatable {
        /// The complete image of the frame. All frames have the same size.
        public let image: Image
        /// The duration for which the frame is shown, as stored in the file. Browsers show a frame of 10 milliseconds or less for 100
        /// milliseconds.
        public let duration: Duration

        /// Creates a frame.
        public init(image: Image, duration: Duration) {
            self.image = image.isAnimated ? Image(image.pixels, scale: image.scale) : image
            self.duration = duration
        }
    }
}

extension Image {
    /// A color with its opacity.
    public struct Pixel: Hashable, Sendable {
        /// The red component, premultiplied by ``alpha``. It's never greater than alpha.
        public let red: UInt8
        /// The green component, premultiplied by ``alpha``.
        public let green: UInt8
        /// The blue component, premultiplied by ``alpha``.
        public let blue: UInt8
        /// The opacity, from 0 (transparent) to 255 (opaque).
        public let alpha: UInt8

        /// Creates a pixel.
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
        /// Transparent black.
        public static let clear = Pixel(red: 0, green: 0, blue: 0, alpha: 0)
    }
}

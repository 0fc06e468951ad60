public import Foundation

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
    ///   - loopCount: How often it is to be played; 0, the default, for ever.
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

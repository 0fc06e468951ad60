import CWebP
public import Foundation

/// Writes WebP with libwebp, animations with all their frames.
public struct WebPEncoder: ImageEncoder {
    /// From 0 to 100; of a lossless file, how hard libwebp tries.
    public let quality: Int
    /// Whether every pixel is kept.
    public let isLossless: Bool

    /// Makes the encoder.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 100; of a lossless file, how hard libwebp tries. The default is 80.
    ///   - isLossless: Whether every pixel is kept. The default is false.
    public init(quality: Int = 80, isLossless: Bool = false) {
        self.quality = min(max(quality, 0), 100)
        self.isLossless = isLossless
    }

    /// WebP.
    public var format: ImageFormat { .webP }

    /// Writes an image of at most 16,383 pixels in each direction.
    ///
    /// - Throws: ``ImageError``.
    public func encode(_ image: Image) throws -> Data {
        var configuration = WebPConfig()
        guard WebPConfigInit(&configuration) != 0 else { throw failure("libwebp is another than was built for") }
        configuration.quality = Float(quality)
        configuration.lossless = isLossless ? 1 : 0
        guard max(image.width, image.height) <= WEBP_MAX_DIMENSION else {
            throw failure("\(image.width) × \(image.height) pixels are more than \(WEBP_MAX_DIMENSION) in a direction")
        }
        return image.isAnimated ? try animation(image, configuration) : try still(image, configuration)
    }

    private func still(_ image: Image, _ configuration: WebPConfig) throws -> Data {
        var writer = WebPMemoryWriter()
        WebPMemoryWriterInit(&writer)
        defer { WebPMemoryWriterClear(&writer) }
        try withUnsafeMutablePointer(to: &writer) { writer in
            try withPicture(image.pixels) { picture in
                picture.writer = WebPMemoryWrite
                picture.custom_ptr = UnsafeMutableRawPointer(writer)
                var configuration = configuration
                guard WebPEncode(&configuration, &picture) != 0 else {
                    throw failure("libwebp's error \(picture.error_code.rawValue)")
                }
            }
        }
        guard let file = writer.mem else { throw failure("libwebp has written nothing") }
        return Data(bytes: file, count: writer.size)
    }

    private func animation(_ image: Image, _ configuration: WebPConfig) throws -> Data {
        var options = WebPAnimEncoderOptions()
        guard WebPAnimEncoderOptionsInit(&options) != 0 else { throw failure("libwebp is another than was built for") }
        options.anim_params.loop_count = Int32(clamping: image.loopCount)
        guard let encoder = WebPAnimEncoderNew(Int32(image.width), Int32(image.height), &options) else {
            throw failure("there is no memory for an animation")
        }
        defer { WebPAnimEncoderDelete(encoder) }
        var configuration = configuration
        var time = Duration.zero
        for frame in image.frames {
            try withPicture(frame.image.pixels) { picture in
                guard WebPAnimEncoderAdd(encoder, &picture, time.milliseconds, &configuration) != 0 else {
                    throw failure(String(cString: WebPAnimEncoderGetError(encoder)))
                }
            }
            time = min(time + min(max(frame.duration, .zero), .longest), .longest)
        }
        var file = WebPData()
        defer { WebPDataClear(&file) }
        guard WebPAnimEncoderAdd(encoder, nil, time.milliseconds, nil) != 0,
            WebPAnimEncoderAssemble(encoder, &file) != 0
        else { throw failure(String(cString: WebPAnimEncoderGetError(encoder))) }
        return Data(bytes: file.bytes, count: file.size)
    }

    private func withPicture(_ pixels: PixelBuffer, _ body: (inout WebPPicture) throws -> Void) throws {
        let pixels = pixels.isOpaque ? pixels : try pixels.copy { $0.unpremultiply() }
        var picture = WebPPicture()
        guard WebPPictureInit(&picture) != 0 else { throw failure("libwebp is another than was built for") }
        defer { WebPPictureFree(&picture) }
        picture.use_argb = isLossless ? 1 : 0
        picture.width = Int32(pixels.width)
        picture.height = Int32(pixels.height)
        let isRead = pixels.read { bytes in
            let bytes = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            return pixels.isOpaque
                ? WebPPictureImportRGBX(&picture, bytes, Int32(pixels.bytesPerRow))
                : WebPPictureImportRGBA(&picture, bytes, Int32(pixels.bytesPerRow))
        }
        guard isRead != 0 else { throw failure("there is no memory for its pixels") }
        try body(&picture)
    }

    private func failure(_ reason: String) -> ImageError {
        ImageError(.encodingFailed, format: .webP, "The image cannot be written as WebP: \(reason)")
    }
}

extension Duration {
    /// More than libwebp can write.
    fileprivate static let longest = Duration.milliseconds(Int32.max)

    /// Whole milliseconds, of what is not longer than ``longest``.
    fileprivate var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        return Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }
}

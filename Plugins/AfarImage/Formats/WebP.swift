import CWebP
public import Foundation

// MARK: - Decoding

/// A decoder for WebP (RFC 9649) that uses libwebp. It supports lossy and lossless images, alpha, and animations.
public struct WebPDecoder: ImageDecoder {
    /// Creates a decoder.
    public init() {}

    /// The WebP format.
    public var format: ImageFormat { .webP }

    /// Returns whether data begins like a RIFF file that contains WebP.
    public func canDecode(_ data: Data) -> Bool {
        data.starts(with: "RIFF".utf8) && data.dropFirst(8).starts(with: "WEBP".utf8)
    }

    /// Decodes an image, or an animation with all its frames, and applies the Exif orientation. If the options have a target size, the
    /// result has the smallest size that covers the target.
    ///
    /// - Throws: ``ImageError``.
    public func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        try data.withUnsafeBytes { bytes in
            let features = try features(of: bytes)
            try options.limits.check(width: Int(features.width), height: Int(features.height), of: .webP)
            var source = WebPData()
            (source.bytes, source.size) = (bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
            guard let container = WebPDemux(&source) else {
                throw ImageError.corrupt(.webP, "its chunks are inconsistent")
            }
            defer { WebPDemuxDelete(container) }
            let orientation = orientation(in: container)
            if features.has_animation != 0 {
                return try WebPAnimation(source, container, orientation, options).image()
            }
            let pixels = try still(source, features, orientation, options)
            return Image(try orientation.upright(pixels), scale: options.scale)
        }
    }

    private func features(of bytes: UnsafeRawBufferPointer) throws -> WebPBitstreamFeatures {
        var features = WebPBitstreamFeatures()
        try Self.check(WebPGetFeatures(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count, &features))
        let reader = ByteReader(bytes: bytes, isLittleEndian: true)
        // The container's length, which excludes the first eight bytes.
        guard let length = reader.uint32(at: 4), Int(length) <= bytes.count - 8 else {
            throw ImageError.truncated(.webP, "its header specifies more bytes")
        }
        return features
    }

    private func orientation(in container: OpaquePointer) -> Orientation {
        var chunk = WebPChunkIterator()
        guard WebPDemuxGetChunk(container, "EXIF", 1, &chunk) != 0 else { return .up }
        defer { WebPDemuxReleaseChunkIterator(&chunk) }
        let exif = UnsafeRawBufferPointer(start: chunk.chunk.bytes, count: chunk.chunk.size)
        // Some programs write the Exif prefix of JPEG files.
        let hasPrefix = exif.starts(with: "Exif\0\0".utf8)
        return Orientation(exif: hasPrefix ? UnsafeRawBufferPointer(rebasing: exif.dropFirst(6)) : exif)
    }

    private func still(
        _ source: WebPData, _ features: WebPBitstreamFeatures, _ orientation: Orientation,
        _ options: ImageDecodingOptions
    ) throws -> PixelBuffer {
        let size = PixelSize(width: Int(features.width), height: Int(features.height))
        let target = size.covering(options.target, swapsSides: orientation.swapsSides)
        var configuration = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&configuration) != 0 else {
            throw ImageError(
                .unsupported, format: .webP, "The installed libwebp doesn't match the version used for the build")
        }
        if target != size {
            configuration.options.use_scaling = 1
            configuration.options.scaled_width = Int32(target.width)
            configuration.options.scaled_height = Int32(target.height)
        }
        configuration.output.colorspace = MODE_rgbA
        configuration.output.is_external_memory = 1
        let isOpaque = features.has_alpha == 0
        return try PixelBuffer(width: target.width, height: target.height, isOpaque: isOpaque) { pixels in
            configuration.output.u.RGBA = WebPRGBABuffer(
                rgba: pixels.assumingMemoryBound(to: UInt8.self).baseAddress, stride: Int32(target.width * 4),
                size: pixels.count)
            try Self.check(WebPDecode(source.bytes, source.size, &configuration))
        }
    }

    private static func check(_ status: VP8StatusCode) throws {
        switch status {
        case VP8_STATUS_OK: return
        case VP8_STATUS_NOT_ENOUGH_DATA, VP8_STATUS_SUSPENDED: throw ImageError.truncated(.webP)
        case VP8_STATUS_OUT_OF_MEMORY:
            throw ImageError(.outOfMemory, format: .webP, "There is not enough memory to decode the WebP image")
        case VP8_STATUS_UNSUPPORTED_FEATURE:
            throw ImageError(.unsupported, format: .webP, "The WebP image uses a feature that libwebp doesn't support")
        default: throw ImageError.corrupt(.webP, "its data cannot be decoded")
        }
    }
}

// MARK: - Animations

/// A WebP animation that is being decoded.
struct WebPAnimation {
    private let source: WebPData
    private let container: OpaquePointer
    private let orientation: Orientation
    private let options: ImageDecodingOptions

    init(
        _ source: WebPData, _ container: OpaquePointer, _ orientation: Orientation, _ options: ImageDecodingOptions
    ) {
        self.source = source
        self.container = container
        self.orientation = orientation
        self.options = options
    }

    /// Decodes the animation with all its frames.
    ///
    /// - Throws: ``ImageError``.
    func image() throws -> Image {
        let canvas = PixelSize(
            width: Int(WebPDemuxGetI(container, WEBP_FF_CANVAS_WIDTH)),
            height: Int(WebPDemuxGetI(container, WEBP_FF_CANVAS_HEIGHT)))
        let count = Int(WebPDemuxGetI(container, WEBP_FF_FRAME_COUNT))
        try options.limits.check(width: canvas.width, height: canvas.height, of: .webP)
        try options.limits.check(frames: count, width: canvas.width, height: canvas.height, of: .webP)
        guard count > 0 else { throw ImageError.corrupt(.webP, "the animation has no frame") }
        let frames = try frames(canvas)
        guard frames.count == count else {
            throw ImageError.corrupt(.webP, "frame \(frames.count + 1) of \(count) cannot be decoded")
        }
        return try Image(frames: frames, loopCount: Int(WebPDemuxGetI(container, WEBP_FF_LOOP_COUNT)))
    }

    private func frames(_ canvas: PixelSize) throws -> [Image.Frame] {
        var decoding = WebPAnimDecoderOptions()
        guard WebPAnimDecoderOptionsInit(&decoding) != 0 else { throw Self.cannotBegin }
        decoding.color_mode = MODE_rgbA
        var source = source
        guard let decoder = WebPAnimDecoderNew(&source, &decoding) else { throw Self.cannotBegin }
        defer { WebPAnimDecoderDelete(decoder) }
        let target = canvas.covering(options.target, swapsSides: orientation.swapsSides)
        var frames: [Image.Frame] = []
        var before = 0
        while WebPAnimDecoderHasMoreFrames(decoder) != 0 {
            var picture: UnsafeMutablePointer<UInt8>?
            var end: Int32 = 0
            guard WebPAnimDecoderGetNext(decoder, &picture, &end) != 0, let picture else { break }
            let bytes = UnsafeRawBufferPointer(start: picture, count: canvas.width * canvas.height * 4)
            let whole = try PixelBuffer(width: canvas.width, height: canvas.height) { pixels in
                pixels.copyMemory(from: bytes)
                return pixels.isOpaque
            }
            let pixels = try orientation.upright(whole.scaled(to: target))
            let duration = Duration.milliseconds(max(0, Int(end) - before))
            frames.append(Image.Frame(image: Image(pixels, scale: options.scale), duration: duration))
            before = Int(end)
        }
        return frames
    }

    private static let cannotBegin = ImageError(
        .outOfMemory, format: .webP, "There is not enough memory to decode the WebP animation")
}

// MARK: - Encoding

/// An encoder for WebP that uses libwebp. It writes all frames of an animation.
public struct WebPEncoder: ImageEncoder {
    /// The quality, from 0 to 100. For lossless files, the compression effort.
    public let quality: Int
    /// A Boolean value that indicates whether the compression is lossless.
    public let isLossless: Bool

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - quality: The quality, from 0 to 100. For lossless files, the compression effort. The default is 80.
    ///   - isLossless: Whether the compression is lossless. The default is false.
    public init(quality: Int = 80, isLossless: Bool = false) {
        self.quality = min(max(quality, 0), 100)
        self.isLossless = isLossless
    }

    /// The WebP format.
    public var format: ImageFormat { .webP }

    /// Encodes an image of at most 16,383 pixels in each direction.
    ///
    /// - Throws: ``ImageError``.
    public func encode(_ image: Image) throws -> Data {
        var configuration = WebPConfig()
        guard WebPConfigInit(&configuration) != 0 else { throw failure("libwebp doesn't match the build") }
        configuration.quality = Float(quality)
        configuration.lossless = isLossless ? 1 : 0
        guard max(image.width, image.height) <= WEBP_MAX_DIMENSION else {
            throw failure("\(image.width) × \(image.height) pixels exceed \(WEBP_MAX_DIMENSION) in a direction")
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
                    throw failure("libwebp reported error \(picture.error_code.rawValue)")
                }
            }
        }
        guard let file = writer.mem else { throw failure("libwebp returned no data") }
        return Data(bytes: file, count: writer.size)
    }

    private func animation(_ image: Image, _ configuration: WebPConfig) throws -> Data {
        var options = WebPAnimEncoderOptions()
        guard WebPAnimEncoderOptionsInit(&options) != 0 else { throw failure("libwebp doesn't match the build") }
        options.anim_params.loop_count = Int32(clamping: image.loopCount)
        guard let encoder = WebPAnimEncoderNew(Int32(image.width), Int32(image.height), &options) else {
            throw failure("there is not enough memory for the animation")
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
        guard WebPPictureInit(&picture) != 0 else { throw failure("libwebp doesn't match the build") }
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
        guard isRead != 0 else { throw failure("there is not enough memory for its pixels") }
        try body(&picture)
    }

    private func failure(_ reason: String) -> ImageError {
        ImageError(.encodingFailed, format: .webP, "The image cannot be written as WebP: \(reason)")
    }
}

extension Duration {
    /// The upper limit of durations in libwebp.
    fileprivate static let longest = Duration.milliseconds(Int32.max)

    /// The whole milliseconds of a duration up to ``longest``.
    fileprivate var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        return Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }
}

import CWebP
public import Foundation

/// Decodes WebP (RFC 9649) with libwebp: lossy and lossless, with alpha, and animations.
public struct WebPDecoder: ImageDecoder {
    /// Makes the decoder.
    public init() {}

    /// WebP.
    public var format: ImageFormat { .webP }

    /// Whether data begins as a RIFF file with WebP in it does.
    public func canDecode(_ data: Data) -> Bool {
        data.starts(with: "RIFF".utf8) && data.dropFirst(8).starts(with: "WEBP".utf8)
    }

    /// Decodes an image, or an animation with all its frames. It is upright: Exif's orientation is applied. With a target
    /// size it is given in the smallest size that covers that.
    ///
    /// - Throws: ``ImageError``.
    public func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        try data.withUnsafeBytes { bytes in
            let features = try features(of: bytes)
            try options.limits.check(width: Int(features.width), height: Int(features.height), of: .webP)
            var source = WebPData()
            (source.bytes, source.size) = (bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
            guard let container = WebPDemux(&source) else {
                throw ImageError.corrupt(.webP, "its chunks do not fit together")
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
        // The container's own length, without its first eight bytes.
        guard let length = reader.uint32(at: 4), Int(length) <= bytes.count - 8 else {
            throw ImageError.truncated(.webP, "its header tells of more bytes")
        }
        return features
    }

    private func orientation(in container: OpaquePointer) -> Orientation {
        var chunk = WebPChunkIterator()
        guard WebPDemuxGetChunk(container, "EXIF", 1, &chunk) != 0 else { return .up }
        defer { WebPDemuxReleaseChunkIterator(&chunk) }
        let exif = UnsafeRawBufferPointer(start: chunk.chunk.bytes, count: chunk.chunk.size)
        // Some programs put JPEG's prefix before it.
        let hasPrefix = exif.starts(with: "Exif\0\0".utf8)
        return Orientation(exif: hasPrefix ? UnsafeRawBufferPointer(rebasing: exif.dropFirst(6)) : exif)
    }

    private func still(
        _ source: WebPData, _ features: WebPBitstreamFeatures, _ orientation: Orientation,
        _ options: ImageDecodingOptions
    ) throws -> PixelBuffer {
        let size = PixelSize(width: Int(features.width), height: Int(features.height))
        let target = size.covering(options.target, isTurned: orientation.isTurned)
        var configuration = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&configuration) != 0 else {
            throw ImageError(
                .unsupported, format: .webP, "The libwebp that is installed is not the one that was built for")
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
            throw ImageError(.outOfMemory, format: .webP, "There is no memory to decode the WebP image")
        case VP8_STATUS_UNSUPPORTED_FEATURE:
            throw ImageError(.unsupported, format: .webP, "The WebP image uses a feature that libwebp does not know")
        default: throw ImageError.corrupt(.webP, "its data cannot be decoded")
        }
    }
}

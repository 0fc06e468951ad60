import CSpng
public import Foundation

/// A decoder for PNG (ISO/IEC 15948) that uses libspng. For an animation, it returns the default image.
public struct PNGDecoder: ImageDecoder {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    // The limits on chunks without pixels: color profiles, text, Exif data.
    private static let maximumChunkSize = 8 << 20
    private static let maximumChunksSize = 16 << 20

    /// Creates a decoder.
    public init() {}

    /// The PNG format.
    public var format: ImageFormat { .png }

    /// Returns whether data begins with the PNG signature.
    public func canDecode(_ data: Data) -> Bool { data.starts(with: Self.signature) }

    /// Decodes an image and applies its Exif orientation (chunk eXIf). Ignores the target size.
    ///
    /// - Throws: ``ImageError``.
    public func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        guard let context = spng_ctx_new(0) else {
            throw ImageError(.outOfMemory, format: .png, "There is not enough memory to decode a PNG image")
        }
        defer { spng_ctx_free(context) }
        return try data.withUnsafeBytes { bytes in
            try check(spng_set_chunk_limits(context, Self.maximumChunkSize, Self.maximumChunksSize))
            try check(spng_set_png_buffer(context, bytes.baseAddress, bytes.count))
            let pixels = try pixels(context, options.limits)
            // Reads the rest of the file to detect truncation after the pixels.
            try check(spng_decode_chunks(context))
            return Image(try orientation(context).upright(pixels), scale: options.scale)
        }
    }

    private func pixels(_ context: OpaquePointer, _ limits: ImageLimits) throws -> PixelBuffer {
        var header = spng_ihdr()
        try check(spng_get_ihdr(context, &header))
        let (width, height) = (Int(header.width), Int(header.height))
        try limits.check(width: width, height: height, of: .png)
        return try PixelBuffer(width: width, height: height) { bytes in
            let format = Int32(bitPattern: SPNG_FMT_RGBA8.rawValue)
            let flags = Int32(bitPattern: SPNG_DECODE_TRNS.rawValue)
            try check(spng_decode_image(context, bytes.baseAddress, bytes.count, format, flags))
            return bytes.premultiply()
        }
    }

    private func orientation(_ context: OpaquePointer) -> Orientation {
        var exif = spng_exif()
        guard spng_get_exif(context, &exif) == 0, let data = exif.data else { return .up }
        return Orientation(exif: UnsafeRawBufferPointer(start: data, count: exif.length))
    }

    private func check(_ status: Int32) throws {
        guard status != 0 else { return }
        let reason = String(cString: spng_strerror(status))
        switch status {
        case SPNG_IO_EOF.rawValue, Int32(SPNG_EOF.rawValue): throw ImageError.truncated(.png, reason)
        case Int32(SPNG_EMEM.rawValue):
            throw ImageError(.outOfMemory, format: .png, "There is not enough memory to decode the PNG image")
        case Int32(SPNG_EOVERFLOW.rawValue):
            throw ImageError(
                .limitExceeded, format: .png, "The PNG image is larger than addressable memory; request a smaller one")
        case Int32(SPNG_ECHUNK_LIMITS.rawValue):
            throw ImageError(
                .limitExceeded, format: .png,
                "The PNG image has too much metadata: more than 1,000 texts, or \(Self.maximumChunksSize) bytes of texts and "
                    + "profiles; remove them")
        default: throw ImageError.corrupt(.png, reason)
        }
    }
}

/// An encoder for PNG that uses libspng. The compression is lossless. For an animation, only the first frame is written.
public struct PNGEncoder: ImageEncoder {
    /// The compression level of zlib, from 0 to 9.
    public let compressionLevel: Int

    /// Creates an encoder.
    ///
    /// - Parameter compressionLevel: The compression level of zlib, from 0 to 9. The default is 6.
    public init(compressionLevel: Int = 6) { self.compressionLevel = min(max(compressionLevel, 0), 9) }

    /// The PNG format.
    public var format: ImageFormat { .png }

    /// Encodes an image, without alpha if it's known to be opaque.
    ///
    /// - Throws: ``ImageError``.
    public func encode(_ image: Image) throws -> Data {
        guard let context = spng_ctx_new(Int32(bitPattern: SPNG_CTX_ENCODER.rawValue)) else {
            throw ImageError(.outOfMemory, format: .png, "There is not enough memory to write a PNG image")
        }
        defer { spng_ctx_free(context) }
        let pixels = image.pixels
        let color = pixels.isOpaque ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_TRUECOLOR_ALPHA
        var header = spng_ihdr(
            width: UInt32(pixels.width), height: UInt32(pixels.height), bit_depth: 8, color_type: UInt8(color.rawValue),
            compression_method: 0, filter_method: 0, interlace_method: 0)
        try check(spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1))
        try check(spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, Int32(compressionLevel)))
        try check(spng_set_ihdr(context, &header))
        let flags = SPNG_ENCODE_PROGRESSIVE.rawValue | SPNG_ENCODE_FINALIZE.rawValue
        try check(
            spng_encode_image(context, nil, 0, Int32(bitPattern: SPNG_FMT_PNG.rawValue), Int32(bitPattern: flags)))
        try writeRows(of: pixels, to: context)
        var count = 0
        var status: Int32 = 0
        guard let file = spng_get_png_buffer(context, &count, &status) else { throw error(status) }
        return Data(bytesNoCopy: file, count: count, deallocator: .free)
    }

    private func writeRows(of pixels: PixelBuffer, to context: OpaquePointer) throws {
        var row = [UInt8](repeating: 0, count: pixels.bytesPerRow)
        try row.withUnsafeMutableBytes { row in
            try pixels.read { bytes in
                for start in stride(from: 0, to: bytes.count, by: row.count) {
                    row.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + row.count]))
                    var count = row.count
                    if pixels.isOpaque { count = row.dropAlpha() } else { row.unpremultiply() }
                    let status = spng_encode_row(context, row.baseAddress, count)
                    // After the last row, libspng returns SPNG_EOI, the end of the image.
                    if status != Int32(SPNG_EOI.rawValue) { try check(status) }
                }
            }
        }
    }

    private func check(_ status: Int32) throws {
        if status != 0 { throw error(status) }
    }

    private func error(_ status: Int32) -> ImageError {
        ImageError(
            .encodingFailed, format: .png,
            "The image cannot be written as PNG: \(String(cString: spng_strerror(status)))")
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Compacts RGBA pixels to RGB.
    ///
    /// - Returns: The number of bytes.
    fileprivate func dropAlpha() -> Int {
        for pixel in 0..<count / 4 {
            for channel in 0..<3 { self[pixel * 3 + channel] = self[pixel * 4 + channel] }
        }
        return count / 4 * 3
    }
}

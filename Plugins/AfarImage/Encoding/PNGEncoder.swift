import CSpng
public import Foundation

/// Writes PNG with libspng: every pixel is kept, of an animation the first frame.
public struct PNGEncoder: ImageEncoder {
    /// How hard zlib tries, from 0 to 9.
    public let compressionLevel: Int

    /// Makes the encoder.
    ///
    /// - Parameter compressionLevel: How hard zlib tries, from 0 to 9. The default is 6.
    public init(compressionLevel: Int = 6) { self.compressionLevel = min(max(compressionLevel, 0), 9) }

    /// PNG.
    public var format: ImageFormat { .png }

    /// Writes an image, without alpha where it is known to be opaque.
    ///
    /// - Throws: ``ImageError``.
    public func encode(_ image: Image) throws -> Data {
        guard let context = spng_ctx_new(Int32(bitPattern: SPNG_CTX_ENCODER.rawValue)) else {
            throw ImageError(.outOfMemory, format: .png, "There is no memory to write a PNG image")
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
                    // The last row is answered with the end of the image.
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
    /// Moves RGBA pixels together to RGB.
    ///
    /// - Returns: How many bytes that are.
    fileprivate func dropAlpha() -> Int {
        for pixel in 0..<count / 4 {
            for channel in 0..<3 { self[pixel * 3 + channel] = self[pixel * 4 + channel] }
        }
        return count / 4 * 3
    }
}

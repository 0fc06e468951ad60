public import Foundation

/// Writes images in one format.
public protocol ImageEncoder: Sendable {
    /// The format.
    var format: ImageFormat { get }

    /// Writes an image. It may be called from several threads at once.
    ///
    /// - Throws: ``ImageError``.
    func encode(_ image: Image) throws -> Data
}

extension ImageEncoder where Self == PNGEncoder {
    /// Writes PNG.
    public static var png: PNGEncoder { PNGEncoder() }
}

extension ImageEncoder where Self == JPEGEncoder {
    /// Writes JPEG.
    ///
    /// - Parameter quality: From 0 to 100. The default is 85.
    public static func jpeg(quality: Int = 85) -> JPEGEncoder { JPEGEncoder(quality: quality) }
}

extension ImageEncoder where Self == WebPEncoder {
    /// Writes WebP.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 100. The default is 80.
    ///   - isLossless: Whether every pixel is kept. The default is false.
    public static func webP(quality: Int = 80, isLossless: Bool = false) -> WebPEncoder {
        WebPEncoder(quality: quality, isLossless: isLossless)
    }
}

public import Foundation

/// Decodes images of one format.
public protocol ImageDecoder: Sendable {
    /// The format.
    var format: ImageFormat { get }

    /// Whether data begins as files of this format do, whatever a header or a name says.
    func canDecode(_ data: Data) -> Bool

    /// Decodes an image.
    ///
    /// A decoder checks the limits before it takes memory for pixels, and gives no image for data that is incomplete or
    /// damaged. It may be called from several threads at once.
    ///
    /// - Parameters:
    ///   - data: The file, for which ``canDecode(_:)`` was true.
    ///   - options: The size that is wanted, the scale, and what the image may cost.
    /// - Throws: ``ImageError``.
    func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image
}

public import Foundation

extension Image {
    /// The image as a file.
    ///
    /// - Parameter encoder: Writes the format: `.png`, `.jpeg(quality: 90)`, `.webP()`.
    /// - Throws: ``ImageError``.
    public func data(using encoder: some ImageEncoder) throws -> Data { try encoder.encode(self) }

    /// The image as PNG.
    ///
    /// - Throws: ``ImageError``.
    public func pngData() throws -> Data { try PNGEncoder().encode(self) }

    /// The image as JPEG, over white where it is transparent.
    ///
    /// - Parameter compressionQuality: From 0 to 1.
    /// - Throws: ``ImageError``.
    public func jpegData(compressionQuality: CGFloat) throws -> Data {
        // What is no number is the least.
        let quality = compressionQuality >= 1 ? 100 : compressionQuality > 0 ? Int(compressionQuality * 100) : 0
        return try JPEGEncoder(quality: quality).encode(self)
    }
}

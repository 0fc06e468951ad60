public import Foundation

/// A file format of images. You can define additional formats.
public struct ImageFormat: Hashable, Sendable {
    /// The name of the format.
    public let name: String
    /// The media type, in lowercase.
    public let mediaType: String
    /// The file extensions in lowercase, with the most common one first.
    public let fileExtensions: [String]

    /// Creates a format.
    public init(name: String, mediaType: String, fileExtensions: [String]) {
        self.name = name
        self.mediaType = mediaType
        self.fileExtensions = fileExtensions
    }

    /// PNG (ISO/IEC 15948).
    public static let png = ImageFormat(name: "PNG", mediaType: "image/png", fileExtensions: ["png"])
    /// JPEG (ITU-T T.81).
    public static let jpeg = ImageFormat(
        name: "JPEG", mediaType: "image/jpeg", fileExtensions: ["jpg", "jpeg", "jpe", "jfif"])
    /// WebP (RFC 9649).
    public static let webP = ImageFormat(name: "WebP", mediaType: "image/webp", fileExtensions: ["webp"])
}

/// A type that decodes images of a format.
public protocol ImageDecoder: Sendable {
    /// The format.
    var format: ImageFormat { get }

    /// Returns whether data begins like a file of this format, regardless of its content type and file name.
    func canDecode(_ data: Data) -> Bool

    /// Decodes an image.
    ///
    /// Implementations must check the limits before they allocate memory for pixels, and must throw an error for incomplete or damaged
    /// data. Several threads can call this method at the same time.
    ///
    /// - Parameters:
    ///   - data: The contents of a file for which ``canDecode(_:)`` returned true.
    ///   - options: The target size, the scale and the limits.
    /// - Returns: The decoded image.
    /// - Throws: ``ImageError``.
    func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image
}

/// Options for decoding an image.
public struct ImageDecodingOptions: Equatable, Sendable {
    /// The ``Image/scale`` of the image. The default is 1.
    public var scale: CGFloat
    /// The size in pixels at which the image will be shown or to which it will be scaled. To save time or memory, a decoder can
    /// return an image that is smaller than the image in the file, but not narrower or shorter than this size. A width or
    /// height that isn't greater than 0 sets no minimum. If the size is nil (the default) or sets no minimum in either
    /// direction, the image has the same size as in the file.
    public var targetSize: CGSize?
    /// The limits on the image.
    public var limits: ImageLimits

    /// Creates options.
    public init(scale: CGFloat = 1, targetSize: CGSize? = nil, limits: ImageLimits = ImageLimits()) {
        self.scale = scale
        self.targetSize = targetSize
        self.limits = limits
    }

    /// The target size, if it sets a minimum.
    var target: CGSize? { targetSize.flatMap { $0.width > 0 || $0.height > 0 ? $0 : nil } }
}

/// A type that encodes images in a format.
public protocol ImageEncoder: Sendable {
    /// The format.
    var format: ImageFormat { get }

    /// Encodes an image. Several threads can call this method at the same time.
    ///
    /// - Returns: The contents of a file.
    /// - Throws: ``ImageError``.
    func encode(_ image: Image) throws -> Data
}

extension ImageEncoder where Self == PNGEncoder {
    /// An encoder that writes PNG.
    public static var png: PNGEncoder { PNGEncoder() }
}

extension ImageEncoder where Self == JPEGEncoder {
    /// Returns an encoder that writes JPEG.
    ///
    /// - Parameter quality: The quality, from 0 to 100. The default is 85.
    public static func jpeg(quality: Int = 85) -> JPEGEncoder { JPEGEncoder(quality: quality) }
}

extension ImageEncoder where Self == WebPEncoder {
    /// Returns an encoder that writes WebP.
    ///
    /// - Parameters:
    ///   - quality: The quality, from 0 to 100. The default is 80.
    ///   - isLossless: Whether the compression is lossless. The default is false.
    public static func webP(quality: Int = 80, isLossless: Bool = false) -> WebPEncoder {
        WebPEncoder(quality: quality, isLossless: isLossless)
    }
}

extension Image {
    /// Returns the contents of an image file.
    ///
    /// - Parameter encoder: The encoder for the file format, such as `.png`, `.jpeg(quality: 90)` or `.webP()`.
    /// - Throws: ``ImageError``.
    public func data(using encoder: some ImageEncoder) throws -> Data { try encoder.encode(self) }

    /// Returns the image in PNG format.
    ///
    /// - Throws: ``ImageError``.
    public func pngData() throws -> Data { try PNGEncoder().encode(self) }

    /// Returns the image in JPEG format, on a white background.
    ///
    /// - Parameter compressionQuality: The quality, from 0 to 1.
    /// - Throws: ``ImageError``.
    public func jpegData(compressionQuality: CGFloat) throws -> Data {
        // NaN becomes 0.
        let quality = compressionQuality >= 1 ? 100 : compressionQuality > 0 ? Int(compressionQuality * 100) : 0
        return try JPEGEncoder(quality: quality).encode(self)
    }
}

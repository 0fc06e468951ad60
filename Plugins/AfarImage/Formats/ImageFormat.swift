public import Foundation

/// A file format of images. Formats of your own are made as these are.
public struct ImageFormat: Hashable, Sendable {
    /// What people call it.
    public let name: String
    /// Its media type, in lower case.
    public let mediaType: String
    /// The extensions of its files, in lower case; the usual one first.
    public let fileExtensions: [String]

    /// Makes a format.
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

// MARK: - Decoding

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

/// How an image is decoded.
public struct ImageDecodingOptions: Equatable, Sendable {
    /// The ``Image/scale`` of the image. The default is 1.
    public var scale: CGFloat
    /// The size in pixels that the image will be shown in or scaled to. A decoder may then give a smaller image than the
    /// file has, if that takes less time or memory, but none that is narrower or lower than this. A width or a height that
    /// is not greater than 0 is any. Nil, the default, and a size that is any in both directions mean that of the file.
    public var targetSize: CGSize?
    /// What the image may cost.
    public var limits: ImageLimits

    /// Makes options.
    public init(scale: CGFloat = 1, targetSize: CGSize? = nil, limits: ImageLimits = ImageLimits()) {
        self.scale = scale
        self.targetSize = targetSize
        self.limits = limits
    }

    /// The target, if it asks for anything.
    var target: CGSize? { targetSize.flatMap { $0.width > 0 || $0.height > 0 ? $0 : nil } }
}

// MARK: - Encoding

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

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

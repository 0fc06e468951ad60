public import AfarCore
public import Foundation

extension ResponseSerializer where Self == ImageResponseSerializer {
    /// Decodes an image.
    public static var image: ImageResponseSerializer { ImageResponseSerializer() }

    /// Decodes an image.
    ///
    /// - Parameters:
    ///   - imageScale: The ``Image/scale`` of the image. The default is 1.
    ///   - targetSize: The size in pixels that the image will be shown in; see ``ImageDecodingOptions/targetSize``. The
    ///     default is nil: that of the file.
    ///   - limits: What the image may cost.
    ///   - acceptableContentTypes: The media types that the response may have. The default is nil:
    ///     ``ImageResponseSerializer/acceptableImageContentTypes``.
    public static func image(
        imageScale: CGFloat = ImageResponseSerializer.defaultImageScale,
        targetSize: CGSize? = nil,
        limits: ImageLimits = ImageLimits(),
        acceptableContentTypes: Set<String>? = nil
    ) -> ImageResponseSerializer {
        ImageResponseSerializer(
            imageScale: imageScale, targetSize: targetSize, limits: limits,
            acceptableContentTypes: acceptableContentTypes)
    }
}

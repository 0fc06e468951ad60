public import AfarCore
public import Foundation

extension DataRequest {
    /// Adds a handler that gets the image in the response: PNG, JPEG or WebP, which its first bytes tell.
    ///
    /// - Parameters:
    ///   - imageScale: The ``Image/scale`` of the image. The default is 1.
    ///   - targetSize: The size in pixels that the image will be shown in: a larger one may be decoded smaller, but none is
    ///     narrower or lower. The default is nil: that of the file.
    ///   - limits: What the image may cost.
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseImage(
        imageScale: CGFloat = ImageResponseSerializer.defaultImageScale,
        targetSize: CGSize? = nil,
        limits: ImageLimits = ImageLimits(),
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<Image>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: .image(imageScale: imageScale, targetSize: targetSize, limits: limits),
            completionHandler: completionHandler)
    }

    /// The image in the response, awaited: PNG, JPEG or WebP, which its first bytes tell.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - imageScale: The ``Image/scale`` of the image. The default is 1.
    ///   - targetSize: The size in pixels that the image will be shown in: a larger one may be decoded smaller, but none is
    ///     narrower or lower. The default is nil: that of the file.
    ///   - limits: What the image may cost.
    public func serializingImage(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        imageScale: CGFloat = ImageResponseSerializer.defaultImageScale,
        targetSize: CGSize? = nil,
        limits: ImageLimits = ImageLimits()
    ) -> DataTask<Image> {
        serializingResponse(
            using: .image(imageScale: imageScale, targetSize: targetSize, limits: limits),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}

public import Foundation

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

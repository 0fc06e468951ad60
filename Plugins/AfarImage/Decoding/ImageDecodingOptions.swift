public import Foundation

/// How an image is decoded.
public struct ImageDecodingOptions: Equatable, Sendable {
    /// The ``Image/scale`` of the image. The default is 1.
    public var scale: CGFloat
    /// The size in pixels that the image will be shown in or scaled to. A decoder may then give a smaller image than the
    /// file has, if that takes less time or memory, but none that is narrower or lower than this. A width or a height of 0
    /// is any. Nil, the default, means the size that the file has.
    public var targetSize: CGSize?
    /// What the image may cost.
    public var limits: ImageLimits

    /// Makes options.
    public init(scale: CGFloat = 1, targetSize: CGSize? = nil, limits: ImageLimits = ImageLimits()) {
        self.scale = scale
        self.targetSize = targetSize
        self.limits = limits
    }
}

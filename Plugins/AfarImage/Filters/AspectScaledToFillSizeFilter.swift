public import Foundation

/// Scales images until they fill a size, and crops what is outside.
public struct AspectScaledToFillSizeFilter: ImageFilter, Sizable {
    /// The size in points. One that no image can have leaves images as they are.
    public let size: CGSize

    /// Makes the filter.
    public init(size: CGSize) { self.size = size }

    /// Scales an image.
    public var filter: @Sendable (Image) -> Image { { [size] in $0.imageAspectScaled(toFill: size) } }
}

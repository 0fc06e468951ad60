public import Foundation

/// Scales images until they fit into a size; the rest is transparent.
public struct AspectScaledToFitSizeFilter: ImageFilter, Sizable {
    /// The size in points. One that no image can have leaves images as they are.
    public let size: CGSize

    /// Makes the filter.
    public init(size: CGSize) { self.size = size }

    /// Scales an image.
    public var filter: @Sendable (Image) -> Image { { [size] in $0.imageAspectScaled(toFit: size) } }
}

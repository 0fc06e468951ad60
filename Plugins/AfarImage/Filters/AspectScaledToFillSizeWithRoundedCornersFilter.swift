public import Foundation

/// Scales images until they fill a size, crops them, and rounds their corners.
public struct AspectScaledToFillSizeWithRoundedCornersFilter: CompositeImageFilter {
    /// The filters that do it.
    public let filters: [any ImageFilter]

    /// Makes the filter.
    ///
    /// - Parameters:
    ///   - size: The size in points.
    ///   - radius: The radius in points.
    ///   - divideRadiusByImageScale: Whether it is divided by the scale of the image. The default is false.
    public init(size: CGSize, radius: CGFloat, divideRadiusByImageScale: Bool = false) {
        filters = [
            AspectScaledToFillSizeFilter(size: size),
            RoundedCornersFilter(radius: radius, divideRadiusByImageScale: divideRadiusByImageScale),
        ]
    }
}

public import Foundation

/// Scales images to a size, then rounds their corners.
public struct ScaledToSizeWithRoundedCornersFilter: CompositeImageFilter {
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
            ScaledToSizeFilter(size: size),
            RoundedCornersFilter(radius: radius, divideRadiusByImageScale: divideRadiusByImageScale),
        ]
    }
}

public import Foundation

/// Scales images to a size, then cuts circles out of their middle.
public struct ScaledToSizeCircleFilter: CompositeImageFilter {
    /// The filters that do it.
    public let filters: [any ImageFilter]

    /// Makes the filter.
    ///
    /// - Parameter size: The size in points.
    public init(size: CGSize) {
        filters = [ScaledToSizeFilter(size: size), CircleFilter()]
    }
}

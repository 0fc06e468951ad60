public import Foundation

/// Scales images until they fill a size, crops them, and cuts circles out of their middle.
public struct AspectScaledToFillSizeCircleFilter: CompositeImageFilter {
    /// The filters that do it.
    public let filters: [any ImageFilter]

    /// Makes the filter.
    ///
    /// - Parameter size: The size in points.
    public init(size: CGSize) {
        filters = [AspectScaledToFillSizeFilter(size: size), CircleFilter()]
    }
}

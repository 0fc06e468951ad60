/// Cuts circles out of the middle of images.
public struct CircleFilter: ImageFilter {
    /// Makes the filter.
    public init() {}

    /// Cuts a circle out of an image.
    public var filter: @Sendable (Image) -> Image { { $0.imageRoundedIntoCircle() } }
}

public import Foundation

/// Rounds the corners of images.
public struct RoundedCornersFilter: ImageFilter, Roundable {
    /// The radius in points.
    public let radius: CGFloat
    /// Whether the radius is divided by the image's scale.
    public let divideRadiusByImageScale: Bool

    /// Makes the filter.
    ///
    /// - Parameters:
    ///   - radius: The radius in points.
    ///   - divideRadiusByImageScale: Whether it is divided by the image's scale. The default is false.
    public init(radius: CGFloat, divideRadiusByImageScale: Bool = false) {
        self.radius = radius
        self.divideRadiusByImageScale = divideRadiusByImageScale
    }

    /// The name of the type, the radius and whether that is divided.
    public var identifier: String { "RoundedCornersFilter-radius:(\(radius))-divided:(\(divideRadiusByImageScale))" }

    /// Rounds the corners of an image.
    public var filter: @Sendable (Image) -> Image {
        { [self] in $0.imageRounded(withCornerRadius: radius, divideRadiusByImageScale: divideRadiusByImageScale) }
    }
}

import Foundation

/// Blurs images.
public struct BlurFilter: ImageFilter {
    /// The standard deviation of the blur in pixels.
    public let blurRadius: UInt

    /// Makes the filter.
    ///
    /// - Parameter blurRadius: The standard deviation of the blur in pixels. The default is 10.
    public init(blurRadius: UInt = 10) { self.blurRadius = blurRadius }

    /// The name of the type and the radius.
    public var identifier: String { "BlurFilter-radius:(\(blurRadius))" }

    /// Blurs an image.
    public var filter: @Sendable (Image) -> Image { { [blurRadius] in $0.imageBlurred(radius: CGFloat(blurRadius)) } }
}

public import Foundation

/// Makes an image of another: what a downloader does with an image before it caches it.
public protocol ImageFilter: Sendable {
    /// Makes the new image. It may be called on any thread.
    var filter: @Sendable (Image) -> Image { get }

    /// What tells this filter from others: filters with the same identifier must make the same image. The default is the
    /// type's name, with its size and its radius where it has them.
    var identifier: String { get }
}

extension ImageFilter {
    /// The name of the type.
    public var identifier: String { "\(type(of: self))" }
}

extension ImageFilter where Self: Sizable {
    /// The name of the type and the size.
    public var identifier: String { "\(type(of: self))-size:(\(size.width)x\(size.height))" }
}

extension ImageFilter where Self: Roundable {
    /// The name of the type and the radius.
    public var identifier: String { "\(type(of: self))-radius:(\(radius))" }
}

/// Has a size.
public protocol Sizable {
    /// The size in points.
    var size: CGSize { get }
}

/// Has a radius.
public protocol Roundable {
    /// The radius in points.
    var radius: CGFloat { get }
}

// MARK: - Scaling

/// Scales images to a size, whatever their shape becomes.
public struct ScaledToSizeFilter: ImageFilter, Sizable {
    /// The size in points. One that no image can have leaves images as they are.
    public let size: CGSize

    /// Makes the filter.
    public init(size: CGSize) { self.size = size }

    /// Scales an image.
    public var filter: @Sendable (Image) -> Image { { [size] in $0.imageScaled(to: size) } }
}

/// Scales images until they fit into a size; the rest is transparent.
public struct AspectScaledToFitSizeFilter: ImageFilter, Sizable {
    /// The size in points. One that no image can have leaves images as they are.
    public let size: CGSize

    /// Makes the filter.
    public init(size: CGSize) { self.size = size }

    /// Scales an image.
    public var filter: @Sendable (Image) -> Image { { [size] in $0.imageAspectScaled(toFit: size) } }
}

/// Scales images until they fill a size, and crops what is outside.
public struct AspectScaledToFillSizeFilter: ImageFilter, Sizable {
    /// The size in points. One that no image can have leaves images as they are.
    public let size: CGSize

    /// Makes the filter.
    public init(size: CGSize) { self.size = size }

    /// Scales an image.
    public var filter: @Sendable (Image) -> Image { { [size] in $0.imageAspectScaled(toFill: size) } }
}

// MARK: - Rounding and blurring

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

/// Cuts circles out of the middle of images.
public struct CircleFilter: ImageFilter {
    /// Makes the filter.
    public init() {}

    /// Cuts a circle out of an image.
    public var filter: @Sendable (Image) -> Image { { $0.imageRoundedIntoCircle() } }
}

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

// MARK: - Filters of closures

/// A filter made of a closure.
public struct DynamicImageFilter: ImageFilter {
    /// What tells this filter from others.
    public let identifier: String
    /// Makes the new image.
    public let filter: @Sendable (Image) -> Image

    /// Makes a filter.
    ///
    /// - Parameters:
    ///   - identifier: Tells this filter from others: the same for the same closure and the same values in it.
    ///   - filter: Makes the new image. It may be called on any thread.
    public init(_ identifier: String, filter: @escaping @Sendable (Image) -> Image) {
        self.identifier = identifier
        self.filter = filter
    }
}

// MARK: - Several filters

/// Several filters, one after the other.
public protocol CompositeImageFilter: ImageFilter {
    /// The filters, the first of which gets the image.
    var filters: [any ImageFilter] { get }
}

extension CompositeImageFilter {
    /// The identifiers of all filters, joined by `_`.
    public var identifier: String { filters.map(\.identifier).joined(separator: "_") }

    /// Applies all filters in turn.
    public var filter: @Sendable (Image) -> Image {
        { [filters] image in filters.reduce(image) { $1.filter($0) } }
    }
}

/// Filters that are put together where they are needed.
public struct DynamicCompositeImageFilter: CompositeImageFilter {
    /// The filters, the first of which gets the image.
    public let filters: [any ImageFilter]

    /// Makes a filter of several.
    public init(_ filters: [any ImageFilter]) { self.filters = filters }

    /// Makes a filter of several.
    public init(_ filters: any ImageFilter...) { self.filters = filters }
}

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

public import Foundation

/// A type that creates an image from another image. A downloader applies its filter before it caches an image.
public protocol ImageFilter: Sendable {
    /// A closure that creates the filtered image. It can be called on any thread.
    var filter: @Sendable (Image) -> Image { get }

    /// The identifier. Filters with the same identifier must create the same image. The default is the name of the type, with its size
    /// or radius, if any.
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

/// A type that has a size.
public protocol Sizable {
    /// The size in points.
    var size: CGSize { get }
}

/// A type that has a radius.
public protocol Roundable {
    /// The radius in points.
    var radius: CGFloat { get }
}

// MARK: - Scaling

/// A filter that scales images to a size, without preserving their proportions.
public struct ScaledToSizeFilter: ImageFilter, Sizable {
    /// The size in points. If it's invalid, images are returned unchanged.
    public let size: CGSize

    /// Creates a filter.
    public init(size: CGSize) { self.size = size }

    /// Scales an image.
    public var filter: @Sendable (Image) -> Image { { [size] in $0.imageScaled(to: size) } }
}

/// A filter that scales images to fit within a size. Images keep their proportions and are centered on a transparent
/// background.
public struct AspectScaledToFitSizeFilter: ImageFilter, Sizable {
    /// The size in points. If it's invalid, images are returned unchanged.
    public let size: CGSize

    /// Creates a filter.
    public init(size: CGSize) { self.size = size }

    /// Scales an image.
    public var filter: @Sendable (Image) -> Image { { [size] in $0.imageAspectScaled(toFit: size) } }
}

/// A filter that scales images to fill a size, keeps their proportions, and crops them.
public struct AspectScaledToFillSizeFilter: ImageFilter, Sizable {
    /// The size in points. If it's invalid, images are returned unchanged.
    public let size: CGSize

    /// Creates a filter.
    public init(size: CGSize) { self.size = size }

    /// Scales an image.
    public var filter: @Sendable (Image) -> Image { { [size] in $0.imageAspectScaled(toFill: size) } }
}

// MARK: - Rounding and blurring

/// A filter that rounds the corners of images.
public struct RoundedCornersFilter: ImageFilter, Roundable {
    /// The radius in points.
    public let radius: CGFloat
    /// A Boolean value that indicates whether the radius is divided by the image's scale.
    public let divideRadiusByImageScale: Bool

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - radius: The radius in points.
    ///   - divideRadiusByImageScale: Whether to divide the radius by the image's scale. The default is false.
    public init(radius: CGFloat, divideRadiusByImageScale: Bool = false) {
        self.radius = radius
        self.divideRadiusByImageScale = divideRadiusByImageScale
    }

    /// The name of the type, the radius and whether the radius is divided.
    public var identifier: String { "RoundedCornersFilter-radius:(\(radius))-divided:(\(divideRadiusByImageScale))" }

    /// Rounds the corners of an image.
    public var filter: @Sendable (Image) -> Image {
        { [self] in $0.imageRounded(withCornerRadius: radius, divideRadiusByImageScale: divideRadiusByImageScale) }
    }
}

/// A filter that crops images to a circle at their center.
public struct CircleFilter: ImageFilter {
    /// Creates a filter.
    public init() {}

    /// Crops an image to a circle.
    public var filter: @Sendable (Image) -> Image { { $0.imageRoundedIntoCircle() } }
}

/// A filter that blurs images.
public struct BlurFilter: ImageFilter {
    /// The standard deviation of the blur in pixels.
    public let blurRadius: UInt

    /// Creates a filter.
    ///
    /// - Parameter blurRadius: The standard deviation of the blur in pixels. The default is 10.
    public init(blurRadius: UInt = 10) { self.blurRadius = blurRadius }

    /// The name of the type and the radius.
    public var identifier: String { "BlurFilter-radius:(\(blurRadius))" }

    /// Blurs an image.
    public var filter: @Sendable (Image) -> Image { { [blurRadius] in $0.imageBlurred(radius: CGFloat(blurRadius)) } }
}

// MARK: - Closures as filters

/// A filter that calls a closure.
public struct DynamicImageFilter: ImageFilter {
    /// The identifier.
    public let identifier: String
    /// The closure that creates the filtered image.
    public let filter: @Sendable (Image) -> Image

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - identifier: The identifier, which must be unique for the closure and its captured values.
    ///   - filter: The closure that creates the filtered image. It can be called on any thread.
    public init(_ identifier: String, filter: @escaping @Sendable (Image) -> Image) {
        self.identifier = identifier
        self.filter = filter
    }
}

// MARK: - Several filters

/// A filter that applies several filters in order.
public protocol CompositeImageFilter: ImageFilter {
    /// The filters in order.
    var filters: [any ImageFilter] { get }
}

extension CompositeImageFilter {
    /// The identifiers of all filters, joined by `_`.
    public var identifier: String { filters.map(\.identifier).joined(separator: "_") }

    /// Applies all filters in order.
    public var filter: @Sendable (Image) -> Image {
        { [filters] image in filters.reduce(image) { $1.filter($0) } }
    }
}

/// A filter that applies an array of filters in order.
public struct DynamicCompositeImageFilter: CompositeImageFilter {
    /// The filters in order.
    public let filters: [any ImageFilter]

    /// Creates a filter from several filters.
    public init(_ filters: [any ImageFilter]) { self.filters = filters }

    /// Creates a filter from several filters.
    public init(_ filters: any ImageFilter...) { self.filters = filters }
}

/// A filter that scales images to a size and crops them to a circle.
public struct ScaledToSizeCircleFilter: CompositeImageFilter {
    /// The filters in order.
    public let filters: [any ImageFilter]

    /// Creates a filter.
    ///
    /// - Parameter size: The size in points.
    public init(size: CGSize) {
        filters = [ScaledToSizeFilter(size: size), CircleFilter()]
    }
}

/// A filter that scales images to a size and rounds their corners.
public struct ScaledToSizeWithRoundedCornersFilter: CompositeImageFilter {
    /// The filters in order.
    public let filters: [any ImageFilter]

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - size: The size in points.
    ///   - radius: The radius in points.
    ///   - divideRadiusByImageScale: Whether to divide the radius by the image's scale. The default is false.
    public init(size: CGSize, radius: CGFloat, divideRadiusByImageScale: Bool = false) {
        filters = [
            ScaledToSizeFilter(size: size),
            RoundedCornersFilter(radius: radius, divideRadiusByImageScale: divideRadiusByImageScale),
        ]
    }
}

/// A filter that scales images to fill a size, and crops them to a circle.
public struct AspectScaledToFillSizeCircleFilter: CompositeImageFilter {
    /// The filters in order.
    public let filters: [any ImageFilter]

    /// Creates a filter.
    ///
    /// - Parameter size: The size in points.
    public init(size: CGSize) {
        filters = [AspectScaledToFillSizeFilter(size: size), CircleFilter()]
    }
}

/// A filter that scales images to fill a size, crops them, and rounds their corners.
public struct AspectScaledToFillSizeWithRoundedCornersFilter: CompositeImageFilter {
    /// The filters in order.
    public let filters: [any ImageFilter]

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - size: The size in points.
    ///   - radius: The radius in points.
    ///   - divideRadiusByImageScale: Whether to divide the radius by the image's scale. The default is false.
    public init(size: CGSize, radius: CGFloat, divideRadiusByImageScale: Bool = false) {
        filters = [
            AspectScaledToFillSizeFilter(size: size),
            RoundedCornersFilter(radius: radius, divideRadiusByImageScale: divideRadiusByImageScale),
        ]
    }
}

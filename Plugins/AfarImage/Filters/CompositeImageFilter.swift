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

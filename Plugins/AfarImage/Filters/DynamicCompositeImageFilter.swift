/// Filters that are put together where they are needed.
public struct DynamicCompositeImageFilter: CompositeImageFilter {
    /// The filters, the first of which gets the image.
    public let filters: [any ImageFilter]

    /// Makes a filter of several.
    public init(_ filters: [any ImageFilter]) { self.filters = filters }

    /// Makes a filter of several.
    public init(_ filters: any ImageFilter...) { self.filters = filters }
}

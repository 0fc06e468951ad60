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

/// Keeps images by identifiers. May be used from any thread.
public protocol ImageCache: Sendable {
    /// Keeps an image, in place of one with the same identifier.
    func add(_ image: Image, withIdentifier identifier: String)

    /// Removes the image with an identifier.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    func removeImage(withIdentifier identifier: String) -> Bool

    /// Removes all images.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    func removeAllImages() -> Bool

    /// The image with an identifier; nil when it is not there.
    func image(withIdentifier identifier: String) -> Image?
}

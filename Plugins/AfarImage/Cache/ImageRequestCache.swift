#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Keeps images by the requests that brought them. May be used from any thread.
public protocol ImageRequestCache: ImageCache {
    /// Keeps the image of a request.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - request: What brought it.
    ///   - identifier: What was done with it: a filter's identifier; nil for nothing.
    func add(_ image: Image, for request: URLRequest, withIdentifier identifier: String?)

    /// Removes the image of a request.
    ///
    /// - Parameters:
    ///   - request: What brought it.
    ///   - identifier: What was done with it: a filter's identifier; nil for nothing.
    /// - Returns: Whether there was one.
    @discardableResult
    func removeImage(for request: URLRequest, withIdentifier identifier: String?) -> Bool

    /// The image of a request; nil when it is not there.
    ///
    /// - Parameters:
    ///   - request: What brought it.
    ///   - identifier: What was done with it: a filter's identifier; nil for nothing.
    func image(for request: URLRequest, withIdentifier identifier: String?) -> Image?
}

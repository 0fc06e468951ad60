#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Keeps images in memory, up to a number of bytes: what was used least recently goes when there are more. May be used from any
/// thread.
///
/// On a disk, the responses themselves are kept by the session's HTTP cache, if it has one.
public final class AutoPurgingImageCache: ImageRequestCache {
    /// How many bytes the images may take together.
    public let memoryCapacity: UInt64
    /// How many bytes of them are left when images are purged.
    public let preferredMemoryUsageAfterPurge: UInt64
    private let contents = Guarded(Contents())

    /// Makes a cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: How many bytes the images may take together. The default is 100 MB.
    ///   - preferredMemoryUsageAfterPurge: How many bytes of them are left when images are purged; at most as many as the
    ///     capacity. The default is 60 MB.
    public init(memoryCapacity: UInt64 = 100_000_000, preferredMemoryUsageAfterPurge: UInt64 = 60_000_000) {
        self.memoryCapacity = memoryCapacity
        self.preferredMemoryUsageAfterPurge = min(preferredMemoryUsageAfterPurge, memoryCapacity)
    }

    /// How many bytes the images take.
    public var memoryUsage: UInt64 { contents.withLock { $0.bytes } }

    // MARK: By identifiers

    /// Keeps an image, in place of one with the same identifier. One that is larger than the cache is not kept.
    public func add(_ image: Image, withIdentifier identifier: String) {
        guard image.byteCount <= memoryCapacity else {
            removeImage(withIdentifier: identifier)
            return
        }
        // Released outside of the lock.
        _ = contents.withLock { contents -> [Image?] in
            let replaced = contents.add(image, identifier)
            guard contents.bytes > memoryCapacity else { return [replaced] }
            return contents.purge(to: preferredMemoryUsageAfterPurge) + [replaced]
        }
    }

    /// The image with an identifier; nil when it is not there.
    public func image(withIdentifier identifier: String) -> Image? { contents.withLock { $0.use(identifier) } }

    /// Removes the image with an identifier.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func removeImage(withIdentifier identifier: String) -> Bool {
        contents.withLock { $0.remove(identifier) } != nil
    }

    /// Removes all images.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    public func removeAllImages() -> Bool { contents.withLock { $0.removeAll() } > 0 }

    // MARK: By requests

    /// Keeps the image of a request.
    public func add(_ image: Image, for request: URLRequest, withIdentifier identifier: String? = nil) {
        add(image, withIdentifier: imageCacheKey(for: request, withIdentifier: identifier))
    }

    /// The image of a request; nil when it is not there.
    public func image(for request: URLRequest, withIdentifier identifier: String? = nil) -> Image? {
        image(withIdentifier: imageCacheKey(for: request, withIdentifier: identifier))
    }

    /// Removes the image of a request.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func removeImage(for request: URLRequest, withIdentifier identifier: String? = nil) -> Bool {
        removeImage(withIdentifier: imageCacheKey(for: request, withIdentifier: identifier))
    }

    /// Removes all images of a request, whatever was done with them.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    public func removeImages(matching request: URLRequest) -> Bool {
        let key = imageCacheKey(for: request, withIdentifier: nil)
        return contents.withLock { $0.removeAll { $0 == key || $0.hasPrefix("\(key)\0") } } > 0
    }

    /// The identifier under which the image of a request is kept: the URL, the method, a hash of the header fields and the
    /// body where there are any, and what was done with the image. It is good in this process only.
    public func imageCacheKey(for request: URLRequest, withIdentifier identifier: String?) -> String {
        let key = request.imageIdentity
        return identifier.map { "\(key)\0\($0)" } ?? key
    }
}

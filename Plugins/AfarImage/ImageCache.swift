import AfarCore

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A cache that stores images by identifier. Any thread can use it.
public protocol ImageCache: Sendable {
    /// Stores an image and replaces any image with the same identifier.
    func add(_ image: Image, withIdentifier identifier: String)

    /// Removes the image with an identifier.
    ///
    /// - Returns: Whether an image was removed.
    @discardableResult
    func removeImage(withIdentifier identifier: String) -> Bool

    /// Removes all images.
    ///
    /// - Returns: Whether images were removed.
    @discardableResult
    func removeAllImages() -> Bool

    /// Returns the image with an identifier, or nil if the cache doesn't contain it.
    func image(withIdentifier identifier: String) -> Image?
}

/// A cache that stores images by request. Any thread can use it.
public protocol ImageRequestCache: ImageCache {
    /// Stores the image of a request.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - request: The request for the image.
    ///   - identifier: The identifier of the applied filter, or nil for an unfiltered image.
    func add(_ image: Image, for request: URLRequest, withIdentifier identifier: String?)

    /// Removes the image of a request.
    ///
    /// - Parameters:
    ///   - request: The request for the image.
    ///   - identifier: The identifier of the applied filter, or nil for an unfiltered image.
    /// - Returns: Whether an image was removed.
    @discardableResult
    func removeImage(for request: URLRequest, withIdentifier identifier: String?) -> Bool

    /// Returns the image of a request, or nil if the cache doesn't contain it.
    ///
    /// - Parameters:
    ///   - request: The request for the image.
    ///   - identifier: The identifier of the applied filter, or nil for an unfiltered image.
    func image(for request: URLRequest, withIdentifier identifier: String?) -> Image?
}

// MARK: - Images in memory

/// A cache that stores images in memory and removes the least recently used images when it exceeds its capacity. Any thread can use
/// it.
///
/// To store responses on disk, use an HTTP cache in the session.
public final class AutoPurgingImageCache: ImageRequestCache {
    /// The maximum memory usage of the images in bytes.
    public let memoryCapacity: UInt64
    /// The memory usage in bytes to which a purge reduces the cache.
    public let preferredMemoryUsageAfterPurge: UInt64
    private let contents = Locked(Contents())

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The maximum memory usage of the images in bytes. The default is 100 MB.
    ///   - preferredMemoryUsageAfterPurge: The memory usage in bytes to which a purge reduces the cache, limited to the capacity. The
    ///     default is 60 MB.
    public init(memoryCapacity: UInt64 = 100_000_000, preferredMemoryUsageAfterPurge: UInt64 = 60_000_000) {
        self.memoryCapacity = memoryCapacity
        self.preferredMemoryUsageAfterPurge = min(preferredMemoryUsageAfterPurge, memoryCapacity)
    }

    /// The current memory usage of the images in bytes.
    public var memoryUsage: UInt64 { contents.withLock { $0.bytes } }

    // MARK: By identifiers

    /// Stores an image and replaces any image with the same identifier. An image larger than the capacity isn't stored.
    public func add(_ image: Image, withIdentifier identifier: String) {
        guard image.byteCount <= memoryCapacity else {
            removeImage(withIdentifier: identifier)
            return
        }
        // Images are released outside the lock.
        _ = contents.withLock { contents -> [Image?] in
            let replaced = contents.add(image, identifier)
            guard contents.bytes > memoryCapacity else { return [replaced] }
            return contents.purge(to: preferredMemoryUsageAfterPurge) + [replaced]
        }
    }

    /// Returns the image with an identifier, or nil if the cache doesn't contain it.
    public func image(withIdentifier identifier: String) -> Image? { contents.withLock { $0.use(identifier) } }

    /// Removes the image with an identifier.
    ///
    /// - Returns: Whether an image was removed.
    @discardableResult
    public func removeImage(withIdentifier identifier: String) -> Bool {
        contents.withLock { $0.remove(identifier) } != nil
    }

    /// Removes all images.
    ///
    /// - Returns: Whether images were removed.
    @discardableResult
    public func removeAllImages() -> Bool { contents.withLock { $0.removeAll() } > 0 }

    // MARK: By requests

    /// Stores the image of a request.
    public func add(_ image: Image, for request: URLRequest, withIdentifier identifier: String? = nil) {
        add(image, withIdentifier: imageCacheKey(for: request, withIdentifier: identifier))
    }

    /// Returns the image of a request, or nil if the cache doesn't contain it.
    public func image(for request: URLRequest, withIdentifier identifier: String? = nil) -> Image? {
        image(withIdentifier: imageCacheKey(for: request, withIdentifier: identifier))
    }

    /// Removes the image of a request.
    ///
    /// - Returns: Whether an image was removed.
    @discardableResult
    public func removeImage(for request: URLRequest, withIdentifier identifier: String? = nil) -> Bool {
        removeImage(withIdentifier: imageCacheKey(for: request, withIdentifier: identifier))
    }

    /// Removes all images of a request, both filtered and unfiltered.
    ///
    /// - Returns: Whether images were removed.
    @discardableResult
    public func removeImages(matching request: URLRequest) -> Bool {
        let key = imageCacheKey(for: request, withIdentifier: nil)
        return contents.withLock { $0.removeAll { $0 == key || $0.hasPrefix("\(key)\0") } } > 0
    }

    /// Returns the identifier of a request's image in the cache. It consists of the URL, the method, a hash of any header fields and
    /// body, and the filter's identifier. It's only valid in this process.
    public func imageCacheKey(for request: URLRequest, withIdentifier identifier: String?) -> String {
        let key = request.imageIdentity
        return identifier.map { "\(key)\0\($0)" } ?? key
    }
}

extension AutoPurgingImageCache {
    /// The images of a cache, with the order of their last use.
    struct Contents {
        private struct Entry {
            let image: Image
            let bytes: UInt64
            var lastUse: UInt64
        }

        private var entries: [String: Entry] = [:]
        private var uses: UInt64 = 0
        private(set) var bytes: UInt64 = 0

        /// Stores an image.
        ///
        /// - Returns: The replaced image, if any.
        mutating func add(_ image: Image, _ identifier: String) -> Image? {
            uses += 1
            let entry = Entry(image: image, bytes: UInt64(image.byteCount), lastUse: uses)
            let replaced = remove(identifier)
            entries[identifier] = entry
            bytes += entry.bytes
            return replaced
        }

        mutating func use(_ identifier: String) -> Image? {
            uses += 1
            entries[identifier]?.lastUse = uses
            return entries[identifier]?.image
        }

        mutating func remove(_ identifier: String) -> Image? {
            guard let entry = entries.removeValue(forKey: identifier) else { return nil }
            bytes -= entry.bytes
            return entry.image
        }

        /// Removes the images whose identifiers match.
        ///
        /// - Returns: The number of removed images.
        mutating func removeAll(where matches: (String) -> Bool = { _ in true }) -> Int {
            let identifiers = entries.keys.filter(matches)
            for identifier in identifiers { _ = remove(identifier) }
            return identifiers.count
        }

        /// Removes the least recently used images.
        ///
        /// - Returns: The removed images.
        mutating func purge(to limit: UInt64) -> [Image?] {
            var removed: [Image?] = []
            for (identifier, _) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) where bytes > limit {
                removed.append(remove(identifier))
            }
            return removed
        }
    }
}

// MARK: - Cache entries

extension ImageDownloader {
    /// The entry of an image in a cache.
    struct CacheEntry: Sendable {
        private let cache: (any ImageRequestCache)?
        private let request: URLRequest
        private let key: String?
        private let identifier: String?

        /// Creates the entry of a request's image.
        ///
        /// - Parameters:
        ///   - cache: The cache, if any.
        ///   - request: The request for the image.
        ///   - key: The caller's identifier, or nil to derive one from the other parameters.
        ///   - serializer: The serializer, whose options can affect the image.
        ///   - credential: The credential, on which the image can depend.
        ///   - filter: The filter, if any.
        init(
            _ cache: (any ImageRequestCache)?, _ request: URLRequest, _ key: String?,
            _ serializer: ImageResponseSerializer, _ credential: URLCredential?, _ filter: (any ImageFilter)?
        ) {
            self.cache = cache
            self.request = request
            self.key = key
            let parts = [
                serializer.options.cacheIdentifier, credential.map { "credential:(\($0.imageIdentity))" },
                filter?.identifier,
            ].compactMap(\.self)
            identifier = parts.isEmpty ? nil : parts.joined(separator: "_")
        }

        var image: Image? {
            guard let key else { return cache?.image(for: request, withIdentifier: identifier) }
            return cache?.image(withIdentifier: key)
        }

        @Sendable func store(_ image: Image) {
            if let key {
                cache?.add(image, withIdentifier: key)
            } else {
                cache?.add(image, for: request, withIdentifier: identifier)
            }
        }
    }
}

extension ImageDecodingOptions {
    /// An identifier for images that are decoded with these options, or nil if the options don't change the image.
    fileprivate var cacheIdentifier: String? {
        let size = targetSize.map { "target:(\($0.width)x\($0.height))" }
        let parts = [scale == 1 ? nil : "scale:(\(scale))", size].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "-")
    }
}

extension URLCredential {
    /// An identifier that doesn't reveal the credential.
    var imageIdentity: String { ImageIdentity.hash(of: user, password) }
}

// MARK: - Identities

extension URLRequest {
    /// An identifier of the requested image. It depends on everything that a server can use to choose the image. For example,
    /// requests with different `Authorization` fields have different identifiers.
    ///
    /// Header fields and bodies can be secret, so the identifier contains only a hash of them. The hash varies between processes.
    var imageIdentity: String {
        var parts = [url?.absoluteString ?? ""]
        if let httpMethod, httpMethod != "GET" { parts.append(httpMethod) }
        let fields = headers.map { [$0.name.lowercased(), $0.value] }.sorted { $0[0] < $1[0] }
        if !fields.isEmpty || httpBody != nil {
            parts.append(ImageIdentity.hash(of: fields, httpBody))
        }
        return parts.joined(separator: "\n")
    }
}

/// Identifiers for secrets.
enum ImageIdentity {
    /// Returns a 128-bit hash that doesn't reveal the parts. It varies between processes.
    static func hash<each Part: Hashable>(of part: repeat each Part) -> String {
        [0, 1].map { number in
            var hasher = Hasher()
            hasher.combine(number)
            repeat hasher.combine(each part)
            return String(UInt(bitPattern: hasher.finalize()), radix: 36)
        }.joined()
    }
}

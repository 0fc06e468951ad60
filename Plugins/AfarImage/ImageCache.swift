import AfarCore

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

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

// MARK: - Images in memory

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

extension AutoPurgingImageCache {
    /// The images of a cache, and the order in which they were used.
    struct Contents {
        private struct Entry {
            let image: Image
            let bytes: UInt64
            var lastUse: UInt64
        }

        private var entries: [String: Entry] = [:]
        private var uses: UInt64 = 0
        private(set) var bytes: UInt64 = 0

        /// Keeps an image.
        ///
        /// - Returns: The one that was there.
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

        /// Removes images that match.
        ///
        /// - Returns: How many they were.
        mutating func removeAll(where matches: (String) -> Bool = { _ in true }) -> Int {
            let identifiers = entries.keys.filter(matches)
            for identifier in identifiers { _ = remove(identifier) }
            return identifiers.count
        }

        /// Removes what was used least recently.
        ///
        /// - Returns: What was removed.
        mutating func purge(to limit: UInt64) -> [Image?] {
            var removed: [Image?] = []
            for (identifier, _) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) where bytes > limit {
                removed.append(remove(identifier))
            }
            return removed
        }
    }
}

// MARK: - Places in a cache

extension ImageDownloader {
    /// The place of an image in a cache.
    struct CacheEntry: Sendable {
        private let cache: (any ImageRequestCache)?
        private let request: URLRequest
        private let key: String?
        private let identifier: String?

        /// Makes the place of a request's image.
        ///
        /// - Parameters:
        ///   - cache: The cache; nil for none.
        ///   - request: What brings the image.
        ///   - key: The caller's identifier, or nil to derive one from the other parameters.
        ///   - serializer: Decodes the image, in a size of its own perhaps.
        ///   - credential: What challenges are answered with: others may get another image.
        ///   - filter: Changes the image.
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

        @Sendable func keep(_ image: Image) {
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
    /// What tells it apart from others, without telling what it is.
    var imageIdentity: String { ImageIdentity.hash(of: user, password) }
}

// MARK: - Identities

extension URLRequest {
    /// What requests have in common that bring the same image: the URL, and what else a server may look at. A request with
    /// another `Authorization` is another one.
    ///
    /// Header fields and bodies may be secret, so there is a hash of them only, another one in each process.
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

/// Names for what may be secret.
enum ImageIdentity {
    /// A hash of 128 bits that tells nothing, another one in each process.
    static func hash<each Part: Hashable>(of part: repeat each Part) -> String {
        [0, 1].map { number in
            var hasher = Hasher()
            hasher.combine(number)
            repeat hasher.combine(each part)
            return String(UInt(bitPattern: hasher.finalize()), radix: 36)
        }.joined()
    }
}

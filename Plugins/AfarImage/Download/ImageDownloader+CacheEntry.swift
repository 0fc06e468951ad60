import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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
        ///   - key: The identifier that the caller wants; nil for the one that is made of the rest.
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
    /// What tells an image apart that was decoded with these; nil when it is as it stands in the file.
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

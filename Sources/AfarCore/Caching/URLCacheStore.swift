import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A cache store that keeps responses in the memory of a `URLCache`, one per URL. On Linux, URLs that differ only in scheme or
/// query share one entry, because Foundation doesn't distinguish them.
public final class URLCacheStore: CacheStore, @unchecked Sendable {
    // Sendable because the cache can be used from any thread.

    private let storing = Locked(())

    /// The cache that holds the responses.
    public let cache: URLCache

    /// Creates a store on top of a cache.
    public init(_ cache: URLCache) {
        self.cache = cache
    }

    private static let key = "afar.response"

    /// Returns the responses to a URL, the newest first.
    public func responses(for url: String) -> [CachedResponse] {
        guard let request = Self.request(for: url), let entry = cache.cachedResponse(for: request) else { return [] }
        // Ignores entries of other code that uses the same cache: they don't record which requests may receive them.
        guard let response = entry.userInfo?[Self.key] as? CachedResponse, response.url == url else { return [] }
        return [response]
    }

    /// Stores a response, replacing the one of its variant.
    public func store(_ response: CachedResponse) {
        guard let request = Self.request(for: response.url), let entry = response.cachedURLResponse else { return }
        let keyed = CachedURLResponse(
            response: entry.response, data: entry.data, userInfo: [Self.key: response],
            storagePolicy: .allowedInMemoryOnly)
        storing.withLock { [cache] _ in
            // On Linux, a replaced entry is counted twice, which crashes the process when it is evicted.
            cache.removeCachedResponse(for: request)
            cache.storeCachedResponse(keyed, for: request)
        }
    }

    /// Removes the responses to a URL.
    public func removeResponses(for url: String) {
        if let request = Self.request(for: url) { cache.removeCachedResponse(for: request) }
    }

    /// Removes all responses.
    public func removeAll() { cache.removeAllCachedResponses() }

    private static func request(for url: String) -> URLRequest? {
        URL(keepingEscapesOf: url).map { URLRequest(url: $0) }
    }
}

extension CachedResponse {
    /// Foundation's form of the response; nil if the URL is invalid.
    var cachedURLResponse: CachedURLResponse? {
        let head = ResponseHead(status: status, fields: fields, url: url)
        return head.httpURLResponse.map { CachedURLResponse(response: $0, data: body) }
    }

    /// Returns the response as a handler modified it in Foundation's form; nil if the handler doesn't allow it to be stored.
    func changed(to other: CachedURLResponse) -> CachedResponse? {
        guard other.storagePolicy != .notAllowed else { return nil }
        var (status, fields) = (status, fields)
        if let head = other.response as? HTTPURLResponse {
            status = head.statusCode
            fields = HTTPFields(head, inPlaceOf: fields)
        }
        return CachedResponse(
            url: url, variant: variant, status: status, fields: fields, body: other.data, requestDate: requestDate,
            responseDate: responseDate, isForMemoryOnly: other.storagePolicy == .allowedInMemoryOnly)
    }
}

extension HTTPFields {
    /// Creates the fields of Foundation's form of a head. Unchanged fields with several values stay separate.
    fileprivate init(_ head: HTTPURLResponse, inPlaceOf old: HTTPFields) {
        self.init()
        for case (let text as String, let value as String) in head.allHeaderFields {
            guard let name = HTTPField.Name(text) else { continue }
            let values = old[values: name]
            if values.joined(separator: ", ") == value { self[values: name] = values } else { self[name] = value }
        }
    }
}

import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Keeps responses in a `URLCache`, one for each URL.
public final class URLCacheStore: CacheStore, @unchecked Sendable {
    // Sendable because the cache may be used from any thread.

    /// Where the responses are.
    public let cache: URLCache

    /// Makes a store on top of a cache.
    public init(_ cache: URLCache) {
        self.cache = cache
    }

    private static let key = "afar.response"

    /// The responses to a URL, the newest first.
    public func responses(for url: String) -> [CachedResponse] {
        guard let request = Self.request(for: url), let entry = cache.cachedResponse(for: request) else { return [] }
        if let response = entry.userInfo?[Self.key] as? CachedResponse { return [response] }
        // One that was on disk has lost what it was kept with.
        guard let head = entry.response as? HTTPURLResponse else { return [] }
        var fields = HTTPFields()
        for case (let text as String, let value as String) in head.allHeaderFields {
            if let name = HTTPField.Name(text) { fields[name] = value }
        }
        guard fields[.vary] == nil, let date = fields[.date].flatMap(HTTPDate.parse) else { return [] }
        let moment = Date(timeIntervalSince1970: Double(date))
        return [
            CachedResponse(
                url: url, variant: "", status: head.statusCode, fields: fields, body: entry.data, requestDate: moment,
                responseDate: moment)
        ]
    }

    /// Keeps a response in the place of the one of its variant.
    public func store(_ response: CachedResponse) {
        guard let request = Self.request(for: response.url), let entry = response.cachedURLResponse else { return }
        cache.storeCachedResponse(
            CachedURLResponse(
                response: entry.response, data: entry.data, userInfo: [Self.key: response],
                storagePolicy: response.variant.isEmpty ? .allowed : .allowedInMemoryOnly),
            for: request)
    }

    /// Forgets the responses to a URL.
    public func removeResponses(for url: String) {
        if let request = Self.request(for: url) { cache.removeCachedResponse(for: request) }
    }

    /// Forgets all responses.
    public func removeAll() { cache.removeAllCachedResponses() }

    private static func request(for url: String) -> URLRequest? { URL(string: url).map { URLRequest(url: $0) } }
}

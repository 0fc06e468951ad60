import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Keeps responses in the memory of a `URLCache`: one for each URL, and on Linux one for all URLs that differ in scheme and query
/// only, since Foundation tells those not apart.
public final class URLCacheStore: CacheStore, @unchecked Sendable {
    // Sendable because the cache may be used from any thread.

    private let storing = Locked(())

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
        // Others may put theirs into the same cache, and know nothing of who may see what.
        guard let response = entry.userInfo?[Self.key] as? CachedResponse, response.url == url else { return [] }
        return [response]
    }

    /// Keeps a response in the place of the one of its variant.
    public func store(_ response: CachedResponse) {
        guard let request = Self.request(for: response.url), let entry = response.cachedURLResponse else { return }
        let keyed = CachedURLResponse(
            response: entry.response, data: entry.data, userInfo: [Self.key: response],
            storagePolicy: .allowedInMemoryOnly)
        storing.withLock { [cache] _ in
            // On Linux one that takes another's place would be counted twice, and end the process when it is evicted.
            cache.removeCachedResponse(for: request)
            cache.storeCachedResponse(keyed, for: request)
        }
    }

    /// Forgets the responses to a URL.
    public func removeResponses(for url: String) {
        if let request = Self.request(for: url) { cache.removeCachedResponse(for: request) }
    }

    /// Forgets all responses.
    public func removeAll() { cache.removeAllCachedResponses() }

    private static func request(for url: String) -> URLRequest? {
        URL(keepingEscapesOf: url).map { URLRequest(url: $0) }
    }
}

extension CachedResponse {
    /// Foundation's form of it; nil when the URL cannot be read.
    var cachedURLResponse: CachedURLResponse? {
        let head = ResponseHead(status: status, fields: fields, url: url)
        return head.httpURLResponse.map { CachedURLResponse(response: $0, data: body) }
    }

    /// The response with what somebody has made of Foundation's form of it; nil when that is not to be kept.
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
    /// The fields of Foundation's form of a head. Those that are as before stay apart as they were.
    fileprivate init(_ head: HTTPURLResponse, inPlaceOf old: HTTPFields) {
        self.init()
        for case (let text as String, let value as String) in head.allHeaderFields {
            guard let name = HTTPField.Name(text) else { continue }
            let values = old[values: name]
            if values.joined(separator: ", ") == value { self[values: name] = values } else { self[name] = value }
        }
    }
}

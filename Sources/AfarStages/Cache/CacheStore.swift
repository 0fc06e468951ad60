public import Foundation
public import HTTPTypes

/// A type that stores responses by URL, such as ``MemoryCacheStore``.
///
/// A store doesn't implement the rules of caching. The cache decides which responses are stored and when they are used.
public protocol CacheStore: Sendable {
    /// A Boolean value that indicates whether ``responses(for:)`` can take a long time, for example because it reads a file.
    ///
    /// If true, the method is called in the request's task. If false, it is called immediately, on any thread.
    var isSlow: Bool { get }

    /// Returns the responses to a URL, newest first. They differ in their ``CachedResponse/variant``. Returns an empty array if none are
    /// stored or they can't be read.
    func responses(for url: String) -> [CachedResponse]

    /// Stores a response, and replaces the stored response with the same URL and variant. This method must return quickly and
    /// do slow work later. If the store is full or can't write, it can drop this response or others.
    func store(_ response: CachedResponse)

    /// Replaces a response with an updated one that has the same body, after the server validated it.
    func update(_ response: CachedResponse, inPlaceOf old: CachedResponse)

    /// Removes all responses to a URL. This method must return quickly. From then on, ``responses(for:)`` doesn't return these responses.
    func removeResponses(for url: String)

    /// Removes all responses.
    func removeAll()
}

extension CacheStore {
    /// A Boolean value that indicates whether lookups can be slow. The default is true, which is safe for every store.
    public var isSlow: Bool { true }

    /// The default implementation calls ``store(_:)``. Implement this method if writing the body again is slow.
    public func update(_ response: CachedResponse, inPlaceOf old: CachedResponse) { store(response) }
}

/// A complete response to a GET request, with the information that a cache requires to use it again (RFC 9111, section 3).
public final class CachedResponse: Sendable {
    /// The request's URL as text, without a fragment. Its scheme and host are in lowercase, and it doesn't contain the scheme's
    /// default port.
    public let url: String
    /// The text that distinguishes this response from others with the same URL. It contains the request's fields that `Vary` names,
    /// a `Host` field set by the caller, and credentials. Sensitive values are hashed.
    public let variant: String
    /// The status code.
    public let status: Int
    /// The header fields, without those that apply to a single connection (section 3.1).
    public let fields: HTTPFields
    /// The decoded body.
    public let body: Data
    /// The date when the request was sent.
    public let requestDate: Date
    /// The date when the response's head arrived, or when the response was last validated.
    public let responseDate: Date
    /// A Boolean value that indicates whether the response can be stored in memory only, and never on a disk.
    public let isForMemoryOnly: Bool
    /// The caching terms, parsed from the fields once.
    package let terms: CacheTerms

    /// Creates a response. Stores use this initializer to restore responses that they saved.
    public init(
        url: String, variant: String, status: Int, fields: HTTPFields, body: Data, requestDate: Date,
        responseDate: Date, isForMemoryOnly: Bool = false
    ) {
        self.url = url
        self.variant = variant
        self.status = status
        self.fields = fields
        self.body = body
        self.requestDate = requestDate
        self.responseDate = responseDate
        self.isForMemoryOnly = isForMemoryOnly
        terms = CacheTerms(status: status, fields: fields, requestDate: requestDate, responseDate: responseDate)
    }

    /// The approximate size in memory, in bytes.
    public var byteCount: Int {
        fields.reduce(body.count + url.utf8.count + variant.utf8.count + 512) { sum, field in
            sum + field.name.rawName.utf8.count + field.value.utf8.count + 64
        }
    }
}

/// A cache store that keeps responses in memory, up to a number of bytes. The least recently used responses are removed first.
public final class MemoryCacheStore: CacheStore {
    /// The default capacity: 64 MiB.
    public static let defaultCapacity = 64 * 1024 * 1024

    /// The maximum size of all responses in bytes, including heads.
    public let capacity: Int
    private let state = Locked(LeastRecentlyUsed<[CachedResponse]>())

    /// Creates an empty store.
    ///
    /// - Parameter capacity: The maximum size of all responses in bytes. The store doesn't keep a response that is larger than an
    ///   eighth of the capacity. The default is ``defaultCapacity``.
    public init(capacity: Int = MemoryCacheStore.defaultCapacity) {
        self.capacity = max(0, capacity)
    }

    /// A Boolean value that indicates whether lookups can be slow. It is always false.
    public var isSlow: Bool { false }

    /// The size of all responses in bytes.
    public var byteCount: Int { state.withLock { $0.cost } }

    /// The number of URLs that have a response.
    public var count: Int { state.withLock { $0.count } }

    /// Returns the responses to a URL, newest first.
    public func responses(for url: String) -> [CachedResponse] { state.withLock { $0.value(for: url) } ?? [] }

    /// Stores a response, and replaces the stored response with the same URL and variant.
    public func store(_ response: CachedResponse) {
        // A response that is too large isn't stored, but the older responses for its URL are removed anyway.
        guard response.byteCount <= capacity / 8 else { return removeResponses(for: response.url) }
        let dropped = state.withLock { [capacity] state -> [[CachedResponse]] in
            let others = (state.value(for: response.url) ?? []).filter { $0.variant != response.variant }
            var variants = [response]
            var cost = response.byteCount
            for other in others.prefix(Self.variantLimit - 1) where cost + other.byteCount <= capacity / 4 {
                variants.append(other)
                cost += other.byteCount
            }
            var dropped = state.set(variants, cost: cost, for: response.url)
            while state.cost > capacity, let least = state.removeLeast() { dropped.append(least) }
            return dropped
        }
        // Release memory outside the lock.
        withExtendedLifetime(dropped) {}
    }

    /// Removes the responses to a URL.
    public func removeResponses(for url: String) {
        let dropped = state.withLock { $0.remove(url) }
        withExtendedLifetime(dropped) {}
    }

    /// Removes all responses.
    public func removeAll() {
        let dropped = state.withLock { state in
            let dropped = state.values
            state = LeastRecentlyUsed()
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// The maximum number of responses for each URL. The limit is required because `Vary` can name a field that differs in each
    /// request. The responses to one URL can use at most a quarter of the capacity.
    private static let variantLimit = 16
}

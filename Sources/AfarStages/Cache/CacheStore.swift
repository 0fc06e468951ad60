public import Foundation
public import HTTPTypes

/// Keeps responses, by URL. ``MemoryCacheStore`` is one.
///
/// What it does for whom is not its business: rules about what may be kept and used again are the cache's.
public protocol CacheStore: Sendable {
    /// Whether looking for a response may take long, because it is in a file, say. Then it is done in a task of the request's,
    /// otherwise at once, on whatever thread.
    var isSlow: Bool { get }

    /// The responses to a URL that differ in ``CachedResponse/variant``, the newest first; none when there are none, or they
    /// cannot be read.
    func responses(for url: String) -> [CachedResponse]

    /// Keeps a response, in the place of the one with the same URL and variant. It returns soon: what takes long is done later.
    /// A store that is full, or cannot write, may forget this or others.
    func store(_ response: CachedResponse)

    /// Keeps a response in the place of another that has the same body: the server has said that it holds.
    func update(_ response: CachedResponse, inPlaceOf old: CachedResponse)

    /// Forgets all responses to a URL. It returns soon; ``responses(for:)`` does not give them from then on.
    func removeResponses(for url: String)

    /// Forgets all responses.
    func removeAll()
}

extension CacheStore {
    /// True, which is right for every store.
    public var isSlow: Bool { true }

    /// Stores the response, which is right for every store. One whose body takes long to write can do better.
    public func update(_ response: CachedResponse, inPlaceOf old: CachedResponse) { store(response) }
}

/// A complete response to a GET that a cache keeps, with what it must know to use it again (RFC 9111, section 3).
public final class CachedResponse: Sendable {
    /// The URL that was asked, as text, without fragment; its scheme and host in lower case, without the scheme's own port.
    public let url: String
    /// What separates this response from others of the same URL: the request's fields that `Vary` names, a `Host` of the
    /// caller's, and credentials. Values of sensitive fields are in it as hashes.
    public let variant: String
    /// The status code.
    public let status: Int
    /// The header fields, without those that are meant for one connection (section 3.1).
    public let fields: HTTPFields
    /// The body, decoded.
    public let body: Data
    /// When the request was sent.
    public let requestDate: Date
    /// When the response's head came, or the response was last found to be valid.
    public let responseDate: Date
    /// Whether it must not be written to a disk.
    public let isForMemoryOnly: Bool
    /// What its fields mean, read once.
    package let terms: CacheTerms

    /// Makes a response, for stores that bring back what they were given.
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

    /// About how many bytes it takes in memory.
    public var byteCount: Int {
        fields.reduce(body.count + url.utf8.count + variant.utf8.count + 512) { sum, field in
            sum + field.name.rawName.utf8.count + field.value.utf8.count + 64
        }
    }
}

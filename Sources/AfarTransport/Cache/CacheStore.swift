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

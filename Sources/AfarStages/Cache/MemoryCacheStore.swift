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

    /// Stores a response, and replaces the one with the same variant.
    public func store(_ response: CachedResponse) {
        // A newer response that is too large also removes the older ones.
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
        // Release the memory outside the lock.
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

    /// The maximum number of responses for each URL, because `Vary` can name a field that is different in each request. Together
    /// they can use at most a quarter of the capacity.
    private static let variantLimit = 16
}

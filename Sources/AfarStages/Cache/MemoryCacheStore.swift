/// Keeps responses in memory, up to a number of bytes. Those that were not used for longest go first.
public final class MemoryCacheStore: CacheStore {
    /// 64 MiB.
    public static let defaultCapacity = 64 * 1024 * 1024

    /// The most bytes that the responses may take, heads included.
    public let capacity: Int
    private let state = Locked(LeastRecentlyUsed<[CachedResponse]>())

    /// Makes an empty store.
    ///
    /// - Parameter capacity: The most bytes that the responses may take. One that takes more than an eighth of it is not kept.
    public init(capacity: Int = MemoryCacheStore.defaultCapacity) {
        self.capacity = max(0, capacity)
    }

    /// False.
    public var isSlow: Bool { false }

    /// How many bytes the responses take.
    public var byteCount: Int { state.withLock { $0.cost } }

    /// How many URLs have a response.
    public var count: Int { state.withLock { $0.count } }

    /// The responses to a URL, the newest first.
    public func responses(for url: String) -> [CachedResponse] { state.withLock { $0.value(for: url) } ?? [] }

    /// Keeps a response in the place of the one of its variant.
    public func store(_ response: CachedResponse) {
        // An older response does not outlive a newer one that is too large.
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
        // Their memory is given back without the lock.
        withExtendedLifetime(dropped) {}
    }

    /// Forgets the responses to a URL.
    public func removeResponses(for url: String) {
        let dropped = state.withLock { $0.remove(url) }
        withExtendedLifetime(dropped) {}
    }

    /// Forgets all responses.
    public func removeAll() {
        let dropped = state.withLock { state in
            let dropped = state.values
            state = LeastRecentlyUsed()
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// How many responses to one URL are kept, which are together no more than a quarter of everything: a `Vary` may name a
    /// field that is never the same.
    private static let variantLimit = 16
}

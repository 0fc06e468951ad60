import Foundation

/// When responses to URLs ceased to hold: an answer to a request that was sent before that may be an older one, and is not kept.
final class CacheInvalidations: Sendable {
    /// How many URLs are remembered, the latest.
    private static let limit = 1000

    private let dates = Locked(LeastRecentlyUsed<Date>())

    func note(_ url: String, at date: Date) {
        dates.withLock { dates in
            _ = dates.set(date, cost: 1, for: url)
            if dates.count > Self.limit { _ = dates.removeLeast() }
        }
    }

    func containsOne(of url: String, since requestDate: Date) -> Bool {
        dates.withLock { dates in dates.count > 0 && dates.value(for: url).map { $0 >= requestDate } ?? false }
    }
}

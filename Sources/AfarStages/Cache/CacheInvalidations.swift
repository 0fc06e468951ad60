import Foundation

/// The dates when the stored responses to URLs became invalid. A response to a request that was sent before that date can be
/// outdated and isn't stored.
final class CacheInvalidations: Sendable {
    /// The maximum number of URLs. Older entries are removed.
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

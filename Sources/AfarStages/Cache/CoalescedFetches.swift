/// The requests that are on their way to servers for a cache, so that others like them wait for what comes instead of asking, too.
final class CoalescedFetches: Sendable {
    /// What became of a fetch for those who have waited for it.
    enum Outcome: Sendable {
        /// A response has come. Whether it was kept, the store knows.
        case answered
        /// Nobody wants it any more, so that somebody else has to fetch.
        case cancelled
        case failed
        /// Who has waited does so no longer.
        case abandoned
    }

    private let waiters = Locked<[String: [Deferred<Outcome>]]>([:])

    /// Returns nil for the first, which has to call ``end(_:with:)``, and else what became of the first's fetch, when it has ended.
    ///
    /// - Parameter limit: How long that may take.
    func join(_ key: String, for limit: Duration) async -> Outcome? {
        let outcome = Deferred<Outcome>()
        let mustWait = waiters.withLock { waiters in
            guard waiters[key] != nil else {
                waiters[key] = []
                return false
            }
            waiters[key]?.append(outcome)
            return true
        }
        guard mustWait else { return nil }
        let timer = outcome.fulfil(.abandoned, after: limit)
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            outcome.fulfil(.abandoned)
        }
    }

    func end(_ key: String, with outcome: Outcome) {
        let ended = waiters.withLock { $0.removeValue(forKey: key) } ?? []
        for waiter in ended { waiter.fulfil(outcome) }
    }
}

/// A cache's requests in progress. Identical requests wait for their responses and aren't sent.
final class CoalescedFetches: Sendable {
    /// The outcome of a fetch, as reported to the requests that waited for it.
    enum Outcome: Sendable {
        /// A response arrived. The store contains it if it could be stored.
        case answered
        /// The request was canceled. One of the waiting requests must be sent.
        case cancelled
        case failed
        /// The waiting request reached its time limit or was canceled.
        case abandoned
    }

    private let waiters = Locked<[String: [Deferred<Outcome>]]>([:])

    /// Returns nil to the first caller for a key, which must call ``end(_:with:)``. Other callers wait for the outcome of the
    /// first caller's fetch.
    ///
    /// - Parameter limit: The maximum time to wait.
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
        let timer = outcome.fulfill(.abandoned, after: limit)
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            outcome.fulfill(.abandoned)
        }
    }

    func end(_ key: String, with outcome: Outcome) {
        let ended = waiters.withLock { $0.removeValue(forKey: key) } ?? []
        for waiter in ended { waiter.fulfill(outcome) }
    }
}

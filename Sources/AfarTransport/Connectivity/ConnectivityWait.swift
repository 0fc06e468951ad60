/// How a wait for a network ended.
package enum ConnectivityWait: Sendable {
    /// This is so now.
    case over(Connectivity)
    /// The time is up, or the task was cancelled.
    case givenUp
    /// The provider has nothing more to say.
    case noMoreUpdates
}

extension ConnectivityProvider {
    /// Waits until the connectivity is good enough.
    ///
    /// - Parameters:
    ///   - limit: How long to wait at most; no more than a clock can count from now.
    ///   - known: What was no good although it seemed so: it is good only when it has been worse in between.
    ///   - onWaiting: Called once, when the first value is not good enough, and never after this has returned.
    ///   - isGood: What is waited for.
    package func wait(
        upTo limit: Duration, differingFrom known: Connectivity? = nil,
        onWaiting: @escaping @Sendable () -> Void = {}, until isGood: @escaping @Sendable (Connectivity) -> Bool
    ) async -> ConnectivityWait {
        await withTaskGroup(of: ConnectivityWait.self) { group in
            group.addTask {
                var known = known
                var isWaiting = false
                for await connectivity in connectivityUpdates() {
                    let isGood = isGood(connectivity)
                    if isGood, connectivity != known { return .over(connectivity) }
                    if !isGood { known = nil }
                    if !isWaiting { onWaiting() }
                    isWaiting = true
                }
                return Task.isCancelled ? .givenUp : .noMoreUpdates
            }
            group.addTask {
                await pause(for: limit)
                return .givenUp
            }
            defer { group.cancelAll() }
            return await group.next() ?? .givenUp
        }
    }

    /// Whether the provider reports within a moment that there is no network. It may learn of a loss a little after
    /// requests fail by it, so a failure is not held against the network before that moment is over.
    package func detectsLoss(within limit: Duration) async -> Bool {
        let outcome = await wait(upTo: min(limit, .milliseconds(300)), until: { !$0.isOnline })
        if case .over = outcome { return true }
        return false
    }
}

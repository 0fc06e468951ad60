/// How a wait for a network ended.
enum ConnectivityWait: Sendable {
    /// This is so now.
    case over(Connectivity)
    /// The time is up, or the task was cancelled.
    case givenUp
    /// The provider has nothing more to say.
    case noMoreNews
}

extension ConnectivityProvider {
    /// Waits until the connectivity is good enough.
    ///
    /// - Parameters:
    ///   - limit: How long to wait at most; nil for as long as it takes.
    ///   - known: What was no good although it seemed so: it is good only when it has been worse in between.
    ///   - isGood: What is waited for.
    func wait(
        upTo limit: Duration?, differingFrom known: Connectivity? = nil,
        until isGood: @escaping @Sendable (Connectivity) -> Bool
    ) async -> ConnectivityWait {
        await withTaskGroup(of: ConnectivityWait.self) { group in
            group.addTask {
                var known = known
                for await connectivity in connectivityUpdates() {
                    guard isGood(connectivity) else {
                        known = nil
                        continue
                    }
                    if connectivity != known { return .over(connectivity) }
                }
                return Task.isCancelled ? .givenUp : .noMoreNews
            }
            if let limit {
                group.addTask {
                    try? await Task.sleep(for: limit)
                    return .givenUp
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? .givenUp
        }
    }
}

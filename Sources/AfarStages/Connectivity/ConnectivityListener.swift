import Synchronization

/// Notices when the network that connections were made over is not the same any more.
///
/// It listens from its start, a session's first request say, until it is ended.
package final class ConnectivityListener: Sendable {
    private enum State {
        case idle
        case listening(Task<Void, Never>)
        case ended
    }

    private let provider: any ConnectivityProvider
    private let wasStarted = Atomic(false)
    private let state = Locked(State.idle)

    package init(_ provider: any ConnectivityProvider) {
        self.provider = provider
    }

    /// Whether nobody has had it listen yet.
    package var mustStart: Bool { !wasStarted.load(ordering: .relaxed) }

    /// Begins to listen; only the first call does something.
    ///
    /// - Parameter networkDidChange: Called each time that there is another network.
    package func start(networkDidChange: @escaping @Sendable () -> Void) {
        guard !wasStarted.exchange(true, ordering: .relaxed) else { return }
        state.withLock { state in
            guard case .idle = state else { return }
            state = .listening(
                // Detached, so that it does not keep what the caller's task carries for as long as the session lives.
                Task.detached { [provider] in
                    var known: Connectivity.Identity?
                    for await connectivity in provider.connectivityUpdates() {
                        // Not to know the network is not to have another one.
                        guard connectivity.status != .unknown else { continue }
                        if let known, known != connectivity.identity { networkDidChange() }
                        known = connectivity.identity
                    }
                })
        }
    }

    /// Listens no more, nor again.
    package func end() {
        if case .listening(let task) = state.withLock({ Swift.exchange(&$0, with: .ended) }) { task.cancel() }
    }
}

import Synchronization

/// Notifies a session when the network that its connections use has changed.
///
/// It listens from its start, for example a session's first request, until its end.
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

    /// Whether the listener hasn't been started.
    package var mustStart: Bool { !wasStarted.load(ordering: .relaxed) }

    /// Starts listening. Only the first call has an effect.
    ///
    /// - Parameter networkDidChange: Called each time the network has changed.
    package func start(networkDidChange: @escaping @Sendable () -> Void) {
        guard !wasStarted.exchange(true, ordering: .relaxed) else { return }
        state.withLock { state in
            guard case .idle = state else { return }
            state = .listening(
                // Detached, so that it doesn't retain the task-local values of the caller for the session's lifetime.
                Task.detached { [provider] in
                    var known: Connectivity.Identity?
                    for await connectivity in provider.connectivityUpdates() {
                        // An unknown status doesn't mean that the network has changed.
                        guard connectivity.status != .unknown else { continue }
                        if let known, known != connectivity.identity { networkDidChange() }
                        known = connectivity.identity
                    }
                })
        }
    }

    /// Stops listening permanently.
    package func end() {
        if case .listening(let task) = state.withLock({ Swift.exchange(&$0, with: .ended) }) { task.cancel() }
    }
}

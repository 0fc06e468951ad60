import Synchronization

/// Closes a session's idle connections when the network that they were made over is not the same any more.
///
/// It listens from the session's first request on, and until the session ends. It keeps neither the session nor its
/// transport.
final class ConnectivityListener: Sendable {
    private enum State {
        case idle
        case listening(Task<Void, Never>)
        case ended
    }

    private let provider: any ConnectivityProvider
    private let wasStarted = Atomic(false)
    private let state = Locked(State.idle)

    init(_ provider: any ConnectivityProvider) {
        self.provider = provider
    }

    /// Listens for a session; only the first call does something.
    func start(for context: SessionContext) {
        guard !wasStarted.load(ordering: .relaxed), !wasStarted.exchange(true, ordering: .relaxed) else { return }
        state.withLock { state in
            guard case .idle = state else { return }
            state = .listening(
                // Detached, so that it does not keep what the caller's task carries for as long as the session lives.
                Task.detached { [provider, weak context] in
                    var known: Connectivity.Identity?
                    for await connectivity in provider.connectivityUpdates() {
                        guard let context else { return }
                        // Not to know the network is not to have another one.
                        guard connectivity.status != .unknown else { continue }
                        if let known, known != connectivity.identity { context.transport.closeIdleConnections() }
                        known = connectivity.identity
                    }
                })
        }
    }

    /// Listens no more.
    func end() {
        let last = state.withLock { state in
            defer { state = .ended }
            return state
        }
        if case .listening(let task) = last { task.cancel() }
    }
}

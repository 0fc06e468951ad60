/// A connection that comes later, and may be replaced by another when the request is retried. Who asks for it before is called
/// when it is there, or when none will ever be.
final class PendingConnection<Connection: Sendable>: Sendable {
    typealias Waiter = @Sendable (Connection?) -> Void

    private struct State {
        var connection: Connection?
        var waiters: [Waiter] = []
        var isOver = false
    }

    private let state = Locked(State())

    deinit { for waiter in state.withLock({ $0.waiters }) { waiter(nil) } }

    /// The connection, if it is there now.
    var connection: Connection? { state.withLock { $0.connection } }
    /// Whether somebody waits for it.
    var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// Calls those who wait, in their order, and after them everybody at once.
    func open(_ connection: Connection) {
        while true {
            let waiters = state.withLock { state in
                if state.waiters.isEmpty { state.connection = connection }
                return Swift.exchange(&state.waiters, with: [])
            }
            guard !waiters.isEmpty else { return }
            for waiter in waiters { waiter(connection) }
        }
    }

    /// The connection is no longer there. Another may come.
    func close() { state.withLock { $0.connection = nil } }

    /// No other will come.
    func end() {
        let waiters = state.withLock { state in
            state.isOver = true
            return Swift.exchange(&state.waiters, with: [])
        }
        for waiter in waiters { waiter(nil) }
    }

    /// Calls a closure with the connection when there is one, at once or later; with nil when there will be none.
    func whenOpen(_ waiter: @escaping Waiter) {
        let (connection, mustWait) = state.withLock { state -> (Connection?, Bool) in
            guard state.connection == nil, !state.isOver else { return (state.connection, false) }
            state.waiters.append(waiter)
            return (nil, true)
        }
        if !mustWait { waiter(connection) }
    }
}

/// Suspends and resumes a running exchange.
///
/// Suspending stops reading and sending as soon as the transport can. An open connection stays open, and one that is being opened
/// is still completed. While the exchange is suspended, its idle timer stops; the connect and total timers continue. All methods
/// can be called from any thread.
public final class ExchangeControl: Sendable {
    private struct State {
        var isSuspended = false
        var onChange: (@Sendable (Bool) -> Void)?
        /// The number of changes so far, and the last change that the transport was notified of. Counting is necessary because a
        /// transport can read the state between two changes that cancel each other out.
        var changeCount = 0
        var notifiedChangeCount = 0
        var isNotifying = false

        /// Returns the next update to report, if any. Only one thread reports at a time, so that updates keep their order.
        mutating func takeUpdate() -> (notify: @Sendable (Bool) -> Void, isSuspended: Bool)? {
            guard !isNotifying, let onChange, notifiedChangeCount != changeCount else { return nil }
            isNotifying = true
            notifiedChangeCount = changeCount
            return (onChange, isSuspended)
        }
    }

    private let state = InlineLocked(State())

    /// Creates a control that isn't suspended.
    public init() {}

    /// Whether the exchange is suspended.
    public var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// Suspends the exchange.
    public func suspend() { change(to: true) }

    /// Resumes the exchange.
    public func resume() { change(to: false) }

    private func change(to isSuspended: Bool) {
        var update = state.withLock { state in
            if state.isSuspended != isSuspended { state.changeCount += 1 }
            state.isSuspended = isSuspended
            return state.takeUpdate()
        }
        while let (notify, isSuspended) = update {
            notify(isSuspended)
            update = state.withLock { state in
                state.isNotifying = false
                return state.takeUpdate()
            }
        }
    }

    /// For transports: sets the closure that is called with `true` on suspension and `false` on resumption, and replaces the
    /// previous one. Pass nil when the exchange has ended.
    ///
    /// The closure is called by one thread at a time, and its last call reports the final state.
    ///
    /// - Returns: Whether the exchange is already suspended.
    @discardableResult
    public func attach(_ onChange: (@Sendable (_ isSuspended: Bool) -> Void)?) -> Bool {
        // Released after unlocking. Not returned from `withLock`, because passing a closure through generic code wraps it.
        var replaced: (@Sendable (Bool) -> Void)?
        defer { withExtendedLifetime(replaced) {} }
        return state.withLock { state in
            replaced = state.onChange
            state.onChange = onChange
            state.notifiedChangeCount = state.changeCount
            return state.isSuspended
        }
    }
}

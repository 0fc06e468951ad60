/// Suspends and resumes a running exchange.
///
/// Suspending stops reading and sending as soon as the transport can; the connection stays open. While suspended, the
/// idle and connect timers stand still and the total timer runs on. All methods may be called from any thread.
public final class ExchangeControl: Sendable {
    private struct State {
        var isSuspended = false
        var onChange: (@Sendable (Bool) -> Void)?
    }

    private let state = Locked(State())

    /// Makes a control in the running state.
    public init() {}

    /// Whether the exchange is to stand still.
    public var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// Stops the exchange where it is.
    public func suspend() { change(to: true) }

    /// Lets the exchange go on.
    public func resume() { change(to: false) }

    private func change(to isSuspended: Bool) {
        let onChange = state.withLock { state -> (@Sendable (Bool) -> Void)? in
            guard state.isSuspended != isSuspended else { return nil }
            state.isSuspended = isSuspended
            return state.onChange
        }
        onChange?(isSuspended)
    }

    /// For transports: registers what is called with `true` on suspension and `false` on resumption, in place of what
    /// was registered before; nil when the exchange is over. Returns whether the exchange is suspended already.
    @discardableResult
    public func attach(_ onChange: (@Sendable (_ isSuspended: Bool) -> Void)?) -> Bool {
        state.withLock { state in
            state.onChange = onChange
            return state.isSuspended
        }
    }
}

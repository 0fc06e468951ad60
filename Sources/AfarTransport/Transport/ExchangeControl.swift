/// Suspends and resumes a running exchange.
///
/// Suspending stops reading and sending as soon as the transport can; the connection stays open, and one that is being
/// made is made. While suspended, the idle timer stands still; the connect and total timers run on. All methods may be
/// called from any thread.
public final class ExchangeControl: Sendable {
    private struct State {
        var isSuspended = false
        var onChange: (@Sendable (Bool) -> Void)?
        /// How often that changed, and up to which change the transport knows. A transport may look in between, so that
        /// of two changes that cancel each other out it can have seen one.
        var changeCount = 0
        var toldChangeCount = 0
        var isTelling = false

        /// Takes the next update to report, if any. One thread reports at a time, so that updates keep their order.
        mutating func takeUpdate() -> (tell: @Sendable (Bool) -> Void, isSuspended: Bool)? {
            guard !isTelling, let onChange, toldChangeCount != changeCount else { return nil }
            isTelling = true
            toldChangeCount = changeCount
            return (onChange, isSuspended)
        }
    }

    private let state = InlineLocked(State())

    /// Makes a control in the running state.
    public init() {}

    /// Whether the exchange is to stand still.
    public var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// Stops the exchange where it is.
    public func suspend() { change(to: true) }

    /// Lets the exchange go on.
    public func resume() { change(to: false) }

    private func change(to isSuspended: Bool) {
        var update = state.withLock { state in
            if state.isSuspended != isSuspended { state.changeCount += 1 }
            state.isSuspended = isSuspended
            return state.takeUpdate()
        }
        while let (tell, isSuspended) = update {
            tell(isSuspended)
            update = state.withLock { state in
                state.isTelling = false
                return state.takeUpdate()
            }
        }
    }

    /// For transports: registers what is called with `true` on suspension and `false` on resumption, in place of what
    /// was registered before; nil when the exchange is over. It is called by one thread at a time, and last with what is
    /// so in the end. Returns whether the exchange is suspended already.
    @discardableResult
    public func attach(_ onChange: (@Sendable (_ isSuspended: Bool) -> Void)?) -> Bool {
        // Released when the lock is free; not among the answers, since a closure is wrapped when it passes through generic code.
        var replaced: (@Sendable (Bool) -> Void)?
        defer { withExtendedLifetime(replaced) {} }
        return state.withLock { state in
            replaced = state.onChange
            state.onChange = onChange
            state.toldChangeCount = state.changeCount
            return state.isSuspended
        }
    }
}

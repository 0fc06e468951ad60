/// Suspends and resumes a running exchange.
///
/// Suspending stops reading and sending as soon as the transport can; the connection stays open. While suspended, the
/// idle and connect timers stand still and the total timer runs on. All methods may be called from any thread.
public final class ExchangeControl: Sendable {
    private struct State {
        var isSuspended = false
        var onChange: (@Sendable (Bool) -> Void)?
        /// What `onChange` was told last.
        var toldSuspended = false
        var isTelling = false

        /// Takes what is to be told next, if anything. One thread tells at a time, else news could overtake each other.
        mutating func takeNews() -> (tell: @Sendable (Bool) -> Void, isSuspended: Bool)? {
            guard !isTelling, let onChange, toldSuspended != isSuspended else { return nil }
            isTelling = true
            toldSuspended = isSuspended
            return (onChange, isSuspended)
        }
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
        var news = state.withLock { state in
            state.isSuspended = isSuspended
            return state.takeNews()
        }
        while let (tell, isSuspended) = news {
            tell(isSuspended)
            news = state.withLock { state in
                state.isTelling = false
                return state.takeNews()
            }
        }
    }

    /// For transports: registers what is called with `true` on suspension and `false` on resumption, in place of what
    /// was registered before; nil when the exchange is over. It is called by one thread at a time, and last with what is
    /// so in the end. Returns whether the exchange is suspended already.
    @discardableResult
    public func attach(_ onChange: (@Sendable (_ isSuspended: Bool) -> Void)?) -> Bool {
        state.withLock { state in
            state.onChange = onChange
            state.toldSuspended = state.isSuspended
            return state.isSuspended
        }
    }
}

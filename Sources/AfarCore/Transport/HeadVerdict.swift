/// What is done with a response whose head has come.
public enum HeadVerdict: Sendable {
    /// The body is taken, to where the delivery says; nil stands for ``Exchange/delivery``. Another delivery has to be of
    /// the same kind as that.
    case take(ResponseDelivery? = nil)
    /// Nobody wants the body. Up to so many bytes of it are read, so that the connection can serve again. The response is
    /// returned with an empty body, however the exchange ends.
    case discard(upTo: Int64)
    /// The exchange fails with ``TransportError/Code-swift.struct/cancelled``, and this as the cause.
    case refuse(any Error)
    /// Somebody is asked.
    case ask(PendingVerdict)
}

extension TransportError {
    /// The error of an exchange whose response is refused.
    package init(refused url: String?, because error: any Error) {
        self.init(
            .cancelled, phase: .receiving, url: url, message: "the response's head was refused", underlying: error)
    }
}

/// A verdict that is given later. When it is dropped instead, the response is refused.
public final class PendingVerdict: Sendable {
    private enum State {
        case open
        case awaited(@Sendable (HeadVerdict) -> Void)
        case given(HeadVerdict)
        case over
    }

    private let state = Locked(State.open)

    /// Makes a verdict that is still open.
    public init() {}

    deinit { give(.refuse(CancellationError())) }

    /// Gives the verdict, from any thread. Only the first one counts.
    public func give(_ verdict: HeadVerdict) {
        let receive = state.withLock { state -> (@Sendable (HeadVerdict) -> Void)? in
            switch state {
            case .open: state = .given(verdict)
            case .awaited(let receive):
                state = .over
                return receive
            case .given, .over: break
            }
            return nil
        }
        receive?(verdict)
    }

    /// For transports: has the verdict passed on, at once if it was given already; else by the thread that gives it.
    ///
    /// - Parameter receive: Called once. A verdict that is to be asked for in turn is not passed on, but what comes of it.
    public func whenGiven(_ receive: @escaping @Sendable (HeadVerdict) -> Void) {
        let receive: @Sendable (HeadVerdict) -> Void = { verdict in
            if case .ask(let other) = verdict { other.whenGiven(receive) } else { receive(verdict) }
        }
        let given = state.withLock { state -> HeadVerdict? in
            guard case .given(let verdict) = state else {
                state = .awaited(receive)
                return nil
            }
            state = .over
            return verdict
        }
        if let given { receive(given) }
    }
}

/// The decision on a response, made when its head has arrived.
public enum HeadVerdict: Sendable {
    /// The body is taken, to where the delivery says; nil stands for ``Exchange/delivery``. Another delivery has to be of
    /// the same kind as that.
    case take(ResponseDelivery? = nil)
    /// Nobody wants the body. Up to so many bytes of it are read, so that the connection can serve again. The response is
    /// returned with an empty body, however the body ends, but for a cancel.
    case discard(upTo: Int64)
    /// The exchange fails with ``TransportError/Code-swift.struct/cancelled``, and this as the cause.
    case refuse(any Error)
    /// The decision is pending, because code outside of the transport makes it.
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
    private struct State {
        /// Whether it was given, be it that somebody else is to give it.
        var isGiven = false
        var verdict: HeadVerdict?
        var receivers: [@Sendable (HeadVerdict) -> Void] = []
    }

    private let state = Locked(State())

    /// Makes a verdict that is still open.
    public init() {}

    deinit { give(.refuse(CancellationError())) }

    /// Gives the verdict, from any thread. Only the first one counts.
    public func give(_ verdict: HeadVerdict) {
        guard !state.withLock({ Swift.exchange(&$0.isGiven, with: true) }) else { return }
        guard case .ask(let other) = verdict else { return settle(verdict) }
        if other === self { settle(.refuse(CancellationError())) } else { other.whenGiven { [self] in settle($0) } }
    }

    private func settle(_ verdict: HeadVerdict) {
        let receivers = state.withLock { state in
            state.verdict = verdict
            return Swift.exchange(&state.receivers, with: [])
        }
        for receive in receivers { receive(verdict) }
    }

    /// For transports: has the verdict passed on, at once if it was given already; else by the thread that gives it.
    ///
    /// - Parameter receive: Called once, with a verdict other than ``HeadVerdict/ask(_:)``.
    public func whenGiven(_ receive: @escaping @Sendable (HeadVerdict) -> Void) {
        let verdict = state.withLock { state in
            if state.verdict == nil { state.receivers.append(receive) }
            return state.verdict
        }
        if let verdict { receive(verdict) }
    }
}

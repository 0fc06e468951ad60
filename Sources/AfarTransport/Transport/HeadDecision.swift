/// The decision on a response, made when its head has arrived.
public enum HeadDecision: Sendable {
    /// The body is taken, to where the delivery says; nil stands for ``Exchange/delivery``. Another delivery has to be of
    /// the same kind as that.
    case take(ResponseDelivery? = nil)
    /// Nobody wants the body. Up to so many bytes of it are read, so that the connection can serve again. The response is
    /// returned with an empty body, however the body ends, but for a cancel.
    case discard(upTo: Int64)
    /// The exchange fails with ``TransportError/Code-swift.struct/cancelled``, and this as the cause.
    case refuse(any Error)
    /// The decision is pending, because code outside of the transport makes it.
    case ask(PendingHeadDecision)
}

extension TransportError {
    /// The error of an exchange whose response is refused.
    package init(refused url: String?, because error: any Error) {
        self.init(
            .cancelled, phase: .receiving, url: url, message: "the response's head was refused", underlying: error)
    }
}

/// A decision that is given later. When it is dropped instead, the response is refused.
public final class PendingHeadDecision: Sendable {
    private struct State {
        /// Whether it was given, be it that somebody else is to give it.
        var isGiven = false
        var decision: HeadDecision?
        var receivers: [@Sendable (HeadDecision) -> Void] = []
    }

    private let state = Locked(State())

    /// Makes a decision that is still open.
    public init() {}

    deinit { give(.refuse(CancellationError())) }

    /// Gives the decision, from any thread. Only the first one counts.
    public func give(_ decision: HeadDecision) {
        guard !state.withLock({ Swift.exchange(&$0.isGiven, with: true) }) else { return }
        guard case .ask(let other) = decision else { return settle(decision) }
        if other === self { settle(.refuse(CancellationError())) } else { other.whenGiven { [self] in settle($0) } }
    }

    private func settle(_ decision: HeadDecision) {
        let receivers = state.withLock { state in
            state.decision = decision
            return Swift.exchange(&state.receivers, with: [])
        }
        for receive in receivers { receive(decision) }
    }

    /// For transports: calls a closure with the decision, immediately if it was given already, otherwise on the thread that gives it.
    ///
    /// - Parameter receive: Called once, with a decision other than ``HeadDecision/ask(_:)``.
    public func whenGiven(_ receive: @escaping @Sendable (HeadDecision) -> Void) {
        let decision = state.withLock { state in
            if state.decision == nil { state.receivers.append(receive) }
            return state.decision
        }
        if let decision { receive(decision) }
    }
}

extension HeadDecision {
    /// For transports: the decision that is given in the end, which is not ``ask(_:)``; a refusal when the task is cancelled
    /// before. Nobody here keeps one that is pending: when its owner drops it, that is a refusal too.
    public consuming func settled() async -> HeadDecision {
        let deferred = Deferred<HeadDecision>()
        pass(to: deferred)
        return await withTaskCancellationHandler {
            await deferred.value
        } onCancel: {
            deferred.fulfil(.refuse(CancellationError()))
        }
    }

    private consuming func pass(to deferred: Deferred<HeadDecision>) {
        if case .ask(let pending) = self { pending.whenGiven { deferred.fulfil($0) } } else { deferred.fulfil(self) }
    }
}

/// A decision about a response, made when its head has arrived.
public enum HeadDecision: Sendable {
    /// Accepts the body and sends it to this delivery, which must be of the same kind as ``Exchange/delivery``. Nil means
    /// ``Exchange/delivery`` itself.
    case take(ResponseDelivery? = nil)
    /// Discards the body. At most this many of its bytes are read, so that the connection can be reused. The response is returned with an
    /// empty body, even if reading the body fails. A canceled exchange still fails.
    case discard(upTo: Int64)
    /// Fails the exchange with ``TransportError/Code-swift.struct/cancelled`` and this error as the cause.
    case refuse(any Error)
    /// Defers the decision to code outside of the transport.
    case deferred(PendingHeadDecision)
}

extension TransportError {
    /// Creates the error of an exchange whose response is refused.
    package init(refused url: String?, because error: any Error) {
        self.init(
            .cancelled, phase: .receiving, url: url, message: "the response's head was refused", underlying: error)
    }
}

/// A decision that is made later. If this object is released before the decision is made, the response is refused.
public final class PendingHeadDecision: Sendable {
    private struct State {
        /// Whether the decision has been made or delegated.
        var isFulfilled = false
        var decision: HeadDecision?
        var receivers: [@Sendable (HeadDecision) -> Void] = []
    }

    private let state = Locked(State())

    /// Creates a pending decision.
    public init() {}

    deinit { fulfill(.refuse(CancellationError())) }

    /// Makes the decision, from any thread. Only the first call has an effect.
    public func fulfill(_ decision: HeadDecision) {
        guard !state.withLock({ Swift.exchange(&$0.isFulfilled, with: true) }) else { return }
        guard case .deferred(let other) = decision else { return settle(decision) }
        if other === self { settle(.refuse(CancellationError())) } else { other.whenDecided { [self] in settle($0) } }
    }

    private func settle(_ decision: HeadDecision) {
        let receivers = state.withLock { state in
            state.decision = decision
            return Swift.exchange(&state.receivers, with: [])
        }
        for receive in receivers { receive(decision) }
    }

    /// For transports: calls a closure with the decision, either immediately if it has been made, or later on the thread that
    /// makes it.
    ///
    /// - Parameter receive: Called once, with a decision other than ``HeadDecision/deferred(_:)``.
    public func whenDecided(_ receive: @escaping @Sendable (HeadDecision) -> Void) {
        let decision = state.withLock { state in
            if state.decision == nil { state.receivers.append(receive) }
            return state.decision
        }
        if let decision { receive(decision) }
    }
}

extension HeadDecision {
    /// For transports: waits for the final decision, which is never ``deferred(_:)``.
    ///
    /// Returns a refusal if the task is canceled first, or if a pending decision is released before the decision is made. This
    /// method doesn't retain the decision.
    public consuming func settled() async -> HeadDecision {
        let deferred = Deferred<HeadDecision>()
        pass(to: deferred)
        return await deferred.value(ifCancelled: .refuse(CancellationError()))
    }

    private consuming func pass(to deferred: Deferred<HeadDecision>) {
        if case .deferred(let pending) = self {
            pending.whenDecided { deferred.fulfill($0) }
        } else {
            deferred.fulfill(self)
        }
    }
}

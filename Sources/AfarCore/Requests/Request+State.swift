public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Request {
    /// Where a request stands.
    public enum State: Sendable {
        /// Made, not started.
        case initialized
        /// Running, or running again.
        case resumed
        /// Held.
        case suspended
        /// Cancelled for good.
        case cancelled
        /// Over; its handlers have been called.
        case finished

        /// Whether a call from outside may lead from this state to another. Cancelled and finished are final.
        func canTransition(to other: State) -> Bool {
            switch (self, other) {
            case (.cancelled, _), (.finished, _), (_, .initialized): false
            case (.resumed, .resumed), (.suspended, .suspended): false
            default: true
            }
        }
    }

    // MARK: Reading the state

    /// Names the request; made when first asked for.
    public var id: UUID {
        mutable.withLock { state in
            let id = state.id ?? UUID()
            state.id = id
            return id
        }
    }

    /// Where the request stands.
    public var state: State { mutable.withLock { $0.state } }
    /// Whether it has not been started.
    public var isInitialized: Bool { state == .initialized }
    /// Whether it is running.
    public var isResumed: Bool { state == .resumed }
    /// Whether it is held.
    public var isSuspended: Bool { state == .suspended }
    /// Whether it was cancelled.
    public var isCancelled: Bool { state == .cancelled }
    /// Whether it is over.
    public var isFinished: Bool { state == .finished }

    /// What went wrong, if anything did. A failed serialization is in its response only.
    public var error: AFError? { mutable.withLock { $0.error } }

    /// Every `URLRequest` made so far: for each attempt the one from the caller's values and, if there are adapters, the
    /// adapted one.
    public var requests: [URLRequest] { mutable.withLock { $0.history.requests } }
    /// The first of ``requests``.
    public var firstRequest: URLRequest? { mutable.withLock { $0.history.requests.first } }
    /// The last of ``requests``.
    public var lastRequest: URLRequest? { mutable.withLock { $0.history.requests.last } }
    /// The current request; the same as ``lastRequest``.
    public var request: URLRequest? { lastRequest }
    /// The `URLRequest`s that were handed to the transport.
    public var performedRequests: [URLRequest] { mutable.withLock { $0.history.performedRequests } }

    /// How often the request was tried again.
    public var retryCount: Int { mutable.withLock { $0.history.retryCount } }

    /// The response's head, once it is there.
    public var response: HTTPURLResponse? { responseHead?.httpURLResponse }
    /// The response's head as the transport gave it, once it is there.
    public var responseHead: ResponseHead? { mutable.withLock { $0.attempt.head } }

    /// What was measured of each attempt that is over.
    public var allMetrics: [TaskMetrics] { mutable.withLock { $0.history.attempts }.map(\.metrics) }
    /// The first of ``allMetrics``.
    public var firstMetrics: TaskMetrics? { mutable.withLock { $0.history.attempts.first }?.metrics }
    /// The last of ``allMetrics``.
    public var lastMetrics: TaskMetrics? { mutable.withLock { $0.history.attempts.last }?.metrics }
    /// The current metrics; the same as ``lastMetrics``.
    public var metrics: TaskMetrics? { lastMetrics }
}

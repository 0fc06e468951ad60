public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Everything about a request that changes.
struct RequestState {
    var state = Request.State.initialized
    var id: UUID?
    /// Why the request was ended from outside: a cancel, or the session's end. It outranks the failure of an attempt.
    var end: AFError?
    /// When the request was started, in seconds since the reference date; nil before.
    var startTime: TimeInterval?
    var settings: Settings
    var history = History()
    /// The attempt that runs, or was the last one.
    var attempt = AttemptState()
    var interceptorRecords = InterceptorRecords()
    /// The input stream that was sent last, as a body.
    var streamedBody: (source: InputStream, body: RequestBodyStream)?
    var handlers = HandlerQueue()
    /// Nil as long as nobody observes the request.
    private(set) var observers: Observers?
    var deadlineTimer: DelayedCall?
    /// The pipeline, while it waits until the request is resumed or ended.
    var waiting: UnsafeContinuation<Void, Never>?
    /// Runs the request, from its start to its end.
    var task: Task<Void, Never>?
    /// Who waits for the response and may lend his task meanwhile.
    var inlineRunner: (any InlineJobRunner)?

    /// What the request's owner has set.
    struct Settings {
        var interceptor: (any RequestInterceptor)?
        var redirectHandler: (any RedirectHandler)?
        var cachedResponseHandler: (any CachedResponseHandler)?
        var credential: URLCredential?
        var options: RequestOptions.Box?
        var headListeners: [Request.HeadListener] = []
        var validators: [Validator] = []
    }

    /// What has been made and sent in all attempts.
    struct History {
        var requests: [URLRequest] = []
        /// How many of `requests` there were when the last one made for sending was broadcast.
        var finalRequestCount = 0
        /// The last `URLRequest` that was made for sending, whose body has been made too.
        var finalRequest: URLRequest? { requests.prefix(finalRequestCount).last }
        var performedRequests: [URLRequest] = []
        var attempts: [AttemptReport] = []
        var retryCount = 0
    }

    /// What interceptors have noted about the request.
    struct InterceptorRecords {
        /// The networks over which retriers that wait for one have had the request sent last.
        var connectivityTried: [ObjectIdentifier: Connectivity] = [:]
        /// What interceptors that authenticate have done for the request.
        var authentications: [ObjectIdentifier: AuthenticationRecord] = [:]
    }

    init(interceptor: (any RequestInterceptor)?) { settings = Settings(interceptor: interceptor) }

    var error: AFError? { end ?? attempt.failure }
    var isStarted: Bool { startTime != nil }
    /// Whether the request is not to be sent yet.
    var mustWait: Bool { error == nil && (state == .suspended || state == .initialized) }
    /// Whether anything is still open: the request was not ended from outside and is not over.
    var isActive: Bool { end == nil && state != .finished }

    /// The observers, to add one.
    mutating func makeObservers() -> Observers {
        let observers = observers ?? Observers()
        self.observers = observers
        return observers
    }

    /// Returns whether the state changed.
    mutating func move(to other: Request.State) -> Bool {
        guard state.canTransition(to: other) else { return false }
        state = other
        return true
    }

    /// What to do next about the handlers. Once nothing is left to serialize, the request is finished: a cancel comes
    /// too late.
    mutating func nextStep() -> HandlerQueue.Step {
        let step = handlers.step()
        if case .makeResponse = step { return step }
        _ = move(to: .finished)
        return step
    }

    /// Finishes a request without handlers when its network work has ended. A cancel comes too late then.
    mutating func finishWithoutHandlers() {
        if handlers.isEmpty { _ = move(to: .finished) }
    }

    /// Makes the request ready for one attempt more. Returns the handlers, which are to forget their responses, or nil
    /// when the request was ended meanwhile.
    mutating func beginRetry() -> [ResponseHandler]? {
        guard isActive else { return nil }
        history.retryCount += 1
        endTask()
        attempt.failure = nil
        return handlers.rewind()
    }

    /// What has to be ended when the request ends from outside.
    mutating func takeEnding() -> Ending {
        Ending(task: task, driver: attempt.driver, work: attempt.work, waiting: waiting.take())
    }

    /// Everything that works for a request and is to stop.
    struct Ending {
        let task: Task<Void, Never>?
        let driver: HopDriver?
        let work: [Task<Void, Never>]
        let waiting: UnsafeContinuation<Void, Never>?

        /// To be called without the lock.
        func perform() {
            task?.cancel()
            driver?.cancel()
            for task in work { task.cancel() }
            waiting?.resume()
        }
    }
}

/// What is known of one attempt. Another attempt begins with another value.
struct AttemptState {
    /// What stages of the exchange and listeners do in tasks of their own.
    var work: [Task<Void, Never>] = []
    /// Suspends and resumes the exchange; nil when none runs.
    var control: ExchangeControl?
    /// Brings the exchange to its end; nil when none runs.
    var driver: HopDriver?
    /// What monitors were notified of; nil before, and when they were notified of the end.
    var sent: Sent?
    /// The last redirect, as far as it was reported.
    var redirect: Redirect?
    var head: ResponseHead?
    /// Fulfilled when the listeners have answered; nil before the head arrives.
    var headDecided: Deferred<Void>?
    /// Whether a listener has ended the request at the head, so that nothing of the body is handed on.
    var isRefusedAtHead = false
    /// The number of bytes of the whole that were there before the body.
    var bytesBefore: Int64 = 0
    /// Why the attempt failed.
    var failure: AFError?

    /// An attempt that was sent.
    struct Sent {
        /// What went wrong before the validators' turn came.
        var error: AFError?
    }
}

/// Those who observe a request.
final class Observers {
    /// The monitors of this request, the session's among them; nil when it has none of its own.
    var monitor: CompositeEventMonitor?
    /// The progress of the bodies.
    var sending: TransferProgress?
    var receiving: TransferProgress?
    /// The `URLRequest`s that are made.
    var urlRequests: Broadcast<URLRequest>?
    /// The attempts in the shape of tasks.
    var tasks: [any RequestTask] = []
    var urlSessionTasks: Broadcast<URLSessionTask>?
}

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

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

struct RequestState {
    var state = Request.State.initialized
    var id: UUID?
    /// The error with which a cancellation, the session or the deadline ended the request. It takes precedence over an
    /// attempt's failure.
    var end: AFError?
    /// The time at which the request started, in seconds since the reference date, or nil if it hasn't started.
    var startTime: TimeInterval?
    var settings: Settings
    var history = History()
    var attempt = AttemptState()
    var interceptorRecords = InterceptorRecords()
    /// The input stream that was last sent as a body.
    var streamedBody: (source: InputStream, body: RequestBodyStream)?
    var handlers = HandlerQueue()
    /// Nil until the request is observed.
    private(set) var observers: Observers?
    var deadline: Deadline?
    /// The continuation that the pipeline awaits until the request is resumed or ended.
    var waiting: UnsafeContinuation<Void, Never>?
    /// The task that runs the request from its start to its end.
    var task: Task<Void, Never>?
    /// The response that a task can await. While the task waits, it can run the request's jobs.
    var inlineRunner: AnyDeferred?

    /// The settings made by the request's owner.
    struct Settings {
        var interceptor: (any RequestInterceptor)?
        var redirectHandler: (any RedirectHandler)?
        var cachedResponseHandler: (any CachedResponseHandler)?
        var credential: URLCredential?
        var options: RequestOptions.Box?
        var headListeners: [Request.HeadListener] = []
        var validators: [Validator] = []
    }

    struct Deadline {
        /// The deadline, as the uptime of the session's time source.
        let time: Duration
        let timer: DelayedCall
    }

    struct History {
        var requests: [URLRequest] = []
        /// The number of `requests` up to and including `finalRequest`.
        var finalRequestCount = 0
        /// The last `URLRequest` for which all adapters have run.
        var finalRequest: URLRequest? { requests.prefix(finalRequestCount).last }
        var performedRequests: [URLRequest] = []
        var attempts: [AttemptReport] = []
        var retryCount = 0
    }

    struct InterceptorRecords {
        /// For each retrier that waits for connectivity, the network over which it last retried the request.
        var connectivityTried: [ObjectIdentifier: Connectivity] = [:]
        var authentications: [ObjectIdentifier: AuthenticationRecord] = [:]
    }

    init(interceptor: (any RequestInterceptor)?) { settings = Settings(interceptor: interceptor) }

    var error: AFError? { end ?? attempt.failure }
    var isStarted: Bool { startTime != nil }
    /// Whether the request must be resumed before it can be sent.
    var mustWait: Bool { error == nil && (state == .suspended || state == .initialized) }
    /// Whether the request is unfinished and was neither canceled nor ended by its session.
    var isActive: Bool { end == nil && state != .finished }

    mutating func makeObservers() -> Observers {
        let observers = observers ?? Observers()
        self.observers = observers
        return observers
    }

    /// Changes the state if the transition is allowed. Returns whether the state changed.
    mutating func move(to other: Request.State) -> Bool {
        guard state.canTransition(to: other) else { return false }
        state = other
        return true
    }

    /// Returns the next step for the handlers. After the last serializer has run, the request is finished and can no longer be
    /// canceled.
    mutating func nextStep() -> HandlerQueue.Step {
        let step = handlers.step()
        if case .makeResponse = step { return step }
        _ = move(to: .finished)
        return step
    }

    /// Finishes a request without handlers after its network operations have ended. The request can't be canceled after that.
    mutating func finishWithoutHandlers() {
        if handlers.isEmpty { _ = move(to: .finished) }
    }

    /// Prepares the request for another attempt. Returns the handlers, whose responses the caller must discard. Returns nil if
    /// the request was ended in the meantime.
    mutating func beginRetry() -> [ResponseHandler]? {
        guard isActive else { return nil }
        history.retryCount += 1
        endTask()
        attempt.failure = nil
        return handlers.prepareForRetry()
    }

    mutating func takeEnding() -> Ending {
        Ending(task: task, driver: attempt.driver, work: attempt.work, waiting: waiting.take())
    }

    /// The operations to stop when a request is canceled or ended by its session.
    struct Ending {
        let task: Task<Void, Never>?
        let driver: HopDriver?
        let work: [Task<Void, Never>]
        let waiting: UnsafeContinuation<Void, Never>?

        /// Must be called without holding the lock.
        func perform() {
            task?.cancel()
            driver?.cancel()
            for task in work { task.cancel() }
            waiting?.resume()
        }
    }
}

struct AttemptState {
    /// Tasks of the exchange's stages and of listeners.
    var work: [Task<Void, Never>] = []
    /// Suspends and resumes the exchange. Nil when no exchange is running.
    var control: ExchangeControl?
    /// Runs the exchange to its end. Nil when no exchange is running.
    var driver: HopDriver?
    /// Set when monitors are notified that the attempt has started. Nil after they are notified that it has ended.
    var sent: Sent?
    var redirect: Redirect?
    var head: ResponseHead?
    /// Fulfilled when the head listeners have decided or the request has ended. Nil before the head arrives, and if there are
    /// no listeners.
    var headDecided: Deferred<Void>?
    /// Whether a head listener ended the request. If so, no part of the body is delivered.
    var isRefusedAtHead = false
    /// The offset of the body in the complete content, in bytes.
    var bytesBefore: Int64 = 0
    var failure: AFError?

    struct Sent {
        /// The error that occurred before the validators ran.
        var error: AFError?
    }
}

final class Observers {
    /// The monitors of this request and its session, or nil if the request has no monitors of its own.
    var monitor: CompositeEventMonitor?
    var sending: TransferProgress?
    var receiving: TransferProgress?
    var urlRequests: Broadcast<URLRequest>?
    var tasks: [any RequestTask] = []
    var urlSessionTasks: Broadcast<URLSessionTask>?
}

extension Request {
    /// The state of a request.
    public enum State: Sendable {
        /// The request was created but hasn't started.
        case initialized
        /// The request is running.
        case resumed
        /// The request is suspended.
        case suspended
        /// The request was canceled. This state is final.
        case cancelled
        /// The request has finished. Its handlers are being called or have been called. This state is final.
        case finished

        /// Returns whether this state can change to another one. Canceled and finished are final.
        func canTransition(to other: State) -> Bool {
            switch (self, other) {
            case (.cancelled, _), (.finished, _), (_, .initialized): false
            case (.resumed, .resumed), (.suspended, .suspended): false
            default: true
            }
        }
    }

    /// The identifier of the request. It is created on first access.
    public var id: UUID {
        mutable.withLock { state in
            let id = state.id ?? UUID()
            state.id = id
            return id
        }
    }

    /// The state of the request.
    public var state: State { mutable.withLock { $0.state } }
    /// A Boolean value that indicates whether the request hasn't started.
    public var isInitialized: Bool { state == .initialized }
    /// A Boolean value that indicates whether the request is running.
    public var isResumed: Bool { state == .resumed }
    /// A Boolean value that indicates whether the request is suspended.
    public var isSuspended: Bool { state == .suspended }
    /// A Boolean value that indicates whether the request was canceled.
    public var isCancelled: Bool { state == .cancelled }
    /// A Boolean value that indicates whether the request has finished.
    public var isFinished: Bool { state == .finished }

    /// The error of the request, or nil. If a serializer fails, only its handler's response contains that error.
    public var error: AFError? { mutable.withLock { $0.error } }

    /// All `URLRequest`s so far. Each attempt adds the request created from the caller's values. If the request has adapters, the
    /// attempt also adds the adapted request.
    public var requests: [URLRequest] { mutable.withLock { $0.history.requests } }
    /// The first element of ``requests``.
    public var firstRequest: URLRequest? { mutable.withLock { $0.history.requests.first } }
    /// The last element of ``requests``.
    public var lastRequest: URLRequest? { mutable.withLock { $0.history.requests.last } }
    /// The current request; the same as ``lastRequest``.
    public var request: URLRequest? { lastRequest }
    /// The `URLRequest`s that were prepared for the transport, in the order of the attempts.
    public var performedRequests: [URLRequest] { mutable.withLock { $0.history.performedRequests } }

    /// The number of times the request was retried.
    public var retryCount: Int { mutable.withLock { $0.history.retryCount } }

    /// The response's head, or nil if it hasn't arrived.
    public var response: HTTPURLResponse? { responseHead?.httpURLResponse }
    /// The response's head as the transport received it, or nil if it hasn't arrived.
    public var responseHead: ResponseHead? { mutable.withLock { $0.attempt.head } }
    /// The trailer fields, which the server sent after the response's body (RFC 9110, section 6.5). They are available when the request has
    /// ended. `URLSessionTransport` doesn't report them.
    public var trailers: HTTPHeaders { mutable.withLock { $0.history.attempts.last }?.trailers ?? HTTPHeaders() }

    /// The metrics of each finished attempt.
    public var allMetrics: [TaskMetrics] { mutable.withLock { $0.history.attempts }.map(\.metrics) }
    /// The first element of ``allMetrics``.
    public var firstMetrics: TaskMetrics? { mutable.withLock { $0.history.attempts.first }?.metrics }
    /// The last element of ``allMetrics``.
    public var lastMetrics: TaskMetrics? { mutable.withLock { $0.history.attempts.last }?.metrics }
    /// The current metrics; the same as ``lastMetrics``.
    public var metrics: TaskMetrics? { lastMetrics }
}

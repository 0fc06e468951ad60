import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The state of a session. Requests reference this state instead of the session, so that the session ends when the user releases
/// it.
final class SessionState: Sendable {
    private struct Mutable {
        weak var owner: Session?
        var end: AFError?
        /// Whether new requests are rejected.
        var isDraining = false
        /// The error with which new requests fail.
        var refusal: AFError? { end ?? (isDraining ? .sessionInvalidated(error: nil) : nil) }
        var running = RunningRequests<Request>()
        var endWaiters: [Deferred<AFError?>] = []
    }

    // MARK: Values from the initializer

    let configuration: SessionConfiguration
    let connectivity: (any ConnectivityProvider)?
    let delegate: SessionDelegate
    let queues: SessionQueues
    let startRequestsImmediately: Bool
    let requestSetup: Session.RequestSetup
    let interceptor: (any RequestInterceptor)?
    let serverTrustManager: ServerTrustManager?
    let redirectHandler: (any RedirectHandler)?
    let cachedResponseHandler: (any CachedResponseHandler)?
    /// The stages that were passed to the session's initializer.
    private let customStages: [any ExchangeStage]
    /// The monitors that were passed to the session's initializer.
    let customMonitors: CompositeEventMonitor

    // MARK: Derived values

    /// The transport, and the stages that requests pass on the way to it.
    let stack: TransportStack
    /// Held during calls to adapters and retriers, so that a session calls them one at a time.
    let interceptorLock = CallbackLock()
    /// All monitors that can observe every request.
    let listeners: CompositeEventMonitor
    /// Whether the session has monitors besides the delegate and the notifications.
    let hasEventMonitors: Bool
    /// Nil if the session has no connectivity provider.
    private let connectivityListener: ConnectivityListener?
    private let mutable = Locked(Mutable())

    init(
        configuration: SessionConfiguration,
        transport: any Transport,
        connectivity: (any ConnectivityProvider)?,
        delegate: SessionDelegate,
        queues: SessionQueues,
        startRequestsImmediately: Bool,
        requestSetup: Session.RequestSetup,
        interceptor: (any RequestInterceptor)?,
        serverTrustManager: ServerTrustManager?,
        redirectHandler: (any RedirectHandler)?,
        cachedResponseHandler: (any CachedResponseHandler)?,
        eventMonitors: [any EventMonitor],
        stages customStages: [any ExchangeStage]
    ) {
        self.configuration = configuration
        self.connectivity = connectivity
        self.delegate = delegate
        self.queues = queues
        self.startRequestsImmediately = startRequestsImmediately
        self.requestSetup = requestSetup
        self.interceptor = interceptor
        self.serverTrustManager = serverTrustManager
        self.redirectHandler = redirectHandler
        self.cachedResponseHandler = cachedResponseHandler
        customMonitors = CompositeEventMonitor(monitors: eventMonitors)
        self.customStages = customStages
        stack = TransportStack(
            configuration, over: transport, customStages: customStages, connectivity: connectivity,
            serverTrustManager: serverTrustManager)
        (listeners, hasEventMonitors) = Self.listeners(eventMonitors, delegate, on: queues.root)
        connectivityListener = connectivity.map(ConnectivityListener.init)
    }

    func makeStack(_ configuration: SessionConfiguration, over transport: any Transport) -> TransportStack {
        TransportStack(
            configuration, over: transport, customStages: customStages, connectivity: connectivity,
            serverTrustManager: serverTrustManager)
    }

    /// The session, until it is released. Set once, when the session is created.
    var owner: Session? {
        get { mutable.withLock { $0.owner } }
        set { mutable.withLock { $0.owner = newValue } }
    }

    // MARK: The session's requests

    /// The requests that have started and haven't finished.
    var running: [Request] { mutable.withLock { $0.running.all } }

    /// The error with which new requests fail, or nil if the session accepts requests.
    var refusal: AFError? { mutable.withLock { $0.refusal } }

    /// Registers a request that is about to start.
    ///
    /// - Returns: The error that prevents the request from running, or nil if the session accepts requests.
    func start(_ request: Request) -> AFError? {
        let end = mutable.withLock { state in
            state.running.insert(request)
            return state.refusal
        }
        listenForConnectivity()
        return end
    }

    /// Starts to observe connectivity. When the network changes, idle connections are closed.
    func listenForConnectivity() {
        guard let connectivityListener, connectivityListener.mustStart else { return }
        connectivityListener.start { [weak self] in self?.stack.transport.closeIdleConnections() }
    }

    func remove(_ request: Request) {
        for proceed in mutable.withLock({ $0.running.remove(request) }) { proceed() }
    }

    /// Calls a closure after all of these requests have finished, or immediately if none is running.
    func whenFinished(_ requests: [Request], _ proceed: @escaping @Sendable () -> Void) {
        for proceed in mutable.withLock({ $0.running.whenFinished(requests, proceed) }) { proceed() }
    }

    /// Waits for the end of the session. Returns the session's error, or nil if the task is canceled first.
    func waitForEnd() async -> AFError? {
        let waiter = Deferred<AFError?>()
        let end = mutable.withLock { state in
            if state.end == nil { state.endWaiters.append(waiter) }
            return state.end
        }
        if let end { return end }
        defer { mutable.withLock { $0.endWaiters.removeAll { $0 === waiter } } }
        return await waiter.value(ifCancelled: nil)
    }

    /// Starts to reject new requests.
    func drain() { mutable.withLock { $0.isDraining = true } }

    /// Ends the session. Running requests, and requests that start later, fail with `error`.
    func end(with error: AFError) {
        let affected = mutable.withLock { state -> (running: [Request], waiters: [Deferred<AFError?>])? in
            guard state.end == nil else { return nil }
            state.end = error
            return (state.running.all, state.endWaiters)
        }
        guard let (running, waiters) = affected else { return }
        connectivityListener?.end()
        for waiter in waiters { waiter.fulfill(error) }
        for request in running { request.end(with: error) }
        let cause: (any Error)? = if case .sessionInvalidated(let error) = error { error } else { nil }
        eventMonitor?.receive(.sessionDidBecomeInvalid(cause))
    }
}

/// The queues of a session: the queues passed to its initializer, and the queues that its properties return.
struct SessionQueues {
    let root: DispatchQueue
    /// Nil if no queue was passed. Each request's task then creates its `URLRequest`s.
    let request: DispatchQueue?
    /// Nil if no queue was passed. Each request's task then runs its serializers.
    let serialization: DispatchQueue?
    /// The value of ``Session/requestQueue``, whether or not it is used.
    let exposedRequest: DispatchQueue
    /// The value of ``Session/serializationQueue``, whether or not it is used.
    let exposedSerialization: DispatchQueue

    init(root: DispatchQueue, request: DispatchQueue?, serialization: DispatchQueue?) {
        self.root = root
        self.request = request
        self.serialization = serialization
        exposedRequest = request ?? DispatchQueue(label: "\(root.label).requestQueue", target: root)
        exposedSerialization = serialization ?? DispatchQueue(label: "\(root.label).serializationQueue", target: root)
    }
}

/// Stores the requests that have started and haven't finished. Also stores closures to call when some of these requests have
/// finished.
///
/// This type calls no closures itself. Its methods return the closures to call, because user code must not run under the lock
/// that protects this value.
struct RunningRequests<Subject: AnyObject & Sendable> {
    typealias Proceed = @Sendable () -> Void

    private struct Waiting {
        var subjects: Set<ObjectIdentifier>
        let proceed: Proceed
    }

    private var subjects: [ObjectIdentifier: Subject] = [:]
    private var waiting: [Waiting] = []

    var all: [Subject] { Array(subjects.values) }

    mutating func insert(_ subject: Subject) { subjects[ObjectIdentifier(subject)] = subject }

    /// Returns the closures to call now, outside the lock.
    mutating func remove(_ subject: Subject) -> [Proceed] {
        subjects[ObjectIdentifier(subject)] = nil
        guard !waiting.isEmpty else { return [] }
        for index in waiting.indices { waiting[index].subjects.remove(ObjectIdentifier(subject)) }
        return takeReady()
    }

    /// Registers a closure to call after all of these subjects have finished. Returns the closures to call now.
    mutating func whenFinished(_ subjects: [Subject], _ proceed: @escaping Proceed) -> [Proceed] {
        let running = Set(subjects.map(ObjectIdentifier.init)).intersection(self.subjects.keys)
        waiting.append(Waiting(subjects: running, proceed: proceed))
        return takeReady()
    }

    /// Removes and returns the closures that no longer wait for a subject.
    private mutating func takeReady() -> [Proceed] {
        let ready = waiting.filter(\.subjects.isEmpty)
        if !ready.isEmpty { waiting.removeAll(where: \.subjects.isEmpty) }
        return ready.map(\.proceed)
    }
}

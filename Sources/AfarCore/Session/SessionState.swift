import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a session is. Requests hold it instead of the session, so that a session ends when its user lets go of it.
final class SessionState: Sendable {
    private struct Mutable {
        weak var owner: Session?
        var end: AFError?
        /// Whether no more requests are taken.
        var isDraining = false
        var running = RunningRequests<Request>()
    }

    // MARK: What the session was given

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
    /// The stages that the session was given.
    private let ownStages: [any ExchangeStage]
    /// The monitors that the session was given.
    let ownMonitors: CompositeEventMonitor

    // MARK: What is made of that

    /// The way that requests go.
    let stack: TransportStack
    /// Held while an adapter or a retrier of any request is called.
    let interceptorLock = CallbackLock()
    /// All monitors that may observe all requests.
    let listeners: CompositeEventMonitor
    /// Whether somebody listens but for the delegate and the notifications.
    let hasEventMonitors: Bool
    /// Nil without a connectivity provider.
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
        stages ownStages: [any ExchangeStage]
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
        ownMonitors = CompositeEventMonitor(monitors: eventMonitors)
        self.ownStages = ownStages
        stack = TransportStack(
            configuration, over: transport, ownStages: ownStages, connectivity: connectivity,
            serverTrustManager: serverTrustManager)
        (listeners, hasEventMonitors) = Self.listeners(eventMonitors, delegate, on: queues.root)
        connectivityListener = connectivity.map(ConnectivityListener.init)
        delegate.attach(self)
    }

    /// A way like the session's own over another transport.
    func makeStack(_ configuration: SessionConfiguration, over transport: any Transport) -> TransportStack {
        TransportStack(
            configuration, over: transport, ownStages: ownStages, connectivity: connectivity,
            serverTrustManager: serverTrustManager)
    }

    /// The session, while it lives. It is set once, when the session is made.
    var owner: Session? {
        get { mutable.withLock { $0.owner } }
        set { mutable.withLock { $0.owner = newValue } }
    }

    // MARK: The session's requests

    /// Those that have been started and are not over.
    var running: [Request] { mutable.withLock { $0.running.all } }

    /// A request is started.
    ///
    /// - Returns: Why it may not run; nil while the session is in use.
    func start(_ request: Request) -> AFError? {
        let end = mutable.withLock { state in
            state.running.insert(request)
            return state.end ?? (state.isDraining ? .sessionInvalidated(error: nil) : nil)
        }
        if let connectivityListener, connectivityListener.mustStart {
            connectivityListener.start { [weak self] in self?.stack.transport.closeIdleConnections() }
        }
        return end
    }

    /// A request is over.
    func remove(_ request: Request) {
        for proceed in mutable.withLock({ $0.running.remove(request) }) { proceed() }
    }

    /// Calls a closure when none of these requests is running any more; at once, if none is.
    func whenOver(_ requests: [Request], _ proceed: @escaping @Sendable () -> Void) {
        for proceed in mutable.withLock({ $0.running.whenOver(requests, proceed) }) { proceed() }
    }

    /// No more requests are taken.
    func drain() { mutable.withLock { $0.isDraining = true } }

    /// Ends the session: its running requests, and those that are started later, fail with `error`.
    func end(with error: AFError) {
        let running = mutable.withLock { state -> [Request]? in
            guard state.end == nil else { return nil }
            state.end = error
            return state.running.all
        }
        guard let running else { return }
        connectivityListener?.end()
        for request in running { request.end(with: error) }
        let cause: (any Error)? = if case .sessionInvalidated(let error) = error { error } else { nil }
        eventMonitor?.urlSession(.shared, didBecomeInvalidWithError: cause)
    }
}

/// The queues of a session: those that it was given, and those that it shows in their place.
struct SessionQueues {
    let root: DispatchQueue
    /// Nil when the session was given none: each request makes its own `URLRequest`s.
    let request: DispatchQueue?
    /// Nil when the session was given none: each request runs its own serializers.
    let serialization: DispatchQueue?
    /// ``Session/requestQueue``, used or not.
    let shownRequest: DispatchQueue
    /// ``Session/serializationQueue``, used or not.
    let shownSerialization: DispatchQueue

    init(root: DispatchQueue, request: DispatchQueue?, serialization: DispatchQueue?) {
        self.root = root
        self.request = request
        self.serialization = serialization
        shownRequest = request ?? DispatchQueue(label: "\(root.label).requestQueue", target: root)
        shownSerialization = serialization ?? DispatchQueue(label: "\(root.label).serializationQueue", target: root)
    }
}

/// What has been started and is not over, and who waits for some of that to end: a pure value.
///
/// What is to be called is returned, since nobody's code is called under the lock that this stands behind.
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

    /// - Returns: What is to be called now.
    mutating func remove(_ subject: Subject) -> [Proceed] {
        subjects[ObjectIdentifier(subject)] = nil
        guard !waiting.isEmpty else { return [] }
        for index in waiting.indices { waiting[index].subjects.remove(ObjectIdentifier(subject)) }
        return takeReady()
    }

    /// Has a closure called when none of these is running any more.
    ///
    /// - Returns: What is to be called now.
    mutating func whenOver(_ subjects: [Subject], _ proceed: @escaping Proceed) -> [Proceed] {
        let running = Set(subjects.map(ObjectIdentifier.init)).intersection(self.subjects.keys)
        waiting.append(Waiting(subjects: running, proceed: proceed))
        return takeReady()
    }

    /// Takes out those who have nothing to wait for any more.
    private mutating func takeReady() -> [Proceed] {
        let ready = waiting.filter(\.subjects.isEmpty)
        if !ready.isEmpty { waiting.removeAll(where: \.subjects.isEmpty) }
        return ready.map(\.proceed)
    }
}

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What all requests of a session share. Requests hold it instead of the session, so that a session ends when its user
/// lets go of it.
final class SessionContext: Sendable {
    private struct State {
        weak var session: Session?
        var end: AFError?
    }

    /// The session's transport, and what stands around it.
    let transport: any Transport
    /// The same, when it can send without a task.
    let directTransport: (any DirectTransport)?
    let capabilities: TransportCapabilities
    /// The template for the options of every exchange, or why the configuration gives none.
    let options: Result<ExchangeOptions, any Error>
    let responseBodyLimit: Int64?
    let maximumRedirects: Int
    /// Headers that are not to be shown, beside those whose names tell.
    let secretHeaders: Set<String>
    let delegate: SessionDelegate
    let interceptor: (any RequestInterceptor)?
    /// Held while an adapter or a retrier of any request is called.
    let interceptors = AsyncMutex()
    let redirectHandler: (any RedirectHandler)?
    private let hasEventMonitors: Bool
    /// Everybody who may listen to all requests.
    let listeners: CompositeEventMonitor
    let startRequestsImmediately: Bool
    let rootQueue: DispatchQueue
    /// Nil when the session was given none: each request makes its own `URLRequest`s.
    let requestQueue: DispatchQueue?
    /// Nil when the session was given none: each request runs its own serializers.
    let serializationQueue: DispatchQueue?
    /// The session's ``Session/serializationQueue``, used or not.
    let shownSerializationQueue: DispatchQueue
    /// Nil when nobody knows of the network.
    private let connectivityListener: ConnectivityListener?
    private let state = Locked(State())

    init(
        configuration: SessionConfiguration,
        transport: any Transport,
        connectivity: (any ConnectivityProvider)?,
        delegate: SessionDelegate,
        interceptor: (any RequestInterceptor)?,
        redirectHandler: (any RedirectHandler)?,
        eventMonitors: [any EventMonitor],
        startRequestsImmediately: Bool,
        rootQueue: DispatchQueue,
        requestQueue: DispatchQueue?,
        serializationQueue: DispatchQueue?,
        shownSerializationQueue: DispatchQueue
    ) {
        let stack = TransportStack.make(around: transport, for: configuration, connectivity: connectivity)
        self.transport = stack
        directTransport = stack as? any DirectTransport
        self.delegate = delegate
        self.interceptor = interceptor
        self.redirectHandler = redirectHandler
        let eventMonitors = eventMonitors + [LoggingMonitor.environment].compactMap { $0 }
        hasEventMonitors = !eventMonitors.isEmpty
        let notifications =
            eventMonitors.contains { $0 is RequestNotifications } ? [] : [RequestNotifications.automatic]
        listeners = CompositeEventMonitor(
            monitors: [DelegateEvents(delegate, on: rootQueue)] + notifications + eventMonitors)
        self.startRequestsImmediately = startRequestsImmediately
        self.rootQueue = rootQueue
        self.requestQueue = requestQueue
        self.serializationQueue = serializationQueue
        self.shownSerializationQueue = shownSerializationQueue
        connectivityListener = connectivity.map(ConnectivityListener.init)
        capabilities = transport.capabilities
        options = Result { try configuration.exchangeOptions(for: transport) }
        responseBodyLimit = configuration.maximumResponseBodySize
        maximumRedirects = configuration.maximumRedirects
        secretHeaders = configuration.secretHeaders
    }

    /// The session, while it lives.
    var session: Session? { state.withLock { $0.session } }

    func attach(_ session: Session) { state.withLock { $0.session = session } }

    /// A request is started.
    func willStart(_ request: Request) {
        delegate.running.insert(request)
        connectivityListener?.start(for: self)
    }

    /// Who listens to all requests; nil when nobody does.
    var eventMonitor: CompositeEventMonitor? {
        hasEventMonitors || delegate.isListening || RequestNotifications.mayBeObserved ? listeners : nil
    }

    /// Why no more requests may run; nil while the session is in use.
    var end: AFError? { state.withLock { $0.end } }

    /// Ends the session: its running requests, and those that are started later, fail with `error`.
    func end(with error: AFError) {
        let isFirst = state.withLock { state in
            defer { state.end = state.end ?? error }
            return state.end == nil
        }
        guard isFirst else { return }
        connectivityListener?.end()
        for request in delegate.running.requests(of: self) { request.end(with: error) }
        let cause: (any Error)? = if case .sessionInvalidated(let error) = error { error } else { nil }
        eventMonitor?.urlSession(.shared, didBecomeInvalidWithError: cause)
    }
}

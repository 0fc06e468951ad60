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
    let transport: any Transport
    let connectivity: (any ConnectivityProvider)?
    let delegate: SessionDelegate
    let queues: SessionQueues
    let startRequestsImmediately: Bool
    let requestSetup: Session.RequestSetup
    let interceptor: (any RequestInterceptor)?
    let serverTrustManager: ServerTrustManager?
    let redirectHandler: (any RedirectHandler)?
    let cachedResponseHandler: (any CachedResponseHandler)?
    /// The monitors that the session was given.
    let ownMonitors: CompositeEventMonitor

    // MARK: What is made of that

    let sender: ExchangeSender
    /// What may be done between a request and the transport, outermost first: the order in which a request passes them.
    let stages: [any ExchangeStage]
    /// Those that a request passes which is for a connection alone.
    let connectionStages: [any ExchangeStage]
    /// Who the client is to a host, and who decides on its certificates.
    let security: SessionSecurity
    let capabilities: TransportCapabilities
    /// The template for the options of every exchange, or why the configuration gives none.
    let options: Result<ExchangeOptions, any Error>
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
        self.transport = transport
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
        sender = ExchangeSender(transport)
        let hsts = configuration.hstsStore.map(HSTSUpgrade.init)
        var innerStages: [any ExchangeStage] = ownStages.map(CancellableStage.init)
        security = SessionSecurity(configuration, serverTrustManager)
        let securityStage = ConnectionSecurityStage(security)
        innerStages.append(securityStage)
        var connectionStages: [any ExchangeStage] = [securityStage]
        if let store = configuration.hstsStore { innerStages.append(HSTSStage(store)) }
        if configuration.waitsForConnectivity, let connectivity {
            let stage = ConnectivityStage(
                waitingFor: connectivity, closeIdleConnections: transport.closeIdleConnections)
            innerStages.append(stage)
            connectionStages.append(stage)
        }
        self.connectionStages = connectionStages
        var stages: [any ExchangeStage] = []
        if let hsts { stages.append(HSTSUpgradeStage(hsts)) }
        stages.append(RedirectStage(rules: RedirectRules(configuration, hsts)))
        stages.append(AuthenticationStage(configuration, over: transport))
        if let store = configuration.cacheStore {
            // A cache knows requests by their cookies, too. What the network sets is stored whatever the cache makes of it.
            if let sending = configuration.cookieStage(accepts: false) { stages.append(sending) }
            if let accepting = configuration.cookieStage(sends: false) { innerStages.insert(accepting, at: 0) }
            stages.append(
                CacheStage(
                    store, revalidation: CacheRevalidation(through: innerStages, over: sender),
                    coalesces: configuration.coalescesRequests))
        } else if let cookieStage = configuration.cookieStage() {
            stages.append(cookieStage)
        }
        self.stages = stages + innerStages
        capabilities = transport.capabilities
        options = Result { try configuration.exchangeOptions(for: transport) }
        (listeners, hasEventMonitors) = Self.listeners(eventMonitors, delegate, on: queues.root)
        connectivityListener = connectivity.map(ConnectivityListener.init)
        delegate.attach(self)
    }

    /// Whether there is a cache.
    var usesCache: Bool { configuration.cacheStore != nil }

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
            connectivityListener.start { [weak self] in self?.transport.closeIdleConnections() }
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

extension RedirectRules {
    fileprivate init(_ configuration: SessionConfiguration, _ hsts: HSTSUpgrade?) {
        self.init(
            maximum: configuration.maximumRedirects, allowsInsecure: configuration.allowsInsecureRedirects,
            sensitiveHeaders: configuration.sensitiveHeaders, hsts: hsts)
    }
}

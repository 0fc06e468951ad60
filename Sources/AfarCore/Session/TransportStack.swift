public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport and the stages between a request and the transport.
final class TransportStack: Sendable {
    let configuration: SessionConfiguration
    let transport: any Transport
    let sender: ExchangeSender
    /// The stages that a request passes, in order, from the outermost to the innermost.
    let stages: [any ExchangeStage]
    let hasUserStages: Bool
    /// The stages for requests that only open a connection.
    let connectionStages: [any ExchangeStage]
    /// The stages for connections that are opened before requests need them.
    let preconnectionStages: [any ExchangeStage]
    /// The client's identities and the evaluators of servers' certificates.
    let security: SessionSecurity
    let capabilities: TransportCapabilities
    /// The template for the options of every exchange, or the error of an invalid configuration.
    let options: Result<ExchangeOptions, any Error>

    init(
        _ configuration: SessionConfiguration, over transport: any Transport, customStages: [any ExchangeStage],
        connectivity: (any ConnectivityProvider)?, serverTrustManager: ServerTrustManager?
    ) {
        self.configuration = configuration
        self.transport = transport
        sender = ExchangeSender(transport)
        let hsts = configuration.hstsStore.map(HSTSUpgrade.init)
        hasUserStages = !customStages.isEmpty
        var innerStages: [any ExchangeStage] = customStages.map(CancellableStage.init)
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
        preconnectionStages = stages + connectionStages
        stages.append(RedirectStage(rules: RedirectRules(configuration, hsts)))
        stages.append(AuthenticationStage(configuration, over: transport))
        if let store = configuration.cacheStore {
            // The stage that adds cookies is outside the cache, because the cache distinguishes requests by their cookies. The
            // stage that stores cookies is inside the cache, so that it receives even responses that the cache ignores.
            if let sending = configuration.cookieStage(accepts: false) { stages.append(sending) }
            if let accepting = configuration.cookieStage(sends: false) { innerStages.insert(accepting, at: 0) }
            stages.append(
                CacheStage(
                    store, revalidation: CacheRevalidation(through: innerStages, over: sender),
                    coalesces: configuration.coalescesRequests, sensitiveHeaders: configuration.sensitiveHeaders,
                    security: security))
        } else if let cookieStage = configuration.cookieStage() {
            stages.append(cookieStage)
        }
        self.stages = stages + innerStages
        capabilities = transport.capabilities
        options = Result { try configuration.exchangeOptions(for: transport) }
    }
}

extension RedirectRules {
    fileprivate init(_ configuration: SessionConfiguration, _ hsts: HSTSUpgrade?) {
        self.init(
            maximum: configuration.maximumRedirects, allowsInsecure: configuration.allowsInsecureRedirects,
            sensitiveHeaders: configuration.sensitiveHeaders, hsts: hsts)
    }
}

/// A wrapper for a user's stage. The wait for the stage ends when the request ends or reaches its total timeout, even if the
/// stage ignores cancellation.
struct CancellableStage: ExchangeStage {
    private let stage: any ExchangeStage

    init(_ stage: any ExchangeStage) { self.stage = stage }

    func begin(_ hop: Hop) -> (any StageRun)? { stage.begin(hop).map(Run.init) }

    private struct Run: StageRun {
        let run: any StageRun

        func before(_ hop: Hop) -> Reply<RequestAction> {
            run.before(hop).limited(by: hop, ifCancelled: .send, ifLate: { .fail($0) })
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            run.head(head, of: hop).limited(by: hop, ifCancelled: .pass, ifLate: { .fail($0) })
        }

        func failed(_ error: any Error, of hop: Hop) -> Reply<FailureAction> {
            run.failed(error, of: hop).limited(by: hop, ifCancelled: .fail(error), ifLate: { .fail($0) })
        }

        func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) { run.ended(hop, with: result) }
    }
}

extension Reply {
    fileprivate func limited(
        by hop: Hop, ifCancelled cancelled: Answer, ifLate late: @escaping @Sendable (TransportError) -> Answer
    ) -> Reply {
        guard case .wait(let work) = self else { return self }
        return .wait {
            let isLimited = hop.exchange.options.totalTimeout < 1e9
            return await withCancellableTask(
                ifCancelled: cancelled, timeout: isLimited ? (hop.timeLeft, { late(hop.timeout) }) : nil, work)
        }
    }
}

/// A replacement for a session's transport, for requests that are created in a task and its child tasks.
final class TransportOverride: Sendable {
    /// The override of the current task, if it has one.
    @TaskLocal static var current: TransportOverride?

    private let replacement: @Sendable (any Transport) -> any Transport
    private let stacks = Locked<[ObjectIdentifier: (session: SessionState, stack: TransportStack)]>([:])

    init(_ replacement: @escaping @Sendable (any Transport) -> any Transport) {
        self.replacement = replacement
    }

    func stack(for session: SessionState) -> TransportStack {
        let id = ObjectIdentifier(session)
        if let known = stacks.withLock({ $0[id] }) { return known.stack }
        // Prevents endless recursion if the replacement creates requests.
        let transport = Self.$current.withValue(nil) { replacement(session.stack.transport) }
        let new = session.makeStack(session.configuration.isolated, over: transport)
        return stacks.withLock { stacks in
            // Another thread may have created the stack in the meantime.
            if let known = stacks[id] { return known.stack }
            stacks[id] = (session, new)
            return new
        }
    }
}

extension Session {
    /// Replaces the transports of all sessions for the requests that are created in a closure and in the tasks that the closure
    /// starts. This method exists for tests: AfarTesting's `withTransport(_:operation:)` calls it.
    ///
    /// Sessions keep their configuration but use separate cookie, cache and HSTS stores, so tests don't share state.
    ///
    /// - Parameters:
    ///   - replacement: Returns the transport to use instead of a session's own transport. The returned transport can wrap the
    ///     session's own. The closure is called for each session, on any thread.
    ///   - isolation: The actor that the operation runs on. The default is the caller's.
    ///   - operation: The closure that creates the requests.
    public static func replacingTransports<Value>(
        by replacement: @escaping @Sendable (any Transport) -> any Transport,
        isolation: isolated (any Actor)? = #isolation, operation: () async throws -> Value
    ) async rethrows -> Value {
        try await TransportOverride.$current.withValue(TransportOverride(replacement), operation: operation)
    }

    /// Replaces the transports of all sessions for the requests that are created in a closure that doesn't suspend.
    public static func replacingTransports<Value>(
        by replacement: @escaping @Sendable (any Transport) -> any Transport, operation: () throws -> Value
    ) rethrows -> Value {
        try TransportOverride.$current.withValue(TransportOverride(replacement), operation: operation)
    }
}

extension SessionConfiguration {
    /// A copy of the configuration with separate stores.
    fileprivate var isolated: SessionConfiguration {
        var configuration = self
        if cookieStore != nil { configuration.cookieStore = MemoryCookieStore() }
        if hstsStore != nil { configuration.hstsStore = MemoryHSTSStore() }
        if cacheStore != nil { configuration.cacheStore = MemoryCacheStore() }
        return configuration
    }
}

extension DispatchQueue {
    /// Calls a closure asynchronously. If a test has replaced the sessions' transports for the calling task, the replacement also
    /// applies to requests that the closure creates.
    ///
    /// Libraries use this method to call their users' handlers on a queue.
    public func asyncKeepingTransport(_ work: @escaping @Sendable () -> Void) {
        guard let override = TransportOverride.current else { return async(execute: work) }
        async { TransportOverride.$current.withValue(override, operation: work) }
    }
}

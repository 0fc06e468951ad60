import Foundation

/// Provides a session's client identity and trust evaluator for each host.
final class SessionSecurity: ConnectionSecurityProvider {
    private struct Key: Hashable {
        let host: String
        let identity: ClientIdentity?
        let evaluator: ObjectIdentifier?
    }

    private struct CachedSecurity {
        let security: ConnectionSecurity
        /// Retained, because its address is part of the key.
        let evaluator: AnyObject?
    }

    /// The maximum number of cached hosts. When the limit is reached, the cache is cleared, which only slows down new
    /// connections.
    private static let limit = 1_000

    private let manager: ServerTrustManager?
    private let identity: ClientIdentity?
    private let identities: [HostName: ClientIdentity]
    private let cache = Locked<[Key: CachedSecurity]>([:])

    init(_ configuration: SessionConfiguration, _ manager: ServerTrustManager?) {
        self.manager = manager
        identity = configuration.clientIdentity
        identities = Dictionary(
            configuration.clientIdentities.map { (HostName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first }
        )
    }

    var hasRequirements: Bool { manager != nil || identity != nil || !identities.isEmpty }

    func clientIdentity(forHost host: String, hasLeftOrigin: Bool) -> ClientIdentity? {
        identities[HostName(host)] ?? (hasLeftOrigin ? nil : identity)
    }

    func security(
        forHost host: String, hasLeftOrigin: Bool, requiresDecision: Bool
    ) -> Reply<Result<ConnectionSecurity?, any Error>> {
        let identity = clientIdentity(forHost: host, hasLeftOrigin: hasLeftOrigin)
        let fallback = requiresDecision ? Self.standard : nil
        guard let manager else { return .now(.success(security(of: host, identity, evaluator: fallback))) }
        // A subclass is user code, so it must run in a task.
        guard type(of: manager) == ServerTrustManager.self else {
            return .wait { [self] in security(of: host, identity, by: manager, fallback) }
        }
        return .now(security(of: host, identity, by: manager, fallback))
    }

    /// An evaluator that performs the transport's default validation.
    private static let standard = DefaultTrustEvaluator()

    private func security(
        of host: String, _ identity: ClientIdentity?, by manager: ServerTrustManager,
        _ fallback: DefaultTrustEvaluator?
    ) -> Result<ConnectionSecurity?, any Error> {
        Result {
            do {
                let evaluator = try manager.serverTrustEvaluator(forHost: host) ?? fallback
                return security(of: host, identity, evaluator: evaluator)
            } catch {
                throw error.asTrustFailure
            }
        }
    }

    private func security(
        of host: String, _ identity: ClientIdentity?, evaluator: (any ServerTrustEvaluating)?
    ) -> ConnectionSecurity? {
        guard identity != nil || evaluator != nil else { return nil }
        let object = evaluator.flatMap { type(of: $0) is AnyClass ? $0 as AnyObject : nil }
        func make() -> ConnectionSecurity {
            ConnectionSecurity(identity: identity, evaluation: evaluator.map { Self.evaluation(by: $0) })
        }
        // Evaluators that are values can't be compared, so cache them only if the manager is immutable.
        let isCacheable = object != nil || evaluator == nil || manager.map { type(of: $0) } == ServerTrustManager.self
        guard isCacheable else { return make() }
        let key = Key(host: host, identity: identity, evaluator: object.map { ObjectIdentifier($0) })
        return cache.withLock { cache in
            if let security = cache[key]?.security { return security }
            if cache.count >= Self.limit { cache.removeAll() }
            let security = make()
            cache[key] = CachedSecurity(security: security, evaluator: object)
            return security
        }
    }

    private static func evaluation(by evaluator: any ServerTrustEvaluating) -> ConnectionSecurity.Evaluation {
        { trust, longestWait in
            // The request can be canceled even if the evaluator never returns.
            try await withCancellableTask {
                do {
                    try await evaluator.decide(on: trust, forHost: trust.host, waitingAtMost: longestWait)
                } catch {
                    throw error.asTrustFailure
                }
            }
        }
    }
}

extension Error {
    /// This error as the reason a server isn't trusted.
    fileprivate var asTrustFailure: any Error {
        if self is CancellationError || self is NoTrustDecision { return self }
        return asAFError(or: .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: self)))
    }
}

extension TransportError {
    /// The evaluator's error, if it prevented the request from being sent.
    var trustFailure: AFError? {
        guard let failure = underlying as? AFError, failure.isServerTrustEvaluationError else { return nil }
        return failure
    }
}

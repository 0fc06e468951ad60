package import AfarTrust
import HTTPTypes

/// A type that provides the client's identity and the certificate evaluation for each host.
package protocol ConnectionSecurityProvider: Sendable {
    var hasRequirements: Bool { get }

    /// Returns the client's identity for a host.
    ///
    /// - Parameters:
    ///   - host: The name or the address, in lowercase and without a port.
    ///   - hasLeftOrigin: Whether redirects have left the origin of the first request.
    func clientIdentity(forHost host: String, hasLeftOrigin: Bool) -> ClientIdentity?

    /// Returns the security requirements for connections to a host.
    ///
    /// - Parameters:
    ///   - host: The name or the address, in lowercase and without a port.
    ///   - hasLeftOrigin: Whether redirects have left the origin of the first request.
    ///   - requiresDecision: Whether a handler must decide about certificates, even if the host has no requirements.
    /// - Returns: Nil if the transport's default evaluation applies. The reply's asynchronous work calls user code.
    func security(
        forHost host: String, hasLeftOrigin: Bool, requiresDecision: Bool
    ) -> Reply<Result<ConnectionSecurity?, any Error>>
}

extension ConnectionSecurityProvider {
    /// Returns the client's identity for a request; nil without TLS.
    func clientIdentity(for hop: Hop) -> ClientIdentity? {
        guard hop.exchange.request.scheme == "https" else { return nil }
        return clientIdentity(forHost: hop.host, hasLeftOrigin: hop.hasLeftOrigin)
    }
}

/// A stage that sends each request over connections that meet the security requirements of its host.
///
/// A decision about the server's certificates can be necessary before a connection is used. `HTTPTransport` obtains the
/// decision itself, while the connection waits. Any other transport fails the request before the first byte is sent. After such
/// a failure, this stage obtains the decision asynchronously, and then sends the request again.
package struct ConnectionSecurityStage: ExchangeStage {
    private let provider: any ConnectionSecurityProvider

    package init(_ provider: any ConnectionSecurityProvider) { self.provider = provider }

    package func begin(_ hop: Hop) -> (any StageRun)? {
        guard hop.exchange.request.scheme == "https" else { return nil }
        let handler = hop.exchange.context[ServerTrustHandlerKey.self]
        return handler != nil || provider.hasRequirements ? Run(provider, isHandled: handler != nil) : nil
    }

    private final class Run: StageRun {
        /// The maximum number of certificate chains that are evaluated for one request. A host can have many chains. The limit
        /// protects evaluators from a server that uses a different chain for each connection.
        private static let decisionLimit = 64

        private struct State {
            /// The host's requirements, determined once. They also apply when the request is sent again.
            var security: ConnectionSecurity??
            var decisionCount = 0
        }

        private let provider: any ConnectionSecurityProvider
        private let isHandled: Bool
        private let state = InlineLocked(State())

        init(_ provider: any ConnectionSecurityProvider, isHandled: Bool) {
            self.provider = provider
            self.isHandled = isHandled
        }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            if let security = state.withLock({ $0.security }) { return .now(action(of: hop, under: security)) }
            let reply = provider.security(
                forHost: hop.host, hasLeftOrigin: hop.hasLeftOrigin, requiresDecision: isHandled)
            switch reply {
            case .now(let result): return .now(action(of: hop, after: result))
            case .wait(let work): return .wait { [self] in action(of: hop, after: await work()) }
            }
        }

        private func action(of hop: Hop, after result: Result<ConnectionSecurity?, any Error>) -> RequestAction {
            switch result {
            case .success(let security):
                state.withLock { $0.security = .some(security) }
                return action(of: hop, under: security)
            case .failure(let error):
                return .fail(hop.untrusted("the server's certificates cannot be evaluated", because: error))
            }
        }

        private func action(of hop: Hop, under security: ConnectionSecurity?) -> RequestAction {
            guard let security else { return .send }
            var exchange = hop.exchange
            exchange.options.security = security
            return .change(exchange)
        }

        func failed(_ error: any Error, of hop: Hop) -> Reply<FailureAction> {
            guard let failure = error as? TransportError, let undecided = failure.underlying as? UndecidedTrust,
                let security = state.withLock({ $0.security }) ?? nil, security.evaluation != nil
            else { return .now(.fail(error)) }
            // Another request may have accepted the chain in the meantime.
            guard !security.accepts(undecided.chain) else { return .now(.again) }
            let count = state.withLock { state in
                state.decisionCount += 1
                return state.decisionCount
            }
            guard count <= Self.decisionLimit else {
                return .now(.fail(failure.refused("the server presents different certificates on each connection")))
            }
            return .wait {
                guard let refusal = await hop.refusal(of: undecided, under: security) else { return .again }
                guard refusal.code != .cancelled else { return .fail(hop.cancellation) }
                return .fail(failure.refused(refusal.message, refusal.code, because: refusal.underlying))
            }
        }
    }
}

extension Hop {
    /// The name or the address that the request is sent to.
    fileprivate var host: String { HostName(ofAuthority: exchange.request.authority ?? "").text }

    fileprivate func untrusted(_ message: String, because cause: any Error) -> TransportError {
        TransportError(.certificateUntrusted, phase: .queued, url: exchange.url, message: message, underlying: cause)
    }
}

extension TransportError {
    /// Returns the error for a refused server, with the phase and the report of this error.
    fileprivate func refused(
        _ message: String, _ code: Code = .certificateUntrusted, because cause: (any Error)? = nil
    ) -> TransportError {
        var refusal = TransportError(code, phase: phase, url: url, peer: peer, message: message, underlying: cause)
        refusal.report = report
        return refusal
    }
}

package import AfarTrust
package import Foundation

/// Who the client is to a host, and who decides on the host's certificates. Connections that were opened under one of these
/// serve no other.
package final class ConnectionSecurity: Sendable {
    /// Decides on what a server has presented; an error refuses it. The duration limits how long the decision may wait for
    /// its turn; if that isn't enough, ``NoTrustDecision`` is thrown.
    package typealias Evaluation = @Sendable (ServerTrust, _ longestWait: Duration) async throws -> Void

    /// How long a decision for a chain of certificates holds.
    private static let longestAcceptance = Duration.seconds(600)
    /// The number of accepted chains that are remembered: a host may consist of many machines with a certificate each.
    private static let acceptedLimit = 256

    /// What came of a decision.
    package enum Decision: Sendable {
        case accepted
        case refused(any Error)
        /// The request for which it was to be made is cancelled.
        case abandoned
    }

    /// Who was asked wants the request ended.
    struct Abandonment: Error {}

    private struct State {
        /// Until when each accepted chain is accepted.
        var accepted = LeastRecentlyUsed<ContinuousClock.Instant>()
        /// The requests that wait for a decision that is being made.
        var questions: [String: [Deferred<Decision>]] = [:]

        mutating func accepts(_ chain: PresentedChain) -> Bool {
            accepted.value(for: chain.id).map { $0 > .now } ?? false
        }
    }

    /// What a request does about a chain that it has met.
    private enum Role { case none, decides, waits }

    /// What the client shows when the server asks who it is.
    package let identity: ClientIdentity?
    /// Who decides instead of the transport; nil where the transport validates certificates by itself.
    package let evaluation: Evaluation?
    private let state = InlineLocked(State())

    package init(identity: ClientIdentity?, evaluation: Evaluation?) {
        self.identity = identity
        self.evaluation = evaluation
    }

    /// Whether it was decided that a host that presents this is the right one. If not, the request must not be sent.
    package func accepts(_ chain: PresentedChain) -> Bool {
        state.withLock { $0.accepts(chain) }
    }

    /// Has it decided whether a host is the right one.
    ///
    /// - Parameters:
    ///   - handler: Decides before the evaluation; nil for none.
    ///   - limit: How long the decision may take in all.
    ///   - longestWait: How long it may wait for a thread to evaluate it.
    package func decide(
        on undecided: UndecidedTrust, ofHost host: String, port: Int, asking handler: ServerTrustHandler?,
        within limit: Duration, waitingAtMost longestWait: Duration
    ) async -> Decision {
        let late = NoTrustDecision(
            .timedOut, "evaluating the server's certificates took longer than the total timeout allows")
        return await withCancellableTask(ifCancelled: .abandoned, timeout: (limit, { .refused(late) })) { [self] in
            await decide(on: undecided, ofHost: host, port: port, asking: handler, waitingAtMost: longestWait)
        }
    }

    private func decide(
        on undecided: UndecidedTrust, ofHost host: String, port: Int, asking handler: ServerTrustHandler?,
        waitingAtMost longestWait: Duration
    ) async -> Decision {
        await decide(on: undecided.chain) {
            do {
                let trust = try undecided.trust(ofHost: host)
                switch await handler?(trust, port) ?? .evaluate {
                case .evaluate: try await evaluation?(trust, longestWait)
                case .trust: break
                case .refuse: throw RefusedByHandler()
                case .cancel: throw Abandonment()
                }
                return .success(trust)
            } catch {
                return .failure(error)
            }
        }
    }

    /// Has it decided whether a host that presents this is the right one. Requests that meet the same chain meanwhile wait for
    /// that decision.
    ///
    /// - Parameter decide: Decides; what it returns is the trust that was accepted.
    func decide(on chain: PresentedChain, by decide: () async -> Result<ServerTrust, any Error>) async -> Decision {
        while true {
            let answer = Deferred<Decision>()
            // All at once: the chain may have been accepted since the connection was made.
            let role = state.withLock { state -> Role in
                if state.accepts(chain) { return .none }
                guard state.questions[chain.id] != nil else {
                    state.questions[chain.id] = []
                    return .decides
                }
                state.questions[chain.id]?.append(answer)
                return .waits
            }
            switch role {
            case .none: return .accepted
            case .decides: return end(await decide(), about: chain)
            case .waits: break
            }
            let decision = await withTaskCancellationHandler {
                await answer.value
            } onCancel: {
                answer.fulfil(.abandoned)
            }
            guard case .abandoned = decision else { return decision }
            guard Task.isCancelled else { continue }
            state.withLock { $0.questions[chain.id]?.removeAll { $0 === answer } }
            return decision
        }
    }

    private func end(_ result: Result<ServerTrust, any Error>, about chain: PresentedChain) -> Decision {
        let decision: Decision =
            switch result {
            case .success: .accepted
            case .failure(let error):
                error is Abandonment || error is CancellationError && Task.isCancelled ? .abandoned : .refused(error)
            }
        let waiters = state.withLock { state in
            if case .success(let trust) = result { Self.note(chain, of: trust, in: &state.accepted) }
            return state.questions.removeValue(forKey: chain.id) ?? []
        }
        // The others have timeouts of their own.
        let isUndecided = if case .failure(let error) = result { error is NoTrustDecision } else { false }
        for waiter in waiters { waiter.fulfil(isUndecided ? .abandoned : decision) }
        return decision
    }

    /// From now on, new connections to a host that presents this are good: for ten minutes, or until one of the
    /// certificates expires.
    private static func note(
        _ chain: PresentedChain, of trust: ServerTrust, in accepted: inout LeastRecentlyUsed<ContinuousClock.Instant>
    ) {
        let rests = trust.certificates.map(\.notValidAfter.timeIntervalSinceNow).filter { $0 > 0 }
        let rest = rests.min().map { Duration.seconds($0) } ?? longestAcceptance
        let end = ContinuousClock.now + min(longestAcceptance, rest)
        _ = accepted.set(end, cost: 1, for: chain.id)
        if accepted.count > acceptedLimit { _ = accepted.removeLeast() }
    }
}

/// Why no decision was made about a server's certificates.
package struct NoTrustDecision: Error, CustomStringConvertible {
    /// The code of the request's error.
    package let code: TransportError.Code
    package let description: String

    package init(_ code: TransportError.Code, _ description: String) {
        (self.code, self.description) = (code, description)
    }
}

/// Who was asked about a server's certificates did not want them.
private struct RefusedByHandler: Error, CustomStringConvertible {
    var description: String { "the certificates were refused" }
}

/// What a server presented in a handshake, as it came.
package struct PresentedChain: Sendable {
    /// The certificates in DER form, the server's own first.
    package let certificates: [Data]
    /// The OCSP response that was sent along. Servers renew it often, and not all machines of a host at the same time, so
    /// it isn't part of what a decision is remembered for.
    package let stapledOCSPResponse: Data?
    /// A hash of the certificates.
    let id: String

    package init(certificates: [Data], stapledOCSPResponse: Data?) {
        self.certificates = certificates
        self.stapledOCSPResponse = stapledOCSPResponse
        var hash = SHA256()
        for certificate in certificates {
            withUnsafeBytes(of: certificate.count) { hash.update($0) }
            certificate.withUnsafeBytes { hash.update($0) }
        }
        id = hash.finalize().hexDigits
    }
}

/// Nobody has decided yet on what a server presented: the cause of a ``TransportError`` before the first byte of a request.
package struct UndecidedTrust: Error {
    package let chain: PresentedChain
    let authorities: CertificateAuthorities

    package init(_ chain: PresentedChain, authorities: CertificateAuthorities) {
        self.chain = chain
        self.authorities = authorities
    }

    /// For whoever decides.
    ///
    /// - Throws: ``CertificateError`` when the server presented nothing that can be read.
    package func trust(ofHost host: String) throws(CertificateError) -> ServerTrust {
        var certificates: [Certificate] = []
        for der in chain.certificates { certificates.append(try Certificate(derEncoded: der)) }
        return ServerTrust(
            host: host, certificates: certificates, stapledOCSPResponse: chain.stapledOCSPResponse,
            authorities: authorities)
    }
}

/// What is done about a server's certificates.
package enum ServerTrustAnswer: Sendable {
    /// They are evaluated as they would be if nobody had been asked.
    case evaluate
    case trust
    case refuse
    /// The exchange is ended.
    case cancel
}

/// Decides about a server's certificates before they are evaluated.
package typealias ServerTrustHandler = @Sendable (ServerTrust, _ port: Int) async -> ServerTrustAnswer

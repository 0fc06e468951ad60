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
    /// How many chains a host may have at a time.
    private static let acceptedLimit = 16

    /// What came of a decision.
    package enum Decision: Sendable {
        case accepted
        case refused(any Error)
        /// The request for which it was to be made is cancelled.
        case abandoned
    }

    /// Who was asked wants the request ended.
    struct Abandonment: Error {}

    private struct Acceptance {
        let chain: PresentedChain
        let end: ContinuousClock.Instant
    }

    /// A decision that is being made.
    private struct Question {
        let chain: PresentedChain
        var waiters: [Deferred<Decision>] = []
    }

    private struct State {
        /// The latest last.
        var accepted: [Acceptance] = []
        var questions: [Question] = []
    }

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
        state.withLock { $0.accepted.contains { $0.chain == chain && $0.end > .now } }
    }

    /// Has it decided whether a host is the right one.
    ///
    /// - Parameters:
    ///   - handler: Who is asked first; nil when nobody is.
    ///   - limit: How long the decision may take in all.
    ///   - longestWait: How long it may wait for a thread to evaluate it.
    package func decide(
        on undecided: UndecidedTrust, ofHost host: String, port: Int, asking handler: ServerTrustHandlerKey.Handler?,
        within limit: Duration, waitingAtMost longestWait: Duration
    ) async -> Decision {
        let late = NoTrustDecision(
            .timedOut, "evaluating the server's certificates took longer than the total timeout allows")
        return await withCancellableTask(ifCancelled: .abandoned, timeout: (limit, { .refused(late) })) { [self] in
            await decide(on: undecided, ofHost: host, port: port, asking: handler, waitingAtMost: longestWait)
        }
    }

    private func decide(
        on undecided: UndecidedTrust, ofHost host: String, port: Int, asking handler: ServerTrustHandlerKey.Handler?,
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
        // It may have been decided since the question was put.
        while !accepts(chain) {
            let answer = Deferred<Decision>()
            let mustWait = state.withLock { state in
                guard let index = state.questions.firstIndex(where: { $0.chain == chain }) else {
                    state.questions.append(Question(chain: chain))
                    return false
                }
                state.questions[index].waiters.append(answer)
                return true
            }
            guard mustWait else { return end(await decide(), about: chain) }
            let decision = await withTaskCancellationHandler {
                await answer.value
            } onCancel: {
                answer.fulfil(.abandoned)
            }
            guard case .abandoned = decision else { return decision }
            guard Task.isCancelled else { continue }
            state.withLock { state in
                guard let index = state.questions.firstIndex(where: { $0.chain == chain }) else { return }
                state.questions[index].waiters.removeAll { $0 === answer }
            }
            return decision
        }
        return .accepted
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
            let index = state.questions.firstIndex { $0.chain == chain }
            return index.map { state.questions.remove(at: $0).waiters } ?? []
        }
        // The others have timeouts of their own.
        let isUndecided = if case .failure(let error) = result { error is NoTrustDecision } else { false }
        for waiter in waiters { waiter.fulfil(isUndecided ? .abandoned : decision) }
        return decision
    }

    /// From now on, new connections to a host that presents this are good: for ten minutes, or until one of the
    /// certificates expires.
    private static func note(_ chain: PresentedChain, of trust: ServerTrust, in accepted: inout [Acceptance]) {
        let now = ContinuousClock.now
        let rests = trust.certificates.map(\.notValidAfter.timeIntervalSinceNow).filter { $0 > 0 }
        let end = now + min(longestAcceptance, rests.min().map { Duration.seconds($0) } ?? longestAcceptance)
        accepted.removeAll { $0.chain == chain || $0.end <= now }
        if accepted.count == acceptedLimit { accepted.removeFirst() }
        accepted.append(Acceptance(chain: chain, end: end))
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
package struct PresentedChain: Sendable, Equatable {
    /// The certificates in DER form, the server's own first.
    package let certificates: [Data]
    /// The OCSP response that was sent along.
    package let stapledOCSPResponse: Data?

    package init(certificates: [Data], stapledOCSPResponse: Data?) {
        self.certificates = certificates
        self.stapledOCSPResponse = stapledOCSPResponse
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

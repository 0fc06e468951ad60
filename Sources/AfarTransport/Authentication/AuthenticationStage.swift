import HTTPTypes

/// Answers a challenge (401), once for each hop that a redirect leads to, when the exchange's context has a credential for
/// the origin that asks, or somebody who is asked.
///
/// A request whose body cannot be sent again gets no answer: the 401 is its response.
package struct AuthenticationStage: ExchangeStage {
    /// The strongest first.
    private static let schemes: [any AuthenticationScheme] = [BasicAuthentication()]

    package init() {}

    package func begin(_ hop: Hop) -> (any StageRun)? {
        let handler = hop.exchange.context[ChallengeHandlerKey.self]
        let credential = hop.exchange.context[CredentialKey.self]
        let isForOrigin = credential.map { $0.origin == Origin(hop.exchange.request) } ?? false
        guard handler != nil || isForOrigin else { return nil }
        return Run(handler: handler, credential: isForOrigin ? credential : nil)
    }

    private struct Run: StageRun {
        let handler: ChallengeHandlerKey.Handler?
        let credential: Credential?

        /// Whoever is asked holds the request, and nobody below asks.
        func before(_ hop: Hop) -> Reply<Departure> {
            var exchange = hop.exchange
            exchange.context[ChallengeHandlerKey.self] = nil
            exchange.context[CredentialKey.self] = nil
            return .now(.change(exchange))
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<Disposition> {
            guard !hop.answersChallenge, hop.exchange.body.isReplayable,
                let (scheme, challenge) = choice(after: head)
            else { return .now(.pass) }
            guard let handler else {
                guard let credential else { return .now(.pass) }
                let answer = ChallengeAnswer.credential(user: credential.user, password: credential.password)
                return .now(scheme.disposition(after: answer, to: challenge, of: hop))
            }
            return .wait { [credential] in
                let answer = await handler(head, challenge, credential)
                return scheme.disposition(after: Task.isCancelled ? .cancel : answer, to: challenge, of: hop)
            }
        }

        /// The strongest scheme that is known here and offered there.
        private func choice(after head: ResponseHead) -> (any AuthenticationScheme, AuthenticationChallenge)? {
            guard head.status == 401 else { return nil }
            let challenges = AuthenticationChallenge.challenges(in: head.values(for: .wwwAuthenticate))
            for scheme in AuthenticationStage.schemes {
                if let challenge = challenges.first(where: { $0.scheme == scheme.name }) { return (scheme, challenge) }
            }
            return nil
        }
    }
}

extension AuthenticationScheme {
    /// What is done about a challenge with this answer to it.
    fileprivate func disposition(
        after answer: ChallengeAnswer, to challenge: AuthenticationChallenge, of hop: Hop
    ) -> Disposition {
        switch answer {
        case .none: return .pass
        case .cancel:
            return .fail(
                TransportError(
                    .cancelled, phase: .receiving, url: hop.exchange.url,
                    message: "cancelled at a request for credentials"))
        case .credential(let user, let password):
            var next = hop.exchange
            do throws(TransportError) {
                try self.answer(challenge, user: user, password: password, in: &next)
                return .follow(next, .challenge)
            } catch {
                return .fail(error)
            }
        }
    }
}

extension Hop {
    fileprivate var answersChallenge: Bool { if case .challenge = reason { true } else { false } }
}

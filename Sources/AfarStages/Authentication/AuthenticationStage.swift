import HTTPTypes

/// Answers a challenge (401), once for each hop that a redirect leads to, when the exchange's context has a credential for
/// the origin that asks, or somebody who is asked, or the session has a provider. A server that only wants a newer nonce
/// (``DigestAuthentication``) gets a second answer, with the same credential.
///
/// A request whose body cannot be sent again gets no answer: the 401 is its response.
package struct AuthenticationStage: ExchangeStage {
    /// Gives the credential for a challenge to a request for this URL, nil when there is none.
    package typealias Provider =
        @Sendable (_ url: String, AuthenticationChallenge) async throws -> (user: String, password: String)?

    /// The strongest first.
    private let schemes: [any AuthenticationScheme]
    private let provider: Provider?

    /// - Parameters:
    ///   - features: Those of the transport, which may have more schemes.
    ///   - provider: Who is asked last; nil when nobody is.
    package init(features: TransportCapabilities.Features = [], provider: Provider? = nil) {
        let binds = features.contains(.connectionAuthentication)
        let negotiate: [any AuthenticationScheme] = binds ? [ConnectionAuthenticationScheme(.negotiate)] : []
        let ntlm: [any AuthenticationScheme] = binds ? [ConnectionAuthenticationScheme(.ntlm)] : []
        schemes =
            negotiate + [DigestAuthentication(.sha256), DigestAuthentication(.md5)] + ntlm + [BasicAuthentication()]
        self.provider = provider
    }

    package func begin(_ hop: Hop) -> (any StageRun)? {
        guard hop.exchange.hasPolicies || provider != nil else { return nil }
        let policies = hop.exchange.policies
        let credential = policies.credential.flatMap { $0.origin == Origin(hop.exchange.request) ? $0 : nil }
        guard policies.challengeHandler != nil || credential != nil || provider != nil else { return nil }
        return Run(
            schemes: schemes, handler: policies.challengeHandler, credential: credential, provider: provider)
    }

    private struct Run: StageRun {
        let schemes: [any AuthenticationScheme]
        let handler: ChallengeHandler?
        let credential: Credential?
        let provider: Provider?

        /// Whoever is asked holds the request, and nobody below asks.
        func before(_ hop: Hop) -> Reply<RequestAction> {
            guard hop.exchange.hasPolicies else { return .now(.send) }
            var exchange = hop.exchange
            var policies = exchange.policies
            (policies.challengeHandler, policies.credential, policies.answeredChallenge) = (nil, nil, nil)
            exchange.policies = policies
            return .now(.change(exchange))
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            guard head.status == 401, hop.exchange.body.isReplayable else { return .now(.pass) }
            if hop.answersChallenge { return renewal(after: head, of: hop) }
            let choices = choices(after: head)
            guard !choices.isEmpty else { return .now(.pass) }
            if handler == nil, let credential {
                return choices.reply(user: credential.user, password: credential.password, to: hop)
            }
            return .wait { await action(of: hop, with: head, among: choices) }
        }

        /// The challenges that can be answered, one for each scheme, the strongest first.
        private func choices(after head: ResponseHead) -> [Choice] {
            let challenges = AuthenticationChallenge.challenges(in: head.values(for: .wwwAuthenticate))
            return schemes.compactMap { scheme in
                challenges.first(where: scheme.accepts).map { Choice(scheme: scheme, challenge: $0) }
            }
        }

        /// Answers once more, if that is all that the server wants.
        private func renewal(after head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            guard let answered = hop.exchange.policies.answeredChallenge, !answered.isRenewal else {
                return .now(.pass)
            }
            return choices(after: head).filter { $0.scheme.renews(answered.challenge, by: $0.challenge) }
                .reply(user: answered.user, password: answered.password, to: hop, isRenewal: true)
        }

        /// Asks about one challenge after the other, until it is known what is done.
        private func action(
            of hop: Hop, with head: ResponseHead, among choices: [Choice]
        ) async -> ResponseAction {
            for choice in choices {
                let answer = await answer(to: choice.challenge, in: head, of: hop)
                switch Task.isCancelled ? .success(.cancel) : answer {
                case .success(.credential(let user, let password)):
                    guard choice.scheme.accepts(user: user, password: password) else { continue }
                    return choice.action(user: user, password: password, of: hop)
                case .success(.standard), .success(.reject): continue
                case .success(.none): return .pass
                case .success(.cancel):
                    return .fail(
                        TransportError(
                            .cancelled, phase: .receiving, url: hop.exchange.url,
                            message: "cancelled at a request for credentials"))
                case .failure(let error): return .fail(error)
                }
            }
            return .pass
        }

        /// What the handler says, and else the credential or the provider; `standard` when there is neither.
        private func answer(
            to challenge: AuthenticationChallenge, in head: ResponseHead, of hop: Hop
        ) async -> Result<ChallengeAnswer, TransportError> {
            if let handler {
                let answer = await handler(head, challenge, credential)
                guard case .standard = answer else { return .success(answer) }
            }
            if let credential {
                return .success(.credential(user: credential.user, password: credential.password))
            }
            do {
                guard let found = try await provider?(hop.exchange.url, challenge) else { return .success(.standard) }
                return .success(.credential(user: found.user, password: found.password))
            } catch {
                return .failure(
                    TransportError(
                        .invalidCredential, phase: .receiving, url: hop.exchange.url,
                        message: "the session's credential provider failed", underlying: error))
            }
        }
    }

    /// A challenge, and how it would be answered.
    fileprivate struct Choice {
        let scheme: any AuthenticationScheme
        let challenge: AuthenticationChallenge
    }
}

extension [AuthenticationStage.Choice] {
    /// Answers the first that is one for a credential; passes when none is.
    fileprivate func reply(
        user: String, password: String, to hop: Hop, isRenewal: Bool = false
    ) -> Reply<ResponseAction> {
        guard let choice = first(where: { $0.scheme.accepts(user: user, password: password) }) else {
            return .now(.pass)
        }
        guard choice.scheme.readsBody(for: choice.challenge) else {
            return .now(choice.action(user: user, password: password, of: hop, isRenewal: isRenewal))
        }
        return .wait { choice.action(user: user, password: password, of: hop, isRenewal: isRenewal) }
    }
}

extension AuthenticationStage.Choice {
    /// What is done about the challenge with this credential.
    fileprivate func action(
        user: String, password: String, of hop: Hop, isRenewal: Bool = false
    ) -> ResponseAction {
        var next = hop.exchange
        do throws(TransportError) {
            try scheme.answer(challenge, user: user, password: password, in: &next)
        } catch {
            return .fail(error)
        }
        next.policies.answeredChallenge = AnsweredChallenge(
            challenge: challenge, user: user, password: password, isRenewal: isRenewal)
        return .follow(next, .challenge)
    }
}

extension Hop {
    fileprivate var answersChallenge: Bool { if case .challenge = reason { true } else { false } }
}

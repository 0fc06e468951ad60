import HTTPTypes

/// A stage that answers authentication challenges (401): once for the original request, and once after each redirect.
///
/// The credential comes from the first of these sources that has one: the exchange's challenge handler, the exchange's own
/// credential if it applies to the origin of the challenge, and the session's provider. If the server only requires a newer nonce
/// (``DigestAuthentication``), the stage answers a second time with the same credential.
///
/// If a request's body can't be sent again, the stage doesn't answer, and the exchange ends with the 401.
package struct AuthenticationStage: ExchangeStage {
    /// Returns the credential for a challenge to a request for this URL, or nil if no credential is available.
    package typealias Provider =
        @Sendable (_ url: String, AuthenticationChallenge) async throws -> (user: String, password: String)?

    /// The schemes, strongest first.
    private let schemes: [any AuthenticationScheme]
    private let provider: Provider?

    /// - Parameters:
    ///   - schemes: The schemes, strongest first.
    ///   - features: The features of the transport, which some schemes require.
    ///   - provider: Provides a credential if the exchange doesn't; nil if the session has no provider.
    package init(
        _ schemes: [any AuthenticationScheme] = StandardAuthentication.allCases,
        features: TransportCapabilities.Features = [], provider: Provider? = nil
    ) {
        let binds = features.contains(.connectionAuthentication)
        self.schemes = schemes.filter {
            binds || ($0 as? StandardAuthentication)?.requiresConnectionAuthentication != true
        }
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

        /// Removes the handler and the credential from the exchange. The handler retains the request, and no later stage uses the
        /// handler.
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
            let choices = choices(after: head, of: hop)
            guard !choices.isEmpty else { return .now(.pass) }
            if handler == nil, let credential {
                return choices.reply(user: credential.user, password: credential.password, to: hop)
            }
            return .wait { await action(of: hop, with: head, among: choices) }
        }

        /// Returns the challenges that can be answered, one for each scheme, strongest first.
        private func choices(after head: ResponseHead, of hop: Hop) -> [Choice] {
            let challenges = AuthenticationChallenge.challenges(in: head.values(for: .wwwAuthenticate))
            return schemes.enumerated().compactMap { index, scheme in
                guard scheme.isAvailable(for: hop.exchange) else { return nil }
                return challenges.first(where: scheme.accepts).map {
                    Choice(scheme: scheme, index: index, challenge: $0)
                }
            }
        }

        /// Answers a renewal of the challenge that the request has answered. Returns `pass` if there is no renewal, or if the request has
        /// already answered one.
        private func renewal(after head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            guard let answered = hop.exchange.policies.answeredChallenge, !answered.isRenewal else {
                return .now(.pass)
            }
            return choices(after: head, of: hop)
                .filter { $0.index == answered.scheme && $0.scheme.renews(answered.challenge, by: $0.challenge) }
                .reply(user: answered.user, password: answered.password, to: hop, isRenewal: true)
        }

        /// Requests a decision about each challenge in order, until a decision determines the action.
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
                            message: "the exchange was cancelled at an authentication challenge"))
                case .failure(let error): return .fail(error)
                }
            }
            return .pass
        }

        /// Returns the handler's answer. If the handler chooses `standard` or doesn't exist, returns an answer with the
        /// exchange's credential, or with the provider's credential if the exchange has none. Returns `standard` if there is no
        /// credential.
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

    /// A challenge, and the scheme that answers it.
    fileprivate struct Choice {
        let scheme: any AuthenticationScheme
        /// The index of the scheme in the session's list.
        let index: Int
        let challenge: AuthenticationChallenge
    }
}

extension [AuthenticationStage.Choice] {
    /// Answers the first challenge whose scheme supports the credential. Returns `pass` if there is no such challenge.
    fileprivate func reply(
        user: String, password: String, to hop: Hop, isRenewal: Bool = false
    ) -> Reply<ResponseAction> {
        guard let choice = first(where: { $0.scheme.accepts(user: user, password: password) }) else {
            return .now(.pass)
        }
        guard choice.scheme.takesTime(toAnswer: choice.challenge) else {
            return .now(choice.action(user: user, password: password, of: hop, isRenewal: isRenewal))
        }
        return .wait { choice.action(user: user, password: password, of: hop, isRenewal: isRenewal) }
    }
}

extension AuthenticationStage.Choice {
    /// Returns the action that answers the challenge with this credential.
    fileprivate func action(
        user: String, password: String, of hop: Hop, isRenewal: Bool = false
    ) -> ResponseAction {
        var next = hop.exchange
        do {
            try TransportError.checkControlCharacters(user: user, password: password, url: hop.exchange.url)
            try scheme.answer(challenge, user: user, password: password, in: &next)
        } catch let error as TransportError {
            return .fail(error)
        } catch {
            return .fail(
                TransportError(
                    .invalidCredential, phase: .receiving, url: hop.exchange.url,
                    message: "the challenge of the scheme \(challenge.scheme) could not be answered", underlying: error)
            )
        }
        next.policies.answeredChallenge = AnsweredChallenge(
            challenge: challenge, scheme: index, user: user, password: password, isRenewal: isRenewal)
        return .follow(next, .challenge)
    }
}

extension Hop {
    fileprivate var answersChallenge: Bool { if case .challenge = reason { true } else { false } }
}

/// A user name and a password, and the origin that they apply to.
package struct Credential: Sendable {
    let user: String
    let password: String
    let origin: Origin

    package init(user: String, password: String, origin: Origin) {
        self.user = user
        self.password = password
        self.origin = origin
    }
}

extension Credential: CustomStringConvertible, CustomReflectable {
    /// The origin of the credential. The description never contains the user name or the password.
    package var description: String { "credential for \(origin.text)" }

    /// An empty mirror, so that code that prints an exchange never prints a password.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

package enum ChallengeAnswer: Sendable {
    /// Answers the challenge with these values.
    case credential(user: String, password: String)
    /// Answers the challenge with the credential of the exchange or of the session's provider, if there is one.
    case standard
    /// Doesn't answer this challenge, and continues with the next weaker challenge of the response, if any.
    case reject
    /// Answers no challenge: the exchange ends with this response.
    case none
    /// Cancels the exchange.
    case cancel
}

/// Decides how to answer a challenge. It receives the exchange's credential if the credential applies to the origin of the challenge.
package typealias ChallengeHandler =
    @Sendable (ResponseHead, AuthenticationChallenge, Credential?) async -> ChallengeAnswer

/// The challenge that a hop's request answers, and the credential that it uses.
struct AnsweredChallenge: Sendable, CustomReflectable {
    let challenge: AuthenticationChallenge
    /// The index of the scheme in the session's list.
    let scheme: Int
    let user: String
    let password: String
    /// Whether the request repeats an answer because the server renewed its challenge.
    let isRenewal: Bool

    /// An empty mirror, so that code that prints an exchange never prints a password.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

import Foundation
import HTTPTypes

/// Answers a challenge (401) once, over any transport, when the exchange's context has a credential for the origin that
/// asks, or somebody who is asked.
///
/// As with redirects, nobody above sees a response that is answered. One to a request whose body cannot be sent again is
/// not: it is the last one.
package struct AuthTransport<Base: Transport>: Transport {
    let base: Base
    /// The strongest first.
    private let schemes: [any AuthenticationScheme] = [BasicAuthentication()]

    package init(_ base: Base) {
        self.base = base
    }

    package var capabilities: TransportCapabilities { base.capabilities }

    package func closeIdleConnections() { base.closeIdleConnections() }

    package func send(_ exchange: Exchange) async throws -> TransportResponse {
        let handler = exchange.context[ChallengeHandlerKey.self]
        var credential = exchange.context[CredentialKey.self]
        guard handler != nil || credential != nil else { return try await base.send(exchange) }
        var exchange = exchange
        exchange.context[ChallengeHandlerKey.self] = nil
        exchange.context[CredentialKey.self] = nil
        guard exchange.body.isReplayable else { return try await base.send(exchange) }
        if credential?.origin != Origin(exchange.request) { credential = nil }
        if let handler {
            return try await send(exchange, mayAnswer: .undecided) { [credential] head, challenge in
                await handler(head, challenge, credential)
            }
        }
        guard let credential else { return try await base.send(exchange) }
        return try await send(exchange, mayAnswer: .dropped) { _, _ in
            .credential(user: credential.user, password: credential.password)
        }
    }

    /// - Parameter challenged: What becomes of a response with a challenge, as far as is known when its head comes.
    private func send(
        _ exchange: Exchange, mayAnswer challenged: HeldResponse.Fate,
        _ answer: @Sendable (ResponseHead, AuthenticationChallenge) async -> ChallengeAnswer
    ) async throws -> TransportResponse {
        let begun = ContinuousClock.now
        let held = HeldResponse(exchange) { head in choice(after: head) == nil ? .final : challenged }
        defer { held?.letGo() }
        let response = try await base.send(exchange, holding: held)
        guard let (scheme, challenge) = choice(after: response.head) else { return response }
        let answer = await answer(response.head, challenge)
        if case .none = answer {
            do {
                try held?.release(response)
            } catch {
                throw await response.discarded(readingUpTo: 0).followed(by: error)
            }
            return response
        }
        held?.letGo()
        let report = await response.discarded(readingUpTo: HeldResponse.longestBodyToSkip)
        do {
            guard case .credential(let user, let password) = answer, !Task.isCancelled else {
                throw TransportError(
                    .cancelled, phase: .receiving, url: exchange.url, message: "cancelled at a request for credentials")
            }
            var next = exchange
            try scheme.answer(challenge, user: user, password: password, in: &next)
            next.options.totalTimeout -= (ContinuousClock.now - begun) / .seconds(1)
            exchange.observer?.exchangeWillAnswerChallenge(in: response.head)
            return try await base.send(next).preceded(by: report)
        } catch {
            throw report.followed(by: error)
        }
    }

    /// The strongest scheme that is known here and offered there.
    private func choice(after head: ResponseHead) -> (any AuthenticationScheme, AuthenticationChallenge)? {
        guard head.status == 401 else { return nil }
        let challenges = AuthenticationChallenge.challenges(in: head.values(for: .wwwAuthenticate))
        for scheme in schemes {
            if let challenge = challenges.first(where: { $0.scheme == scheme.name }) { return (scheme, challenge) }
        }
        return nil
    }
}

extension AuthTransport: DirectTransport where Base: DirectTransport {
    /// Not for exchanges with a credential.
    package func prepare(_ exchange: Exchange) throws -> any PreparedExchange { try base.prepare(exchange) }
}

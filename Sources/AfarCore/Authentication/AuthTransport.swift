import Foundation
import HTTPTypes

/// Answers a challenge (401) once, over any transport, when the exchange's context has a credential for the origin that
/// asks.
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
        guard let credential = exchange.context[CredentialKey.self] else { return try await base.send(exchange) }
        var exchange = exchange
        exchange.context[CredentialKey.self] = nil
        guard credential.origin == Origin(exchange.request), exchange.body.isReplayable else {
            return try await base.send(exchange)
        }
        return try await send(exchange, answeringWith: credential)
    }

    private func send(_ exchange: Exchange, answeringWith credential: Credential) async throws -> TransportResponse {
        let begun = ContinuousClock.now
        let held = HeldResponse(exchange) { head in choice(after: head) == nil ? .final : .dropped }
        defer { held?.letGo() }
        let response: TransportResponse
        do {
            response = try await base.send(held?.exchange ?? exchange)
        } catch {
            guard let skipped = held?.response(insteadOf: error) else { throw error }
            response = skipped
        }
        guard let (scheme, challenge) = choice(after: response.head) else { return response }
        held?.letGo()
        let report = await response.discarded(readingUpTo: HeldResponse.longestBodyToSkip)
        do {
            var next = exchange
            try scheme.answer(challenge, with: credential, in: &next)
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
    /// Exchanges with a credential take the long way.
    package func prepare(_ exchange: Exchange) throws -> any PreparedExchange { try base.prepare(exchange) }
}

import Foundation

/// Follows redirects, over any transport.
///
/// Nobody but the policy in the exchange's context sees a response that leads elsewhere: the hook at the head, the
/// observer's head and body, and the file are for the last response. Reports of all hops are joined.
package struct RedirectTransport<Base: Transport>: Transport {
    let base: Base
    let rules: RedirectRules

    package init(_ base: Base, rules: RedirectRules = RedirectRules()) {
        self.base = base
        self.rules = rules
    }

    package var capabilities: TransportCapabilities { base.capabilities }

    package func closeIdleConnections() { base.closeIdleConnections() }

    package func send(_ exchange: Exchange) async throws -> TransportResponse {
        var journey = RedirectJourney(exchange, rules: rules, begun: .now)
        guard journey.mayFollow else { return try await base.send(journey.exchange) }
        return try await go(on: &journey)
    }

    func go(on journey: inout RedirectJourney) async throws -> TransportResponse {
        while true {
            let held = journey.heldResponse()
            defer { held?.letGo() }
            let response: TransportResponse
            do {
                response = try await base.send(journey.exchange, holding: held)
            } catch {
                throw journey.ended(by: error)
            }
            if let last = try await journey.take(response, held) { return last }
        }
    }
}

extension RedirectTransport: DirectTransport where Base: DirectTransport {
    package func prepare(_ exchange: Exchange) throws -> any PreparedExchange {
        guard exchange.observer != nil else {
            guard let onHead = exchange.onHead else { return try base.prepare(exchange) }
            var exchange = exchange
            exchange.onHead = { head in if !head.isRedirect { try onHead(head) } }
            return try base.prepare(exchange)
        }
        let held = HeldResponse(exchange) { $0.isRedirect ? .dropped : .final }
        return try base.prepare(held?.exchange ?? exchange)
    }

    package func isFinal(_ response: TransportResponse) -> Bool { !response.head.isRedirect }

    package func finish(
        _ exchange: Exchange, after response: TransportResponse, elapsed: Duration
    ) async throws -> TransportResponse {
        var journey = RedirectJourney(exchange, rules: rules, begun: .now - elapsed)
        if let last = try await journey.take(response, nil) { return last }
        return try await go(on: &journey)
    }
}

import AfarCore
import AfarSerializers
import AfarTesting
import AfarTransport
import Foundation
import HTTPTypes
import Testing

/// A transport that wraps a callback transport and changes its hops.
@Suite struct WrappedCallbackTransportTests {
    private struct Wrapper: CallbackTransport {
        let base: any CallbackTransport
        var capabilities: TransportCapabilities { base.capabilities }

        func prepare(_ hop: Hop) throws -> any PreparedExchange {
            var exchange = hop.exchangeToSend
            exchange.request.headerFields[.userAgent] = "wrapped"
            let decide = exchange.decide
            exchange.decide = { head in
                guard head.status != 404 else { return .refuse(CancellationError()) }
                return decide?(head) ?? .take()
            }
            return try base.prepare(Hop(exchange, insteadOf: hop))
        }
    }

    private let mock = MockTransport { .text("ok", status: $0.path == "/missing" ? 404 : 200) }

    @Test func theChangedExchangeIsSent() async throws {
        let session = Session(transport: Wrapper(base: mock))
        let response = await session.request("http://mock.test/").serializingData().response
        #expect(response.value == Data("ok".utf8))
        #expect(mock.requests.first?["User-Agent"] == "wrapped")
    }

    @Test func theChangedDecisionIsUsed() async {
        let session = Session(transport: Wrapper(base: mock))
        let response = await session.request("http://mock.test/missing").serializingData().response
        #expect(response.error?.transportError?.code == .cancelled)
    }

    @Test func theHopsShareTheTotalTimeout() async throws {
        var exchange = Exchange(request: HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/"))
        exchange.options.totalTimeout = 60
        let hop = Hop(exchange)
        exchange.options.totalTimeout = 1_000
        let other = Hop(exchange, insteadOf: hop)
        #expect(other.exchangeToSend.options.totalTimeout <= 60)
        #expect(other.timeLeft <= .seconds(60) && other.timeLeft > .seconds(30))
    }
}

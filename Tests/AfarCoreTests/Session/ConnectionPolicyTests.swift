import AfarCore
import AfarTesting
import AfarTransport
import Foundation
import HTTPTypes
import Testing

/// Policies of connections and transports that can't enforce them.
@Suite struct ConnectionPolicyTests {
    private final class Open: ConnectionPolicy {
        func decide(on candidate: ConnectionCandidate) -> ConnectionDecision { .allow }
    }

    /// A transport that doesn't check the requirements of its exchanges.
    private struct Careless: Transport {
        let capabilities: TransportCapabilities

        init(_ features: TransportCapabilities.Features = []) {
            capabilities = TransportCapabilities(name: "careless", features: features)
        }

        func send(_ exchange: Exchange) async throws -> TransportResponse {
            TransportResponse(head: ResponseHead(status: 200, url: exchange.url), body: .data(Data("sent".utf8)))
        }
    }

    private struct CarelessCallback: CallbackTransport {
        let capabilities: TransportCapabilities

        init(_ features: TransportCapabilities.Features = []) {
            capabilities = TransportCapabilities(name: "careless", features: features)
        }

        func prepare(_ hop: Hop) throws -> any PreparedExchange {
            let all = TransportCapabilities(name: "all", features: .init(rawValue: .max))
            return try MockTransport(capabilities: all) { _ in .text("sent") }.prepare(hop)
        }
    }

    /// Adds a policy to each exchange, after the session has checked the exchange's requirements.
    private struct LatePolicy: ExchangeStage {
        struct Run: StageRun {
            let policy: any ConnectionPolicy

            func before(_ hop: Hop) -> Reply<RequestAction> {
                var exchange = hop.exchange
                exchange.options.connectionPolicy = policy
                return .now(.change(exchange))
            }
        }

        let policy: any ConnectionPolicy = Open()

        func begin(_ hop: Hop) -> (any StageRun)? { Run(policy: policy) }
    }

    private func error(
        over transport: any Transport, stages: [any ExchangeStage] = [], _ change: (inout SessionConfiguration) -> Void
    ) async -> TransportError? {
        var configuration = SessionConfiguration()
        change(&configuration)
        let session = Session(configuration: configuration, stages: stages, transport: transport)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        return response.error?.transportError
    }

    @Test func transportsThatCannotEnforceAPolicyAreNotUsed() async {
        let transports: [any Transport] = [
            Careless(), CarelessCallback(), MockTransport { _ in .text("sent") },
            FirstCapableTransport([Careless(), CarelessCallback()]),
        ]
        for transport in transports {
            let error = await error(over: transport) { $0.connectionPolicy = Open() }
            #expect(error?.code == .unsupportedByTransport, "\(transport)")
            #expect(error?.message.contains("connection policies") == true)
            let late = await self.error(over: transport, stages: [LatePolicy()]) { _ in }
            #expect(late?.code == .unsupportedByTransport, "\(transport)")
            #expect(await self.error(over: transport) { _ in } == nil)
        }
    }

    @Test func transportsThatCannotUseAResolverAreNotUsed() async {
        let transports: [any Transport] = [Careless(), CarelessCallback(), MockTransport { _ in .text("sent") }]
        for transport in transports {
            let error = await error(over: transport) { $0.resolver = SystemResolver() }
            #expect(error?.code == .unsupportedByTransport, "\(transport)")
            #expect(error?.message.contains("resolvers") == true)
        }
        #expect(await error(over: Careless(.resolver)) { $0.resolver = SystemResolver() } == nil)
    }

    /// No transport has all features, but together they have them.
    @Test func noTransportOfAListIsUsedWithoutAllFeatures() async {
        for last in [Careless(.http3), CarelessCallback(.http3)] as [any Transport] {
            let lists = [
                FirstCapableTransport([Careless(.connectionPolicy), last]),
                FirstCapableTransport([FirstCapableTransport([Careless(.connectionPolicy), last])]),
            ]
            for transport in lists {
                let error = await error(over: transport) {
                    $0.connectionPolicy = Open()
                    $0.httpVersion = .http3
                }
                #expect(error?.code == .unsupportedByTransport)
                #expect(await self.error(over: transport) { $0.connectionPolicy = Open() } == nil)
            }
        }
    }
}

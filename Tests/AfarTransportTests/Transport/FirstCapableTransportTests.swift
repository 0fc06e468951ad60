import AfarTesting
import AfarTransport
import Foundation
import HTTPTypes
import Testing

@Suite struct FirstCapableTransportTests {
    /// A transport that responds with its name.
    private struct Named: Transport {
        let capabilities: TransportCapabilities
        var connectionStatistics: ConnectionStatistics?

        init(_ name: String, _ features: TransportCapabilities.Features, codings: [String] = [], idle: Int? = nil) {
            capabilities = TransportCapabilities(name: name, features: features, contentCodings: codings)
            connectionStatistics = idle.map { ConnectionStatistics(hosts: [.init(origin: "http://a", idle: $0)]) }
        }

        func send(_ exchange: Exchange) async throws -> TransportResponse {
            try capabilities.check(exchange)
            return TransportResponse(
                head: ResponseHead(status: 200, url: exchange.url), body: .data(Data(capabilities.name.utf8)))
        }
    }

    private func exchange(_ change: (inout Exchange) -> Void = { _ in }) -> Exchange {
        var exchange = Exchange(request: HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/"))
        change(&exchange)
        return exchange
    }

    private func name(_ transport: FirstCapableTransport, _ exchange: Exchange) async throws -> String? {
        guard case .data(let data) = try await transport.send(exchange).body else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    @Test func theFirstCapableTransportIsUsed() async throws {
        let transport = FirstCapableTransport([
            Named("one", [.metrics], codings: ["gzip", "br"], idle: 1),
            Named("two", [.http2], codings: ["br"], idle: 2),
            Named("three", []),
        ])
        #expect(try await name(transport, exchange()) == "one")
        #expect(try await name(transport, exchange { $0.options.httpVersion = .http2 }) == "two")
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(exchange { $0.options.httpVersion = .http3 })
        }
        #expect(error?.code == .unsupportedByTransport && error?.message.contains("three") == true)
        #expect(transport.capabilities.features == [.metrics, .http2])
        #expect(transport.capabilities.contentCodings.isEmpty)
        #expect(await transport.connectionStatistics?.hosts == [.init(origin: "http://a", idle: 3)])
    }

    /// The features of all transports together are sufficient, but no transport has all of them.
    @Test func anUnsuitableTransportIsNotUsed() async {
        struct Careless: Transport {
            let capabilities = TransportCapabilities(name: "careless", features: [.http3])

            func send(_ exchange: Exchange) async throws -> TransportResponse {
                TransportResponse(head: ResponseHead(status: 200, url: exchange.url), body: .data(Data()))
            }
        }
        let transport = FirstCapableTransport([Named("one", [.minimumTLSVersion]), Careless()])
        let exchange = exchange {
            $0.options.httpVersion = .http3
            $0.options.minimumTLSVersion = .v13
        }
        let error = await #expect(throws: TransportError.self) { _ = try await transport.send(exchange) }
        #expect(error?.code == .unsupportedByTransport && error?.message.contains("careless") == true)
    }

    @Test func withoutTransportsRequestsFail() async {
        let transport = FirstCapableTransport([])
        let error = await #expect(throws: TransportError.self) { try await transport.send(exchange()) }
        #expect(error?.code == .unsupportedByTransport)
        #expect(await transport.connectionStatistics == nil)
    }

    @Test func aConnectionForAnotherProtocolRequiresNoVersion() {
        let exchange = exchange {
            $0.delivery = .connection
            $0.options.httpVersion = .http2
        }
        #expect(exchange.requiredFeatures == [.connections])
    }
}

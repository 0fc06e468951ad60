import AfarCore
import AfarTesting
import Foundation
import TestSupport
import Testing

/// Connection requests over custom transports.
@Suite(.timeLimit(.minutes(1))) struct ConnectionDeliveryTests {
    /// A transport that delivers the same body for every request.
    private struct Delivering: Transport {
        let body: TransportResponse.Body
        var status = 200
        let capabilities = TransportCapabilities(name: "own", features: [.connections])

        func send(_ exchange: Exchange) async throws -> TransportResponse {
            TransportResponse(head: ResponseHead(status: status, url: exchange.url), body: body)
        }
    }

    /// A connection that receives everything that is written to it.
    private final class Echo: Connection {
        private let bytes = Locked(Data())
        private let closed = Locked(false)
        var isClosed: Bool { closed.withLock { $0 } }
        let metrics = TransactionMetrics()

        func read(atMost limit: Int, timeout: TimeInterval?) async throws -> Data {
            bytes.withLock { bytes in
                defer { bytes = Data(bytes.dropFirst(limit)) }
                return Data(bytes.prefix(limit))
            }
        }

        func write(_ data: Data, timeout: TimeInterval?) async throws { bytes.withLock { $0 += data } }
        func finishWriting() async throws {}
        func startTLS(to target: ConnectionTarget) async throws {}
        func close() { closed.withLock { $0 = true } }
    }

    private func session(_ transport: any Transport) -> Session {
        Session(configuration: SessionConfiguration.default, transport: transport)
    }

    private func code(_ error: (any Error)?) -> TransportError.Code? {
        let cause = (error as? AFError)?.underlyingError as? URLError
        return (cause?.userInfo[NSUnderlyingErrorKey] as? TransportError)?.code
    }

    @Test func aStreamRequestUsesTheConnectionOfAnyTransport() async throws {
        let echo = Echo()
        let session = session(Delivering(body: .connection(echo)))
        let stream = session.stream(withHostName: "example.com", port: 7)
        try await stream.write(Data("hello".utf8))
        #expect(try await stream.readData(ofMinLength: 5, maxLength: 5).0 == Data("hello".utf8))
        stream.cancel()
        try await waitWhile { !echo.isClosed }
    }

    @Test func aTransportWithoutConnectionsIsRejectedBeforeSending() async throws {
        let capabilities = TransportCapabilities.withoutNetwork(name: "own")
        let session = session(MockTransport(capabilities: capabilities) { _ in .status(200) })
        let error = await #expect(throws: AFError.self) {
            _ = try await session.stream(withHostName: "example.com", port: 7).readData(ofMinLength: 1, maxLength: 1)
        }
        #expect(code(error) == .unsupportedByTransport)
        let webSocketError = await #expect(throws: AFError.self) {
            for try await _ in session.webSocketRequest(to: "ws://example.com/").webSocketTask().messages {}
        }
        #expect(code(webSocketError) == .unsupportedByTransport)
    }

    @Test func aTransportThatDeliversNoConnectionFailsTheRequest() async throws {
        let session = session(Delivering(body: .data(Data())))
        let error = await #expect(throws: AFError.self) {
            _ = try await session.stream(withHostName: "example.com", port: 7).readData(ofMinLength: 1, maxLength: 1)
        }
        #expect(code(error) == .unsupportedByTransport)
        let webSocketError = await #expect(throws: AFError.self) {
            for try await _ in session.webSocketRequest(to: "ws://example.com/").webSocketTask().messages {}
        }
        #expect(webSocketError?.responseCode == 200)
    }

    @Test func anInvalidHandshakeResponseClosesTheConnection() async throws {
        let echo = Echo()
        let session = session(Delivering(body: .connection(echo), status: 101))
        let error = await #expect(throws: AFError.self) {
            for try await _ in session.webSocketRequest(to: "ws://example.com/").webSocketTask().messages {}
        }
        #expect(code(error) == .malformedResponse)
        #expect(echo.isClosed)
    }
}

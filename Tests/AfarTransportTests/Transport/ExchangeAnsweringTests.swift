import AfarTransport
import HTTPTypes
import Testing

@Suite struct ExchangeAnsweringTests {
    private struct Broken: Error {}

    private func exchange(_ read: @escaping @Sendable () async throws -> Void) -> Exchange {
        let stream = RequestBodyStream(length: nil, isReplayable: false) {
            {
                try await read()
                return nil
            }
        }
        return Exchange(
            request: HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/"),
            body: .stream(stream))
    }

    @Test func aCancelledReadersErrorIsACancellation() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let exchange = exchange {
            start.finish()
            try await Task.sleep(for: .seconds(60))
        }
        let task = Task { try await exchange.collectBody() }
        for await _ in started {}
        task.cancel()
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test func anotherReaderErrorIsTheBodysFailure() async {
        let exchange = exchange { throw Broken() }
        let error = await #expect(throws: TransportError.self) { try await exchange.collectBody() }
        #expect(error?.code == .requestBodyFailed)
        #expect(error?.underlying is Broken)
    }
}

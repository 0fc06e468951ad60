import Afar
import AfarTestServer
import Foundation
import Testing

/// Streams with handlers.
@Suite struct FeedTests {
    @Test func bytesAreReadUpToALimit() async throws {
        let server = try await TestServer.start()
        let client = FeedClient(base: server.url.absoluteString)
        let (count, error) = await withCheckedContinuation { continuation in
            client.bytes("/large/50000000", until: 100_000) { continuation.resume(returning: ($0, $1)) }
        }
        #expect(count >= 100_000 && count < 50_000_000)
        #expect(error?.isExplicitlyCancelledError == true)
        await server.stop()
    }

    @Test func linesArriveOneByOne() async throws {
        let server = try await TestServer.start()
        server.route("/lines") { _ in
            .init(headers: ["Content-Type": "application/x-ndjson"]) { body in
                try body.write(#"{"id":1,"text":"a"}"#)
            }
        }
        let client = FeedClient(base: server.url.absoluteString)
        let lines = Notes()
        let completion = await withCheckedContinuation { continuation in
            _ = client.lines("/lines") {
                lines.add($0.text)
            } completion: {
                continuation.resume(returning: $0)
            }
        }
        #expect(lines.all == ["a"])
        #expect(completion.error == nil && completion.response?.statusCode == 200)
        #expect(completion.request?.headers["Accept"] == "application/x-ndjson")
        let refused = await withCheckedContinuation { continuation in
            _ = client.lines("/status/201") {
                lines.add($0.text)
            } completion: {
                continuation.resume(returning: $0)
            }
        }
        #expect(refused.error?.responseCode == 201)
        await server.stop()
    }

    @Test func aHandlerThatThrowsEndsTheStream() async throws {
        let server = try await TestServer.start()
        let client = FeedClient(base: server.url.absoluteString)
        let (count, error) = await withCheckedContinuation { continuation in
            client.strict("/chunked/10") { continuation.resume(returning: ($0, $1)) }
        }
        #expect(count == 1)
        guard case let .responseSerializationFailed(.customSerializationFailed(error: thrown))? = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(thrown is URLError)
        await server.stop()
    }
}

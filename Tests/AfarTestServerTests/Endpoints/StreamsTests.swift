import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct StreamsTests {
    @Test func delaysTheHead() async throws {
        try await withServer { server in
            let start = ContinuousClock.now
            let answer = try await Curl.get(server.url("/delay/0.3"))
            #expect(answer.status == 200)
            #expect(ContinuousClock.now - start >= .seconds(0.3))
        }
    }

    @Test func dripsEvenly() async throws {
        try await withServer { server in
            let start = ContinuousClock.now
            let answer = try await Curl.get(server.url("/drip?bytes=1000&seconds=0.3"))
            #expect(answer.body == PatternBytes.bytes(1000))
            #expect(answer.values("Transfer-Encoding") == ["chunked"])
            #expect(ContinuousClock.now - start >= .seconds(0.29))
            #expect(try await Curl.get(server.url("/drip?bytes=0&seconds=0")).body.isEmpty)
        }
    }

    @Test func aDripEndsWhenTheClientDisconnects() async throws {
        let server = try await TestServer.start()
        await #expect(throws: Curl.Failed.self) {
            try await Curl.get(server.url("/drip?bytes=2&seconds=3600"), "--max-time", "0.2")
        }
        await server.stop()
    }

    @Test func sendsChunksAndLines() async throws {
        try await withServer { server in
            #expect(try await Curl.get(server.url("/chunked/3")).text == "chunk 0\nchunk 1\nchunk 2\n")
            #expect(try await Curl.get(server.url("/chunked/0")).body.isEmpty)
            let lines = try await Curl.get(server.url("/stream/20")).body.split(separator: 10)
            #expect(lines.count == 20)
            let last = try JSONSerialization.jsonObject(with: lines[19]) as? [String: Any]
            #expect(last?["id"] as? Int == 19)
        }
    }

    @Test func sendsEventsAfterTheLast() async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url("/events/2"))
            #expect(answer.values("Content-Type") == ["text/event-stream"])
            #expect(answer.text == "event: tick\nid: 1\ndata: event 1\n\nevent: tick\nid: 2\ndata: event 2\n\n")
            let rest = try await Curl.get(server.url("/events/2"), "--header", "Last-Event-ID: 1")
            #expect(rest.text == "event: tick\nid: 2\ndata: event 2\n\n")
            #expect(try await Curl.get(server.url("/events/2"), "--header", "Last-Event-ID: 2").status == 204)
        }
    }
}

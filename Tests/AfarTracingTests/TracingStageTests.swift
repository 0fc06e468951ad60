import AfarCore
import AfarSerializers
import AfarTestServer
import AfarTesting
import AfarTracing
import Foundation
import HTTPTypes
import InMemoryTracing
import Testing
import Tracing

#if os(Linux)
    import AfarCurl
#endif

@Suite struct TracingStageTests {
    let tracer = InMemoryTracer()

    private func session(_ stubs: Stub..., interceptor: (any RequestInterceptor)? = nil) -> Session {
        Session(
            interceptor: interceptor, stages: [TracingStage(tracer: tracer)], transport: MockTransport(stubs: stubs))
    }

    private func attribute(_ name: String, of span: FinishedInMemorySpan) -> String? {
        switch span.attributes.get(name)?.toSpanAttribute() {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .int32(let number): "\(number)"
        default: nil
        }
    }

    #if os(Linux)
        @Test func theTraceIsPropagatedAndTheSpanDescribed() async throws {
            let server = try await TestServer.start()
            let session = Session(stages: [TracingStage(tracer: tracer)], transport: CurlTransport())
            let (parent, answer) = try await tracer.withSpan("parent") { span in
                (span.spanID, try await session.request(server.url("/anything?token=s3cret")).serializingString().value)
            }
            await server.stop()
            let span = try #require(tracer.finishedSpans.first)
            #expect(span.operationName == "GET" && span.kind == .client)
            #expect(span.parentSpanID == parent)
            #expect(answer.contains(span.traceID) && answer.contains(span.spanID), "\(answer)")
            #expect(attribute("http.request.method", of: span) == "GET")
            #expect(attribute("http.response.status_code", of: span) == "200")
            #expect(attribute("url.full", of: span) == "\(server.url("/anything"))?token=***")
            #expect(attribute("url.scheme", of: span) == "http")
            #expect(attribute("server.address", of: span) == "127.0.0.1")
            #expect(attribute("server.port", of: span) == "\(try #require(server.url("/").port))")
            #expect(attribute("network.protocol.version", of: span) == "1.1")
            #expect(attribute("error.type", of: span) == nil && span.status == nil && span.errors.isEmpty)
        }
    #endif

    @Test func eachHopAndEachRetryIsASpanOfTheSameParent() async throws {
        let session = session(
            Stub(.get, "/a", .redirect(to: "/b")), Stub(.get, "/b", .status(503), .text("ok")),
            interceptor: RetryPolicy(exponentialBackoffScale: 0))
        let parent = try await tracer.withSpan("parent") { span in
            _ = try await session.request("http://mock.test/a").validate().serializingString().value
            return span.spanID
        }
        let spans = tracer.finishedSpans.filter { $0.kind == .client }
        #expect(spans.allSatisfy { $0.parentSpanID == parent })
        #expect(spans.map { attribute("http.response.status_code", of: $0) } == ["302", "503", "302", "200"])
        #expect(spans.map { attribute("http.request.resend_count", of: $0) } == [nil, "1", nil, "1"])
        #expect(spans.map { attribute("error.type", of: $0) } == [nil, "503", nil, nil])
        #expect(spans.map { $0.status?.code == .error } == [false, true, false, false])
    }

    @Test func spansEndForEveryOutcome() async throws {
        let session = session(
            Stub(.get, "/fails", .failure(.cannotConnect)), Stub(.get, "/breaks", .text("body").interrupted(after: 2)),
            Stub(.get, "/slow", .text("late").delayed(by: .seconds(60))))
        _ = await session.request("http://mock.test/fails").serializingData().response
        _ = await session.request("http://mock.test/breaks").serializingData().response
        let slow = session.request("http://mock.test/slow")
        let task = slow.serializingData()
        while tracer.activeSpan(of: "http://mock.test/slow") == nil { try await Task.sleep(for: .milliseconds(1)) }
        slow.cancel()
        _ = await task.response
        #expect(
            tracer.finishedSpans.map { attribute("error.type", of: $0) } == [
                "cannotConnect", "bodyIncomplete", "cancelled",
            ])
        #expect(tracer.finishedSpans.allSatisfy { $0.errors.count == 1 && $0.status?.code == .error })
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test func aStreamsSpanEndsWithItsHead() async throws {
        let session = session(Stub(.get, "/", .text("streamed")))
        var text = ""
        for await event in session.streamRequest("http://mock.test/").streamTask().streamingStrings() {
            if case .stream(.success(let part)) = event.event { text += part }
        }
        #expect(text == "streamed")
        #expect(tracer.finishedSpans.map { attribute("http.response.status_code", of: $0) } == ["200"])
    }

    @Test func withoutATracerNothingIsSent() async throws {
        let mock = MockTransport(stubs: [Stub(.get, "/", .status(200))])
        let session = Session(stages: [TracingStage()], transport: mock)
        _ = await session.request("http://mock.test/").serializingData().response
        #expect(mock.requests.first?["in-memory-trace-id"] == nil)
        #expect(mock.requests.count == 1)
    }
}

extension InMemoryTracer {
    fileprivate func activeSpan(of url: String) -> InMemorySpan? {
        activeSpans.first { span in
            if case .string(url)? = span.attributes.get("url.full")?.toSpanAttribute() { true } else { false }
        }
    }
}

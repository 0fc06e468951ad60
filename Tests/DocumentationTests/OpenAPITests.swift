import Afar
import AfarTestServer
import HTTPTypes
import Testing

/// Tests the transport in the guide to OpenAPI clients.
@Suite(.timeLimit(.minutes(1))) struct OpenAPITests {
    private let transport = AfarClientTransport(session: Session(configuration: .default))

    private func send(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: HTTPBody? = nil, to base: URL
    ) async throws -> (HTTPResponse, HTTPBody) {
        let request = HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: fields)
        let (response, body) = try await transport.send(request, body: body, baseURL: base, operationID: "test")
        return (response, try #require(body))
    }

    private func text(_ body: HTTPBody) async throws -> String {
        String(decoding: try await Data(collecting: body, upTo: 1 << 24), as: UTF8.self)
    }

    @Test func theGuidesClientReceivesAUser() async throws {
        try await OpenAPISamples.call()
        #expect(await Output.has(#"OpenAPI: {"id":1,"name":"Ada"}"#))
    }

    @Test func pathsQueriesAndHeadersAreSent() async throws {
        let server = try await TestServer.start()
        server.route("/v1/*") { request in
            .text("\(request.method) \(request.target) \(request.headers["X-Trace"] ?? "")").adding("X-Answer", "42")
        }
        for base in [server.url("/v1"), server.url("/v1/")] {
            let (response, body) = try await send(
                .get, "/users/a%2Fb?x=1%202&y=", fields: [try #require(.init("X-Trace")): "t1"], to: base)
            #expect(response.status == .ok)
            #expect(response.headerFields[try #require(.init("X-Answer"))] == "42")
            #expect(try await text(body) == "GET /v1/users/a%2Fb?x=1%202&y= t1")
        }
        await server.stop()
    }

    @Test func bodiesAreSentFromMemoryOrInChunks() async throws {
        let server = try await TestServer.start()
        server.route("/notes", methods: ["POST"]) { request in
            let framing = request.headers["Content-Length"] ?? request.headers["Transfer-Encoding"] ?? "none"
            return .text("\(framing): \(request.text ?? "")", status: 201)
        }
        let (small, receipt) = try await send(
            .post, "/notes", fields: [.contentLength: "3"], body: HTTPBody("tea"), to: server.url)
        #expect(small.status == .created)
        #expect(try await text(receipt) == "3: tea")
        let parts = AsyncStream { continuation in
            for part in ["green", " ", "tea"] { continuation.yield(Array(part.utf8)[...]) }
            continuation.finish()
        }
        let chunked = HTTPBody(parts, length: .unknown, iterationBehavior: .single)
        let (_, other) = try await send(
            .post, "/notes", fields: [.transferEncoding: "chunked"], body: chunked, to: server.url)
        #expect(try await text(other) == "chunked: green tea")
        await server.stop()
    }

    @Test func responsesAreReadWhileTheyArrive() async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"), .hold(gate), .send("abc"),
            .send("def"),
        ])
        let (response, body) = try await send(.get, "/", to: server.url)
        #expect(response.status == .ok)
        gate.open()
        #expect(try await text(body) == "abcdef")
        let large = try await TestServer.start()
        let (_, bytes) = try await send(.get, "/large/3000000", to: large.url)
        var count = 0
        for try await chunk in bytes { count += chunk.count }
        #expect(count == 3_000_000)
        await large.stop()
    }

    @Test func statusesAreNoErrors() async throws {
        let server = try await TestServer.start()
        server.route("/users/0") { _ in .text("no such user", status: 404) }
        let (response, body) = try await send(.get, "/users/0", to: server.url)
        #expect(response.status == .notFound)
        #expect(try await text(body) == "no such user")
        let (empty, nothing) = try await send(.delete, "/status/204", to: server.url)
        #expect(empty.status == .noContent)
        #expect(try await text(nothing).isEmpty)
        await server.stop()
    }

    @Test func failuresAreThrown() async throws {
        let server = try await RawServer.start([.receiveHead, .close])
        await #expect(throws: AFError.self) { try await send(.post, "/", body: HTTPBody("x"), to: server.url) }
        let broken = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .close,
        ])
        let (_, body) = try await send(.get, "/", to: broken.url)
        await #expect(throws: AFError.self) { try await text(body) }
    }

    @Test func aRetryDoesNotRepeatBytes() async throws {
        // Otherwise, the first attempt could fail before the body is read.
        let gate = RawServer.Gate()
        let server = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .hold(gate), .close,
        ])
        let retrying = AfarClientTransport(
            session: Session(configuration: .default, interceptor: RetryPolicy(exponentialBackoffScale: 0)))
        let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
        let (_, body) = try await retrying.send(request, body: nil, baseURL: server.url, operationID: "test")
        var received = Data()
        await #expect(throws: AFError.self) {
            for try await chunk in try #require(body) {
                received += chunk
                gate.open()
            }
        }
        #expect(String(decoding: received, as: UTF8.self) == "abc")
    }

    @Test func cancellingTheCallCancelsTheRequest() async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let call = Task { try await send(.get, "/", to: server.url) }
        try await server.head()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        try await server.peerClosed(0)
    }

    @Test func aBodyThatIsNoLongerReadCancelsTheRequest() async throws {
        let server = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .waitForever,
        ])
        do {
            let (_, body) = try await send(.get, "/", to: server.url)
            for try await _ in body { break }
        }
        try await server.peerClosed(0)
        let unread = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .waitForever,
        ])
        _ = try await send(.get, "/", to: unread.url)
        try await unread.peerClosed(0)
    }
}

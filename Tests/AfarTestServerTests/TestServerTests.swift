import AfarTestServer
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct TestServerTests {
    @Test func listensOnAFreeLoopbackPort() async throws {
        try await withServer { server in
            #expect(server.url.absoluteString.hasPrefix("http://127.0.0.1:"))
            #expect(server.url("get?x=1").absoluteString == server.url.absoluteString + "/get?x=1")
            let answer = try await Curl.get(server.url("/get"))
            #expect(answer.status == 200)
        }
    }

    @Test func rejectsConnectionsAfterStop() async throws {
        // Another process can reuse the port, so one refused connection is sufficient.
        for _ in 0..<3 {
            let server = try await TestServer.start()
            await server.stop()
            await server.stop()
            do { _ = try await Curl.get(server.url("/get")) } catch is Curl.Failed { return }
        }
        Issue.record("connections were accepted after the server stopped")
    }

    @Test func aStoppedServerIsReleasedDespiteRetainingHandlers() async throws {
        weak var released: TestServer?
        do {
            let server = try await TestServer.start()
            released = server
            server.route("/count") { _ in .text("\(server.requestCount)") }
            #expect(try await Curl.get(server.url("/count")).status == 200)
            await server.stop()
        }
        for _ in 0..<5_000 where released != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(released == nil)
    }

    @Test func stopEndsRunningRequests() async throws {
        let server = try await TestServer.start()
        let (arrived, arrive) = AsyncStream<Void>.makeStream()
        server.route("/slow") { _ in
            arrive.yield()
            try await Task.sleep(for: .seconds(3600))
            return .text("too late")
        }
        let urls = [server.url("/slow"), server.url("/delay/3600"), server.url("/drip?bytes=9&seconds=3600")]
        let clients = urls.map { url in Task { try await Curl.get(url) } }
        for await _ in arrived { break }
        try await waitWhile { server.requestCount < 3 }
        await server.stop()
        for client in clients.dropFirst() {
            await #expect(throws: Curl.Failed.self) { try await client.value }
        }
        _ = await clients[0].result
    }

    @Test func routesTakePrecedenceAndSeeTheRequest() async throws {
        try await withServer { server in
            server.route("/get") { _ in .text("mine") }
            server.route("/users/{id}/*", methods: ["POST"]) { request in
                let text = "\(request.parameters["id"] ?? "") \(request.text ?? "") \(request.arguments)"
                return .text(text, status: 201).adding("X-A", "1").adding("X-A", "2")
            }
            #expect(try await Curl.get(server.url("/get")).text == "mine")
            let answer = try await Curl.get(server.url("/users/a%20b/c?x=1+2"), "-d", "body")
            #expect(answer.status == 201)
            #expect(answer.text == #"a b body [AfarTestServer.ServerRequest.Argument(name: "x", value: "1 2")]"#)
            #expect(answer.values("X-A") == ["1", "2"])
            let refused = try await Curl.get(server.url("/users/1/x"))
            #expect(refused.status == 405)
            #expect(refused.values("Allow") == ["POST"])
            #expect(try await Curl.get(server.url("/nothing/here")).status == 404)
        }
    }

    @Test func anErrorOfARouteBecomesStatus500() async throws {
        struct Broken: Error {}
        try await withServer { server in
            server.route("/broken") { _ in throw Broken() }
            let answer = try await Curl.get(server.url("/broken"))
            #expect(answer.status == 500)
            #expect(answer.text == "Broken()\n")
        }
    }

    @Test func recordsWhatItReceives() async throws {
        try await withServer { server in
            let url = server.url("/anything").absoluteString
            _ = try await Curl.run([url, url + "?x=1", "-d", "hello", "-H", "X-Test: 1"])
            #expect(server.requestCount == 2)
            #expect(server.requestCount(path: "/anything") == 2)
            #expect(server.requestCount(path: "/other") == 0)
            #expect(server.connectionCount == 1)
            let last = try #require(server.lastRequest(path: "/anything"))
            #expect(last.method == "POST")
            #expect(last.query == "x=1")
            #expect(last.text == "hello")
            #expect(last.headers["x-test"] == "1")
        }
    }

    @Test func servesHundredsOfConcurrentRequests() async throws {
        try await withServer { server in
            server.route("/task/{n}") { request in
                await Task.yield()
                return .text(request.parameters["n"] ?? "")
            }
            let base = server.url.absoluteString
            async let first = Curl.run(["-Z", "--parallel-max", "150", "\(base)/bytes/[1-300]", "-o", "/dev/null"])
            async let second = Curl.run(["-Z", "--parallel-max", "150", "\(base)/task/[1-300]"])
            _ = try await first
            #expect(try await second.count == 9 + 90 * 2 + 201 * 3)
            #expect(server.requestCount == 600)
        }
    }

    @Test func listsItsEndpoints() {
        #expect(TestServer.endpoints.count > 30)
        #expect(TestServer.endpoints.allSatisfy { $0.pattern.hasPrefix("/") && !$0.summary.isEmpty })
    }
}

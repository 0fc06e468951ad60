import Afar
import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DiffTests {
    private func server() async throws -> TestServer {
        let server = try await TestServer.start()
        func add(_ path: String, _ type: String, _ body: String, status: Int = 200, _ fields: [(String, String)] = []) {
            server.route(path) { _ in
                var response = ServerResponse(status: status, headers: ["Content-Type": type], body: Data(body.utf8))
                for (name, value) in fields { response.headers.append(name, value) }
                return response
            }
        }
        add("/a.json", "application/json", #"{"id":1,"name":"Ada","tags":["x","y"]}"#, [("X-Request-Id", "1")])
        add(
            "/same.json", "application/json", "{\n\"tags\": [\"x\", \"y\"], \"name\":\"Ad\\u0061\", \"id\": 1.0 }",
            [("Age", "9")])
        add("/b.json", "application/json", #"{"id":2,"name":"Ada","tags":["x","new","y"],"more":null}"#)
        add("/a.txt", "text/plain", "one\ntwo\nthree\n")
        add("/b.txt", "text/plain", "one\n2\nthree\n", status: 404, [("X-A", "1")])
        add("/bytes", "application/octet-stream", "\u{0}\u{1}\u{2}")
        return server
    }

    @Test func equalResponsesHaveExitCode0() async throws {
        let server = try await server()
        let url = server.url("/a.json").absoluteString
        let outcome = try await Tool.run("diff", url, server.url("/same.json").absoluteString)
        #expect(outcome.status == 0)
        #expect(outcome.text == "" && outcome.errors == "")
        let all = try await Tool.run("diff", url, server.url("/same.json").absoluteString, "--all-fields")
        #expect(all.status == 1)
        #expect(all.text.contains("\n-X-Request-Id: 1\n") && all.text.contains("\n+Age: 9\n"))
        #expect(!all.text.contains("body"))
    }

    @Test func jsonIsComparedByValue() async throws {
        let server = try await server()
        let (first, second) = (server.url("/a.json").absoluteString, server.url("/b.json").absoluteString)
        let outcome = try await Tool.run("diff", first, second)
        #expect(outcome.status == 1)
        #expect(outcome.errors == "")
        #expect(
            outcome.text == """
                --- \(first)
                +++ \(second)
                @@ fields @@
                -Content-Length: 38
                +Content-Length: 56
                @@ body, JSON @@
                -.id: 1
                +.id: 2
                +.tags[1]: "new"
                +.more: null

                """)
        let colored = try await Tool.run("diff", first, second, "--color", "always")
        #expect(colored.text.contains("\u{1B}[31m-.id: 1\u{1B}[0m\n\u{1B}[32m+.id: 2\u{1B}[0m\n"))
    }

    @Test func statusFieldsAndLinesAreCompared() async throws {
        let server = try await server()
        let outcome = try await Tool.run(
            "diff", server.url("/a.txt").absoluteString, server.url("/b.txt").absoluteString)
        #expect(outcome.status == 1)
        let lines = outcome.text.split(separator: "\n").dropFirst(2)
        #expect(
            lines == [
                "@@ status @@", "-200 OK", "+404 Not Found", "@@ fields @@", "-Content-Length: 14",
                "+Content-Length: 12", "+X-A: 1", "@@ body -1,3 +1,3 @@", " one", "-two", "+2", " three",
            ])
    }

    @Test func binaryDataIsComparedByDigest() async throws {
        let server = try await server()
        let outcome = try await Tool.run(
            "diff", server.url("/bytes").absoluteString, server.url("/a.txt").absoluteString)
        #expect(outcome.status == 1)
        #expect(
            outcome.text.contains(
                """
                @@ body, binary @@
                -3 bytes, SHA-256 ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc
                +14 bytes, SHA-256
                """))
    }

    @Test func aRecordingIsComparedWithTheServer() async throws {
        let server = try await server()
        let directory = try ScratchDirectory()
        let version = Locked(1)
        server.route("/v") { _ in .text("version \(version.withLock { $0 })") }
        let url = server.url("/v").absoluteString
        _ = try await Tool.run(["get", url, "--record", "a.har"], directory: directory.url)
        let equal = try await Tool.run(["diff", url, "@a.har"], directory: directory.url)
        #expect(equal.status == 0, "\(equal.text) \(equal.errors)")
        version.withLock { $0 = 2 }
        let changed = try await Tool.run(["diff", url, "@a.har"], directory: directory.url)
        #expect(changed.status == 1)
        #expect(changed.text.contains("+++ @a.har\n") && changed.text.contains("\n-version 2\n"))
        #expect(changed.text.contains("\n+version 1\n"))
    }

    @Test func bothRequestsHaveTheSameOptions() async throws {
        let server = try await server()
        server.route("/echo/{n}") { .text("\($0.method) \($0.headers["X-A"] ?? "") \($0.text ?? "")") }
        let arguments = [
            "diff", server.url("/echo/1").absoluteString, server.url("/echo/2").absoluteString, "-H", "X-A: 5",
            "--raw",
            "-", "--query", "q=1",
        ]
        let outcome = try await Tool.run(arguments, input: Data("hello".utf8))
        #expect(outcome.status == 0, "\(outcome.text)")
        for number in 1...2 {
            let request = try #require(server.lastRequest(path: "/echo/\(number)"))
            #expect(request.method == "POST" && request.headers["X-A"] == "5" && request.text == "hello")
        }
    }

    @Test func itemsAreAddedToBothRequests() async throws {
        let server = try await server()
        server.route("/items/{n}") { .text("\($0.method) \($0.headers["X-A"] ?? "") \($0.text ?? "")") }
        let (first, second) = (server.url("/items/1").absoluteString, server.url("/items/2").absoluteString)
        let outcome = try await Tool.run("diff", first, second, "name=Ada", "n:=1", "q==x y", "X-A:5")
        #expect(outcome.status == 0, "\(outcome.text) \(outcome.errors)")
        for number in 1...2 {
            let request = try #require(server.lastRequest(path: "/items/\(number)"))
            #expect(request.method == "POST" && request.text == #"{"name":"Ada","n":1}"#)
            #expect(request.headers["X-A"] == "5" && request.target.hasSuffix("?q=x%20y"))
        }
        let invalid = try await Tool.run("diff", first, second, "nonsense")
        #expect(invalid.status == 2 && invalid.errors.contains("\"nonsense\" isn't a request item"))
    }

    @Test func manyDifferencesAreCounted() async throws {
        let server = try await server()
        for (path, value) in [("/ones", "1"), ("/twos", "2")] {
            server.route(path) { _ in
                .content(
                    "application/json", Data("[\(Array(repeating: value, count: 1500).joined(separator: ","))]".utf8))
            }
        }
        let urls = [server.url("/ones").absoluteString, server.url("/twos").absoluteString]
        let outcome = try await Tool.run(["diff"] + urls)
        #expect(outcome.text.hasSuffix("-[999]: 1\n+[999]: 2\n\\ 500 more values differ.\n"))
        let report = try await Tool.run(["diff", "--report", "-"] + urls)
        let body = try #require(report.json()["body"] as? [String: Any])
        #expect(body["count"] as? Int == 1500 && (body["paths"] as? [String])?.count == 1000)
    }

    @Test func failedRequestsHaveTheirExitCodes() async throws {
        let server = try await server()
        let port = try ClosedPort()
        let outcome = try await Tool.run("diff", server.url("/a.txt").absoluteString, port.url.absoluteString)
        #expect(outcome.status == 3)
        #expect(outcome.text == "")
        let missing = try await Tool.run("diff", server.url("/a.txt").absoluteString, "@/nowhere.har")
        #expect(missing.status == 2)
    }
}

import AfarTestServer
import Foundation
import Testing

/// The additional output of `--verbose`.
struct VerboseTests {
    private func lines(_ outcome: Tool.Outcome, _ mark: Character) -> [String] {
        outcome.errors.split(separator: "\n").filter { $0.first == mark }.map(String.init)
    }

    @Test(arguments: ["afar", "urlsession"])
    func requestAndResponseAreShownSeparatelyFromTheBody(transport: String) async throws {
        let server = try await TestServer.start()
        let url = server.url("/post?a=1").absoluteString
        let outcome = try await Tool.run(
            "post", url, "-v", "--raw", "hello", "-H", "X-One: 1", "--transport", transport)
        #expect(try outcome.json()["data"] as? String == "hello")
        let sent = lines(outcome, ">")
        #expect(sent.first == "> POST /post?a=1")
        for line in ["> Host: 127.0.0.1:\(server.url.port ?? 0)", "> X-One: 1", "> Content-Length: 5"] {
            #expect(sent.contains(line))
        }
        #expect(sent.contains { $0.hasPrefix("> User-Agent: afar/") })
        #expect(sent.last == ">")
        let received = lines(outcome, "<")
        #expect(received.first == "< HTTP/1.1 200 OK")
        #expect(received.contains("< Content-Type: application/json"))
        #expect(received.last == "<")
    }

    @Test func theConnectionIsDescribed() async throws {
        let server = try await TestServer.start()
        let port = server.url.port ?? 0
        let outcome = try await Tool.run("get", server.url("/bytes/9").absoluteString, "-v")
        let facts = lines(outcome, "*")
        try #require(facts.count == 4)
        #expect(facts[0] == "* http://127.0.0.1:\(port)/bytes/9")
        #expect(facts[1].hasPrefix("* Connection: 127.0.0.1:\(port), from 127.0.0.1:"))
        #expect(facts[1].hasSuffix(", new, http/1.1, no TLS"))
        #expect(facts[2].contains(" sent, ") && facts[2].hasSuffix(" received"))
        #expect(facts[3].hasPrefix("* GET http://127.0.0.1:\(port)/bytes/9 -> 200, 9 bytes in "))
    }

    @Test func secretsAreHiddenByDefault() async throws {
        let server = try await TestServer.start()
        let url = server.url("/cookies/set?a=hush1").absoluteString.replacing("://", with: "://ada:hush2@")
        let arguments = ["get", url, "-v", "-H", "Cookie: b=hush3", "-H", "X-Api-Key: hush4"]
        let hidden = try await Tool.run(arguments)
        // The test server sets a cookie for each query parameter.
        #expect(!hidden.errors.replacing("?a=hush1", with: "").contains("hush"))
        #expect(hidden.errors.contains("> Authorization: Basic ***\n"))
        #expect(hidden.errors.contains("< Set-Cookie: ***\n"))
        let shown = try await Tool.run(arguments + ["--show-secrets"])
        #expect(shown.errors.contains("> Authorization: Basic \(Data("ada:hush2".utf8).base64EncodedString())\n"))
        #expect(shown.errors.contains("> Cookie: b=hush3\n"))
        #expect(shown.errors.contains("< Set-Cookie: a=hush1"))
    }

    @Test(arguments: ["afar", "urlsession"])
    func secretParametersAreHiddenByDefault(transport: String) async throws {
        let server = try await TestServer.start()
        let url = server.url("/get?a=1&token=hush1&password=it'shush2").absoluteString
        let arguments = ["get", url, "-v", "--transport", transport]
        let hidden = try await Tool.run(arguments)
        #expect(lines(hidden, "*").first == "* \(server.url("/get").absoluteString)?a=1&token=***&password=***")
        #expect(lines(hidden, ">").first == "> GET /get?a=1&token=***&password=***")
        #expect(!hidden.errors.contains("hush"))
        let shown = try await Tool.run(arguments + ["--show-secrets"])
        #expect(lines(shown, ">").first == "> GET /get?a=1&token=hush1&password=it'shush2")
        #expect(lines(shown, "*").last?.contains("token=hush1") == true)
        await server.stop()
    }

    @Test func informationalResponsesAndHostileHeadsAreShownSafely() async throws {
        let server = try await RawServer.start([
            .respond(
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                    + "HTTP/1.1 200 OK\r\nX-Evil: \u{1B}[2J\u{9B}1m\r\nContent-Length: 2\r\n\r\nok"), .close,
        ])
        let outcome = try await Tool.runWithErrorsOnTerminal(
            "get", server.url.absoluteString, "-v", environment: ["NO_COLOR": "1"])
        #expect(outcome.text == "ok")
        #expect(lines(outcome, "<").contains("< HTTP/1.1 103 Early Hints"))
        #expect(lines(outcome, "<").contains("< Link: </a>"))
        #expect(lines(outcome, "<").contains { $0.hasPrefix("< X-Evil: ") && $0.hasSuffix("\\u009B1m") })
        #expect(!outcome.errors.contains("\u{1B}"))
    }

    @Test func aFailureIsExplained() async throws {
        let port = try ClosedPort()
        let outcome = try await Tool.run("get", port.url.absoluteString, "-v")
        #expect(outcome.status == 3)
        #expect(lines(outcome, "*").contains { $0.hasPrefix("* cannotConnect while connecting") })
        #expect(outcome.errors.split(separator: "\n").last?.hasPrefix("afar: ") == true)
    }

    @Test func aTerminalReceivesColors() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.runWithErrorsOnTerminal("get", server.url("/json").absoluteString, "-v")
        #expect(outcome.errors.contains("\u{1B}[36mHost\u{1B}[0m: "))
        #expect(outcome.errors.contains("\u{1B}[32m200 OK\u{1B}[0m"))
    }
}

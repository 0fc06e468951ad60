import AfarTestServer
import Foundation
import TestServers
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
        #expect(sent.first == "> POST /post?a=1 HTTP/1.1")
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
        #expect(lines(hidden, ">").first == "> GET /get?a=1&token=***&password=*** HTTP/1.1")
        #expect(!hidden.errors.contains("hush"))
        let shown = try await Tool.run(arguments + ["--show-secrets"])
        #expect(lines(shown, ">").first == "> GET /get?a=1&token=hush1&password=it'shush2 HTTP/1.1")
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

    @Test(.timeLimit(.minutes(10)), arguments: ["afar", "curl"])
    func allFieldsThatWereSentAreShown(transport: String) async throws {
        let server = try await RawServer.start([.respond("HTTP/1.1 204 No Content\r\n\r\n"), .close])
        let outcome = try await Tool.run(
            "post", server.url.absoluteString, "-v", "--json", "name=Ada", "--transport", transport)
        let received = try #require(server.requests.first).split(separator: "\r\n").map { "> \($0)" }
        #expect(lines(outcome, ">") == received + [">"])
        #expect(received.contains("> Accept: */*"))
        #expect(outcome.errors.contains("\n>\n{\"name\":\"Ada\"}\n\n< HTTP/1.1 204 No Content\n"))
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["afar", "curl"])
    func theVersionIsTheOneThatWasUsed(transport: String) async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(certificates, ["site": .init("good", speaksHTTP2: true)])
        let outcome = try await Tool.run(
            "get", server.url("site").absoluteString, "-v", "--http", "2", "--cacert", certificates.authority.path,
            "--transport",
            transport)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(lines(outcome, ">").first == "> GET / HTTP/2")
        #expect(lines(outcome, ">").contains { $0.lowercased().hasPrefix("> host: localhost:") })
        #expect(lines(outcome, ">").contains { $0.lowercased().hasPrefix("> user-agent: afar/") })
    }

    /// Only the transport can report the form of a request for a proxy.
    @Test(.timeLimit(.minutes(10)), arguments: ["afar", "curl"])
    func theRequestToAProxyIsShown(transport: String) async throws {
        let proxy = try await RawServer.start([.respond("HTTP/1.1 204 No Content\r\n\r\n"), .close])
        let place = "http://ann:hush@127.0.0.1:\(proxy.port)"
        let outcome = try await Tool.run(
            "get", "http://nowhere.test/x?token=hush", "-v", "--proxy", place, "--transport", transport)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(lines(outcome, ">").first == "> GET http://nowhere.test/x?token=*** HTTP/1.1")
        #expect(lines(outcome, ">").contains("> Proxy-Authorization: Basic ***"))
        #expect(!outcome.errors.contains("hush"))
    }

    @Test(.timeLimit(.minutes(10))) func nothingIsShownAsSentBeforeTheConnection() async throws {
        let outcome = try await Tool.run("post", try ClosedPort().url.absoluteString, "-v", "--raw", "hello")
        #expect(lines(outcome, ">").isEmpty)
        #expect(!outcome.errors.contains("hello"))
    }

    @Test(.timeLimit(.minutes(10))) func everyRequestOfARedirectIsShown() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(
            "post", server.url("/redirect-to?url=/get&status_code=303").absoluteString, "-v", "--raw", "hello")
        let starts = outcome.errors.split(separator: "\n").filter { $0.contains(/^[<>] .*HTTP\/1\.1/) }
        #expect(
            starts == [
                "> POST /redirect-to?url=/get&status_code=303 HTTP/1.1", "< HTTP/1.1 303 See Other",
                "> GET /get HTTP/1.1",
                "< HTTP/1.1 200 OK",
            ])
        #expect(outcome.errors.matches(of: /\nhello\n/).count == 1)
    }

    @Test(.timeLimit(.minutes(10))) func secretsInBodiesAreHiddenByDefault() async throws {
        let server = try await TestServer.start()
        let url = server.url("/post").absoluteString
        for body in [
            ["--form", "user=ada", "--form", "password=hush"], ["--json", "user=ada", "--json", "password=hush"],
            ["--json", "user=ada", "--json", #"a:={"apiKey":["hush",{"b":"hush"}],"n":1}"#],
        ] {
            let hidden = try await Tool.run(["post", url, "-v"] + body)
            #expect(!hidden.errors.contains("hush") && hidden.errors.contains("***") && hidden.errors.contains("ada"))
            #expect(hidden.text.contains("hush"))
            let shown = try await Tool.run(["post", url, "-v", "--show-secrets"] + body)
            #expect(shown.errors.contains("hush"))
        }
    }

    private static let bodies: [(type: String, body: String, shown: String)] = [
        (
            "text/xml", "<a> <password b='hush'>hush</password><c/></a>",
            "<a> <password b='***'>***</password><c/></a>\n"
        ),
        (
            "multipart/form-data; boundary=B",
            "--B\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhush\r\n--B--\r\n",
            "--B\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n***\r\n--B--\r\n"
        ),
        ("application/x-ndjson", "{\"token\":\"hush\"}\n{\"n\": 1.0}\n", "{\"token\":\"***\"}\n{\"n\": 1.0}\n"),
        ("application/json", "{ \"pass\\u0077ord\" : \"hush\" ", "{ \"pass\\u0077ord\" : \"***\" \n"),
        ("text/plain", "see https://ada:hush@example.com", "see https://***@example.com\n"),
    ]

    @Test(.timeLimit(.minutes(10)), arguments: bodies)
    func secretsInOtherBodiesAreHidden(type: String, body: String, shown: String) async throws {
        let server = try await TestServer.start()
        let arguments = [
            "post", server.url("/status/200").absoluteString, "-H", "Content-Type: \(type)", "--raw", body,
        ]
        let piped = try await Tool.run(arguments + ["-v"])
        // The body is on lines of its own, and otherwise unchanged.
        #expect(piped.errors.contains("\n>\n\(shown)\n< HTTP/1.1 "), "\(piped.errors)")
        let terminal = try await Tool.runOnTerminal(arguments + ["--print", "HB", "--color", "never"])
        #expect(!terminal.text.contains("hush") && terminal.text.contains("***"), "\(terminal.text)")
        #expect(terminal.errors.contains("use --show-secrets"))
        let offline = try await Tool.runOnTerminal(arguments + ["--print", "B", "--offline", "--color", "never"])
        #expect(!offline.text.contains("hush") && offline.errors.contains("use --show-secrets"))
        for option in ["--print=B", "--offline"] {
            let shown = try await Tool.runOnTerminal(arguments + [option, "--show-secrets", "--color", "never"])
            #expect(shown.text.contains("hush") && shown.errors == "", "\(shown.errors)")
            // A pipe receives exactly the bytes that are sent.
            #expect(try await Tool.run(arguments + [option]).text.hasSuffix(body))
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [["-o", "out"], ["--stream"], ["-o", "/dev/null", "--print", "m"]])
    func theConnectionIsDescribedAfterABodyThatIsNotKept(options: [String]) async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        let url = server.url("/redirect-to?url=/bytes/900000").absoluteString
        let outcome = try await Tool.run(["get", url, "-v"] + options, directory: directory.url)
        let facts = lines(outcome, "*")
        #expect(facts.filter { $0.hasPrefix("* Connection: 127.0.0.1:") }.count == 2, "\(outcome.errors)")
        #expect(facts.filter { $0.hasSuffix(" received") }.count == 2)
        #expect(facts.last?.contains(" -> 200, ") == true)
        await server.stop()
    }

    @Test(.timeLimit(.minutes(10))) func bodiesAreShownSafely() async throws {
        let server = try await TestServer.start()
        let url = server.url("/status/200").absoluteString
        let text = try await Tool.runWithErrorsOnTerminal(
            "post", url, "-v", "--raw", "a\u{1B}]0;x\u{9B}", environment: ["NO_COLOR": "1"])
        #expect(text.errors.contains("\na\\u001B]0;x\\u009B\n"))
        #expect(!text.errors.contains("\u{1B}]0") && !text.errors.contains("\u{9B}"))
        let binary = try await Tool.run("post", url, "-v", "--raw", "-", input: Data([0xFF, 1, 2]))
        #expect(binary.errors.contains("\n(3 bytes of application/octet-stream)\n"))
    }

    @Test(.timeLimit(.minutes(10))) func aTerminalThatShowsTheLogDoesNotShowTheHeadTwice() async throws {
        let server = try await TestServer.start()
        let url = server.url("/status/200").absoluteString
        let same = try await Tool.runOnTerminal("get", url, "-v", "--color", "never", showsErrors: true)
        #expect(same.text.matches(of: /HTTP\/1\.1 200 OK/).count == 1)
        let other = try await Tool.runOnTerminal("get", url, "-v", "--color", "never")
        #expect(other.text.hasPrefix("HTTP/1.1 200 OK\n"))
    }
}

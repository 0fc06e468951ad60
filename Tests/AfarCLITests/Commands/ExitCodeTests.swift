import AfarTestServer
import Foundation
import Testing

/// Tests for all exit codes and their one-line messages.
struct ExitCodeTests {
    private func expect(
        _ outcome: Tool.Outcome, _ status: Int32, _ words: String..., location: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.status == status, "\(outcome.errors)", sourceLocation: location)
        let lines = outcome.errors.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 2 && lines.last == "" && lines[0].hasPrefix("afar: "), sourceLocation: location)
        for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)", sourceLocation: location) }
    }

    @Test(arguments: [
        (["get"], "<url>"), (["gett", "x"], "Did you mean \"afar get\"?"),
        (["downlaod"], "Did you mean \"afar download\"?"),
        (["get", "x", "--frob"], "--frob"), (["get", "x", "--timeout", "169h"], "--timeout"),
        (["get", "x", "--timeout", "nan"], "--timeout"), (["get", "x", "-H", "nocolon"], "'Name: value'"),
        (["get", "http://x", "-H", "a b: c"], "starts with \"a\""), (["get", "x", "--query", "novalue"], "--query"),
        (["get", ""], "empty"), (["get", "http://a b/"], "http://a b/"), (["get", "ftp://x/"], "ftp"),
        (["get", "http://127.1/"], "ambiguous"), (["get", "http://x:0/"], "port"),
        (["get", "x", "--raw", "y"], "--query"),
        (["head", "x", "--json", "a=b"], "HEAD"),
        (["post", "x", "--json", "a=b", "--form", "a=b"], "--json and --form"),
        (["post", "x", "--json", "a:=b"], "write a="), (["post", "x", "--json", "a=1", "--json", "a=2"], "twice"),
        (["post", "x", "--raw", "@/no/such/file"], "/no/such/file"),
        (["get", "x", "--transport", "pigeon"], "pigeon"),
        (["get", "x", "--color", "blue"], "blue"),
    ])
    func badUsageIs2(arguments: [String], word: String) async throws {
        let quoted = arguments.map { "'\($0.replacing("'", with: "'\\''"))'" }.joined(separator: " ")
        expect(try await Tool.bash("\"$afar\" \(quoted)"), 2, word)
    }

    @Test(arguments: ["afar", "urlsession"])
    func refusedConnectionIs3(transport: String) async throws {
        let port = try ClosedPort()
        let outcome = try await Tool.run("get", port.url.absoluteString, "--transport", transport)
        expect(outcome, 3, "127.0.0.1:\(port.number)", "server running")
    }

    @Test(arguments: ["afar", "urlsession"])
    func unknownHostIs3(transport: String) async throws {
        expect(try await Tool.run("get", "nohost.invalid", "--transport", transport), 3, "nohost.invalid")
    }

    @Test func noTLSIs3() async throws {
        let server = try await RawServer.start([.receive(1), .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close])
        let url = "https://127.0.0.1:\(server.port)/"
        expect(try await Tool.run("get", url), 3, "begin the URL with http://")
    }

    @Test func refusedStatusIs4AndTheBodyIsPrinted() async throws {
        let server = try await TestServer.start()
        let url = server.url("/status/404").absoluteString
        let outcome = try await Tool.run("get", url, "--check-status")
        expect(outcome, 4, url, "404 Not Found")
        #expect(outcome.text == "404 Not Found\n")
        #expect(try await Tool.run("get", url).status == 0)
        #expect(try await Tool.run("get", server.url("/json").absoluteString, "--check-status").status == 0)
    }

    @Test(arguments: ["afar", "urlsession"])
    func aTimeoutIs5(transport: String) async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let url = server.url.absoluteString
        expect(try await Tool.run("get", url, "--timeout", "0.3", "--transport", transport), 5, url, "--timeout")
        try await server.peerClosed(0)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "was cut off"),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", "valid HTTP"),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nhalf", "decoded"),
        ("", "127.0.0.1"),
    ])
    func brokenResponseIs6(answer: String, word: String) async throws {
        let server = try await RawServer.start([.respond(answer), .close])
        expect(try await Tool.run("get", server.url.absoluteString), 6, word)
    }

    @Test func anOversizedHeadIs6() async throws {
        let head = "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 400_000))\r\n\r\n"
        let server = try await RawServer.start([.respond(head), .close])
        expect(try await Tool.run("get", server.url.absoluteString), 6, "headers of the response")
    }

    @Test func passwordsAreNotShown() async throws {
        let port = try ClosedPort()
        let outcome = try await Tool.run("get", "http://ada:secret@127.0.0.1:\(port.number)/")
        expect(outcome, 3, "127.0.0.1")
        #expect(!outcome.errors.contains("secret"))
    }
}

import AfarTestServer
import Foundation
import Testing

/// Tests for `--print` and `--offline`.
struct PrintTests {
    private static let response =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-One: 1\r\nContent-Length: 3\r\n\r\nok\n"
    private static let head = "HTTP/1.1 200 OK\nContent-Type: text/plain\nX-One: 1\nContent-Length: 3\n\n"

    private func server(_ response: String = response) async throws -> RawServer {
        try await RawServer.start([.respond(response), .close])
    }

    /// Runs the tool with the URL of a new server.
    private func run(
        _ command: String, _ options: [String], onTerminal: Bool = false
    ) async throws -> Tool.Outcome {
        let server = try await server()
        let url = server.url.absoluteString
        defer { withExtendedLifetime(server) {} }
        guard !onTerminal else {
            return try await Tool.runOnTerminal([command, url, "--color", "never"] + options)
        }
        return try await Tool.run([command, url] + options)
    }

    /// The head that the server received, in the form that the tool prints.
    private func received(by server: RawServer) throws -> String {
        let head = try #require(server.requests.first)
        return head.replacing("\r\n", with: "\n").trimmingCharacters(in: .newlines) + "\n\n"
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["afar", "curl"])
    func theRequestIsPrintedAsItWasSent(transport: String) async throws {
        let server = try await server()
        let outcome = try await Tool.run(
            "post", server.url.absoluteString, "--print", "HBhb", "--raw", "hello", "-H", "X-Two: 2", "--transport",
            transport)
        #expect(outcome.text == (try received(by: server)) + "hello\n\n" + Self.head + "ok\n")
        for name in [
            "Accept: */*", "Accept-Encoding: ", "User-Agent: afar/", "Host: 127.0.0.1:", "Content-Length: 5",
            "X-Two: 2",
        ] {
            #expect(outcome.text.contains("\n\(name)"), "\(name)")
        }
        #expect(outcome.errors == "")
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            (["--print", "b"], "ok\n"), (["--body"], "ok\n"), (["-p", "h"], head), (["--headers"], head),
            (["--print", "hb"], head + "ok\n"), (["-i", "--body"], head + "ok\n"), (["--print=B"], ""),
            (["-pBb"], "ok\n"),
        ])
    func theLettersSelectParts(options: [String], text: String) async throws {
        let outcome = try await run("get", options)
        #expect(outcome.text == text)
        #expect(outcome.status == 0)
    }

    @Test(.timeLimit(.minutes(10))) func metadataComesLast() async throws {
        let outcome = try await run("get", ["--print", "bm"])
        #expect(
            outcome.text.wholeMatch(of: /ok\n\nElapsed time: [0-9.]+ ms\nSize: 3 bytes\n/) != nil, "\(outcome.text)")
        let streamed = try await run("get", ["--print", "Hhbm", "--stream"])
        #expect(streamed.text.hasPrefix("GET / HTTP/1.1\nHost: "))
        #expect(streamed.text.contains("\n\n\(Self.head)ok\n\nElapsed time: "), "\(streamed.text)")
    }

    @Test(.timeLimit(.minutes(10))) func secretsInHeadsAreHidden() async throws {
        let arguments = [
            "--print", "H", "-H", "Authorization: Bearer hush", "--query", "token=hush", "-H", "Cookie: a=hush",
        ]
        let hidden = try await run("get", arguments)
        #expect(!hidden.text.contains("hush"))
        #expect(hidden.text.hasPrefix("GET /?token=*** HTTP/1.1\n"))
        #expect(hidden.errors == "afar: Secrets are hidden as ***. To print them, use --show-secrets.\n")
        let shown = try await run("get", arguments + ["--show-secrets"])
        #expect(shown.text.contains("\nAuthorization: Bearer hush\n") && shown.text.contains("?token=hush "))
        #expect(shown.errors == "")
    }

    @Test(.timeLimit(.minutes(10))) func aTerminalShowsTheHeadFirst() async throws {
        #expect(try await run("get", [], onTerminal: true).text == Self.head + "ok\n")
        #expect(try await run("get", ["-p", "b"], onTerminal: true).text == "ok\n")
        #expect(try await run("get", ["--stream"], onTerminal: true).text == Self.head + "ok\n")
    }

    @Test(.timeLimit(.minutes(10))) func unknownLettersAndCombinationsAreRefused() async throws {
        for options in [
            ["--print", "x"], ["--print", ""], ["--print", "b", "--body"], ["--headers", "--body"],
            ["--print", "h", "--stream"],
            ["--offline", "--timing"], ["--offline", "--curl"], ["--offline", "--har", "x"],
            ["--offline", "--cache", "x"],
        ] {
            let outcome = try await Tool.run(["get", ":1"] + options)
            #expect(outcome.status == 2, "\(options)")
            #expect(outcome.text == "" && outcome.errors.contains("--"), "\(options)")
        }
    }

    // MARK: --offline

    @Test(.timeLimit(.minutes(10))) func offlinePrintsWhatWouldBeSent() async throws {
        for arguments in [
            ["get"], ["get", "--query", "q=a b", "-H", "Accept: text/x"], ["post", "--json", "name=Ädä"],
            ["post", "--form", "a=1 2"], ["put", "--raw", "text", "-H", "User-Agent: me", "-H", "Host: other.test"],
            ["delete"], ["post"], ["head"],
        ] {
            let server = try await RawServer.start([.respond("HTTP/1.1 204 No Content\r\n\r\n"), .close])
            let arguments = [arguments[0], server.url.absoluteString] + arguments.dropFirst()
            let offline = try await Tool.run(arguments + ["--offline"])
            #expect(offline.status == 0 && offline.errors == "", "\(offline.errors)")
            #expect(server.connectionCount == 0)
            let sent = try await Tool.run(arguments + ["--print", "HB"])
            #expect(offline.text == sent.text, "\(arguments)")
            #expect(offline.text.hasPrefix(try received(by: server)), "\(arguments)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func offlinePrintsFormsAndFiles() async throws {
        let directory = try ScratchDirectory()
        try directory.write("a file", to: "note.txt")
        let form = try await Tool.run(
            ["upload", "http://nowhere.invalid/form", "--offline", "--part", "name=Ada", "--part", "file=@note.txt"],
            directory: directory.url)
        #expect(form.status == 0 && form.errors == "", "\(form.errors)")
        #expect(
            form.text.hasPrefix(
                "POST /form HTTP/1.1\nHost: nowhere.invalid\nContent-Type: multipart/form-data; boundary="))
        #expect(
            form.text.contains("\r\n\r\nAda\r\n--") && form.text.contains("filename=\"note.txt\"")
                && form.text.contains("a file"))
        let file = try await Tool.run(
            ["upload", ":1", "--offline", "--file", "note.txt", "--print", "B"], directory: directory.url)
        #expect(file.text == "a file")
        let input = try await Tool.run("upload", ":1", "--offline", "--file", "-", input: Data("from a pipe".utf8))
        #expect(input.text.hasSuffix("\n\nfrom a pipe"), "\(input.text)")
    }

    @Test(.timeLimit(.minutes(10))) func offlineIsReadableAndSafeOnATerminal() async throws {
        let outcome = try await Tool.runOnTerminal(
            "post", ":1", "--offline", "--raw", "{\"a\":\"\u{9B}2J\u{1B}\"}", "-H", "X-A: \u{9B}2J",
            environment: ["NO_COLOR": "1"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text.contains("X-A: \\u009B2J\n"))
        #expect(!outcome.text.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{9B}" })
        let colored = try await Tool.runOnTerminal("post", ":1", "--offline", "--json", "a=é")
        #expect(colored.text.hasPrefix("\u{1B}[1mPOST /\u{1B}[0m HTTP/1.1\n\u{1B}[36mHost\u{1B}[0m: localhost:1\n"))
        #expect(colored.text.hasSuffix("{\n  \u{1B}[34m\"a\"\u{1B}[0m: \u{1B}[32m\"é\"\u{1B}[0m\n}\n"))
    }

    @Test(.timeLimit(.minutes(10))) func offlineAppliesToStreams() async throws {
        for option in ["--sse", "--stream"] {
            let outcome = try await Tool.run("get", ":1", "--offline", option)
            #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
            #expect(outcome.text.hasPrefix("GET / HTTP/1.1\nHost: localhost:1\n"))
            #expect(outcome.text.contains("\nAccept: text/event-stream\n") == (option == "--sse"))
        }
    }

    @Test(.timeLimit(.minutes(10))) func offlineHidesSecretsAndReportsErrors() async throws {
        let outcome = try await Tool.run("get", "example.com", "--offline", "--bearer", "hush")
        #expect(outcome.status == 0)
        #expect(outcome.text.contains("\nAuthorization: Bearer ***\n"))
        #expect(outcome.errors == "afar: Secrets are hidden as ***. To print them, use --show-secrets.\n")
        let invalid = try await Tool.run("get", "http://[", "--offline")
        #expect(invalid.status == 2 && invalid.text == "")
        #expect(try await Tool.bash("\"$afar\" get :1 --offline > /dev/full").status == 70)
    }
}

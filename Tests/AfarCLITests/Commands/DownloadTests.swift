import AfarTestServer
import Foundation
import Testing

/// The files and messages of `afar download`.
struct DownloadTests {
    private let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private func download(_ arguments: String...) async throws -> Tool.Outcome {
        try await Tool.run(["download"] + arguments, directory: directory.url)
    }

    @Test(arguments: ["afar", "urlsession"])
    func theFileIsNamedAfterTheURL(transport: String) async throws {
        let server = try await TestServer.start()
        let outcome = try await download(server.url("/large/3000000").absoluteString, "--transport", transport)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text == "3000000\n")
        #expect(outcome.errors == "")
        try #expect(directory.names == ["3000000"])
        #expect(try directory.contents(of: "3000000") == PatternBytes.bytes(3_000_000))
    }

    @Test func theServerCanNameTheFileButNotItsDirectory() async throws {
        let server = try await TestServer.start()
        server.route("/x") { _ in
            .text("evil").adding("Content-Disposition", "attachment; filename=\"../../.bashrc\"")
        }
        let outcome = try await download(server.url("/x").absoluteString)
        #expect(outcome.text == "bashrc\n")
        try #expect(directory.names == ["bashrc"])
    }

    @Test func outputNamesAFileOrADirectory() async throws {
        let server = try await TestServer.start()
        let url = server.url("/large/10").absoluteString
        #expect(try await download(url, "-o", "named").text == "named\n")
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "sub"), withIntermediateDirectories: false)
        #expect(try await download(url, "-o", "sub").text == "sub/10\n")
        #expect(try await download(url, "--output", "sub/other").text == "sub/other\n")
        let whole = directory.url.appending(path: "whole").path
        #expect(try await download(url, "-o", whole).text == whole + "\n")
        try #expect(directory.names == ["named", "sub", "whole"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.url.path + "/sub").sorted() == [
                "10", "other",
            ])
    }

    @Test func anExistingFileIsKeptUnlessForced() async throws {
        let server = try await TestServer.start()
        let url = server.url("/large/10").absoluteString
        try directory.write("precious", to: "10")
        let named = try await download(url, "-o", "10")
        #expect(named.status == 2 && named.errors.contains("--force"))
        #expect(server.requestCount == 0)
        let derived = try await download(url)
        #expect(derived.status == 2 && derived.errors.contains("10 already exists"))
        #expect(try directory.contents(of: "10") == Data("precious".utf8))
        try #expect(directory.names == ["10"])
        let forced = try await download(url, "--force")
        #expect(forced.text == "10\n")
        #expect(try directory.contents(of: "10") == PatternBytes.bytes(10))
    }

    @Test func anExistingFileIsDetectedBeforeTheBodyIsRead() async throws {
        try directory.write("precious", to: "x")
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nstart"), .waitForever,
        ])
        let outcome = try await download(server.url.absoluteString + "/x")
        #expect(outcome.status == 2, "\(outcome.errors)")
        try #expect(directory.names == ["x"])
    }

    @Test(arguments: [["-o", "no/such/x"], ["-o", "no/"], ["-o", "-"], ["-o", ""], ["-o", "/dev/null", "--force"]])
    func anInvalidDestinationIsAUsageError(arguments: [String]) async throws {
        let outcome = try await Tool.run(["download", ":1"] + arguments, directory: directory.url)
        #expect(outcome.status == 2, "\(outcome.errors)")
        #expect(outcome.errors.hasPrefix("afar: "))
    }

    @Test func anUnacceptableStatusSavesNothing() async throws {
        let server = try await TestServer.start()
        let outcome = try await download(server.url("/status/404").absoluteString)
        #expect(outcome.status == 4)
        #expect(outcome.errors.contains("404 Not Found"))
        #expect(outcome.text == "")
        try #expect(directory.names == [])
    }

    @Test(arguments: ["afar", "urlsession"])
    func aBrokenResponseLeavesNothing(transport: String) async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nhalf"), .close,
        ])
        let outcome = try await download(server.url.absoluteString + "/x", "--transport", transport)
        #expect(outcome.status == 6, "\(outcome.errors)")
        try #expect(directory.names == [])
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func anInterruptionLeavesNothingAndSetsTheExitStatus(signal: Int32) async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nhalf"), .waitForever,
        ])
        let directory = directory
        let outcome = try await Tool.run(
            ["download", server.url.absoluteString + "/x"], directory: directory.url
        ) { process in
            try await server.head()
            #expect(try directory.names.count == 1)
            kill(process, signal)
        }
        #expect(outcome.status == -signal)
        #expect(outcome.text == "")
        try #expect(directory.names == [])
    }

    @Test func anEmptyFileIsAFile() async throws {
        let server = try await TestServer.start()
        #expect(try await download(server.url("/empty").absoluteString).text == "empty\n")
        #expect(try directory.contents(of: "empty").isEmpty)
    }

    @Test func filesAreRequestedWithoutContentCoding() async throws {
        let server = try await TestServer.start()
        _ = try await download(server.url("/headers").absoluteString, "-H", "X-One: 1", "--query", "a=b")
        let request = try #require(server.lastRequest(path: "/headers"))
        #expect(request.headers["Accept-Encoding"] == "identity")
        #expect(request.headers["X-One"] == "1")
        #expect(request.query == "a=b")
    }

    /// Starts a server that sends the second half of a 2,000-byte file when the gate opens.
    private func server(untilShown gate: RawServer.Gate) async throws -> RawServer {
        let half = String(repeating: "x", count: 1000)
        return try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + half), .hold(gate), .send(half),
        ])
    }

    @Test func progressIsShownOnlyOnTerminals() async throws {
        let gate = RawServer.Gate()
        let server = try await server(untilShown: gate)
        let url = server.url.absoluteString + "file"
        let shown = try await Tool.runWithErrorsOnTerminal(
            "download", url, "--color", "never", columns: 70, environment: ["LC_ALL": "C.UTF-8"],
            directory: directory.url
        ) { output in
            if output.split(separator: "\r").count > 2 { gate.open() }
        }
        #expect(shown.text == "file\n")
        let lines = shown.errors.split(separator: "\r")
        #expect(lines.count > 2)
        #expect(lines.contains { $0.contains(" 50%   1.0 kB") }, "\(lines)")
        #expect(lines.allSatisfy { $0.drop { $0 == "\n" }.count <= 70 })
        let last = try #require(lines.last)
        #expect(last.contains("100%   2.0 kB") && last.hasSuffix("\n"))

        let silent = try await Tool.runWithErrorsOnTerminal(
            "download", url, "--no-progress", "--force", directory: directory.url)
        #expect(silent.errors == "")
        let forced = try await download(url, "--progress", "--force")
        #expect(forced.errors.contains("100%"))
    }

    @Test func progressDoesNotOverwriteOtherLines() async throws {
        let gate = RawServer.Gate()
        let server = try await server(untilShown: gate)
        let outcome = try await Tool.runWithErrorsOnTerminal(
            "download", server.url.absoluteString + "file", "-v", "--timing", "--color", "never",
            directory: directory.url
        ) { output in
            if output.contains("50%") { gate.open() }
        }
        let screen = Screen.text(outcome.errors).split(separator: "\n")
        #expect(screen.contains { $0.hasPrefix("* Connection: ") })
        #expect(screen.contains { $0.contains("100%") })
        #expect(screen.contains { $0.hasPrefix("  Body") })
    }

    @Test func aFailureClearsTheProgressLine() async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nhalf"), .hold(gate), .close,
        ])
        let outcome = try await Tool.runWithErrorsOnTerminal(
            "download", server.url.absoluteString + "/x", "--color", "never", directory: directory.url
        ) { output in
            if output.contains("4 bytes") { gate.open() }
        }
        #expect(outcome.status == 6)
        #expect(Screen.text(outcome.errors).split(separator: "\n").count == 1)
        #expect(Screen.text(outcome.errors).hasPrefix("afar: "))
    }

    @Test func curlDownloadsTheSame() async throws {
        let server = try await TestServer.start()
        let printed = try await download(server.url("/large/1000").absoluteString, "-o", "it's", "--curl")
        try #expect(directory.names == [])
        let outcome = try await Tool.sh("cd '\(directory.url.path)' && \(printed.text)")
        #expect(outcome.status == 0)
        #expect(try directory.contents(of: "it's") == PatternBytes.bytes(1000))
        let named = try await download(server.url("/large/1000").absoluteString, "--curl")
        _ = try await Tool.sh("cd '\(directory.url.path)' && \(named.text)")
        try #expect(directory.names == ["1000", "it's"])
    }
}

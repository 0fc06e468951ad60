import AfarTestServer
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

struct PagerTests {
    private let screen = OutputFacts(isTerminal: true, environment: [:], columns: 10, rows: 3)

    @Test func outputThatFitsIsNotPaged() {
        #expect(!Pager.isLong(Data("a\nb\nc".utf8), for: screen))
        #expect(Pager.isLong(Data("a\nb\nc\n".utf8), for: screen))
        #expect(!Pager.isLong(Data(repeating: 0x61, count: 30), for: screen))
        #expect(Pager.isLong(Data(repeating: 0x61, count: 31), for: screen))
    }

    @Test func theVariableSelectsOrDisablesThePager() {
        func command(_ environment: [String: String]) -> String? { Pager(environment: environment).command }
        #expect(command([:]) == "less -FRX")
        #expect(command(["PAGER": "more -s"]) == "more -s")
        for name in ["", " ", "cat"] { #expect(command(["PAGER": name]) == nil) }
    }

    @Test func thePagerDoesNotRunBesideVerboseOutput() throws {
        #expect(try RequestCommand<Get>.parse(["x"]).pager.isEnabled)
        for option in ["-v", "--no-pager"] { #expect(try !RequestCommand<Get>.parse(["x", option]).pager.isEnabled) }
    }

    /// A server with a body that is longer than the screen.
    private func server() async throws -> (TestServer, url: String) {
        let server = try await TestServer.start()
        server.route("/long") { _ in .text((1...100).map { "line \($0)\n" }.joined()) }
        return (server, server.url("/long").absoluteString)
    }

    @Test(.timeLimit(.minutes(10))) func longOutputOnATerminalIsPaged() async throws {
        let (server, url) = try await server()
        let pager = ["PAGER": "sed -n 's/^line 99$/& in the pager/p'"]
        let paged = try await Tool.runOnTerminal("get", url, "--body", isInteractive: true, environment: pager)
        #expect(paged.text == "line 99 in the pager\n")
        #expect(paged.status == 0)
        let direct = try await Tool.runOnTerminal(
            "get", url, "--body", "--no-pager", isInteractive: true, environment: pager)
        #expect(direct.text.contains("line 98\nline 99\nline 100\n"))
        // The standard input isn't a terminal.
        #expect(try await Tool.runOnTerminal("get", url, "--body", environment: pager).text == direct.text)
        let short = server.url("/json").absoluteString
        let fits = try await Tool.runOnTerminal("get", short, "--body", isInteractive: true, environment: pager)
        #expect(fits.text.contains("Ada"))
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: ["", "cat", "/nonexistent/pager", "no-such-pager -x", "(no-such-pager) 2>/dev/null"])
    func withoutAPagerTheOutputIsPrinted(pager: String) async throws {
        let (server, url) = try await server()
        let outcome = try await Tool.runOnTerminal("get", url, isInteractive: true, environment: ["PAGER": pager])
        #expect(outcome.text.hasPrefix("HTTP/1.1 "))
        #expect(outcome.text.hasSuffix("line 100\n"))
        #expect(outcome.errors == "")
        #expect(outcome.status == 0)
        await server.stop()
    }

    @Test(.timeLimit(.minutes(10))) func aPagerThatEndsEarlyIsNotAnError() async throws {
        let server = try await TestServer.start()
        server.route("/long") { _ in .text(String(repeating: "line\n", count: 200_000)) }
        let url = server.url("/long").absoluteString
        let outcome = try await Tool.runOnTerminal(
            "get", url, "--body", isInteractive: true, environment: ["PAGER": "head -n 1; exit 3"])
        #expect(outcome.text == "line\n")
        #expect(outcome.errors == "")
        #expect(outcome.status == 0)
    }

    @Test(.timeLimit(.minutes(10))) func theExitCodeStays() async throws {
        let server = try await TestServer.start()
        server.route("/long") { _ in .text(String(repeating: "line\n", count: 100), status: 404) }
        let outcome = try await Tool.runOnTerminal(
            "get", server.url("/long").absoluteString, "--check-status", isInteractive: true,
            environment: ["PAGER": "tail -n 1"])
        #expect(outcome.text == "line\n")
        #expect(outcome.status == 4)
    }

    @Test(.timeLimit(.minutes(10))) func theInterruptSignalBelongsToThePager() async throws {
        let (server, url) = try await server()
        // The parent process of the shell is the tool.
        let pager = "cat > /dev/null; kill -INT $PPID; trap 'echo trapped' INT; kill -INT $$; echo end"
        let outcome = try await Tool.runOnTerminal("get", url, isInteractive: true, environment: ["PAGER": pager])
        #expect(outcome.text == "trapped\nend\n")
        #expect(outcome.status == 0)
        await server.stop()
    }
}

import Afar
import AfarTestServer
import Foundation
import Testing

@testable import AfarCLI

/// Tests for `--write-out` and `--fail`, which are compared with curl.
@Suite(.timeLimit(.minutes(10)))
struct WriteOutTests {
    /// Returns the output of curl and of `afar` in its two forms.
    private func outputs(_ arguments: [String], _ options: [String] = ["--no-follow"]) async throws -> [Tool.Outcome] {
        let quoted = arguments.map { "'\($0)'" }.joined(separator: " ")
        return [
            try await Tool.bash("curl \(quoted)"), try await Tool.run(["curl"] + arguments),
            try await Tool.run(arguments + options),
        ]
    }

    @Test(arguments: [
        "/text", "/status/404", "/redirect/1", "/response-headers?Content-Type=a%2Fb&X-Note=x",
    ])
    func theVariablesAreThoseOfCurl(path: String) async throws {
        let server = try await TestServer.start()
        let format = """
            %{http_code}|%{response_code}|%{method}|%{url_effective}|%{redirect_url}|%{num_redirects}|%{content_type}|\
            %{http_version}|%{remote_ip}|%{remote_port}|%{local_ip}|%{size_download}|%{size_upload}|%{time_appconnect}|\
            %header{x-note}|%%|%x|\\t\\q\\n
            """
        let outcomes = try await outputs(["-s", "-o", "/dev/null", "-w", format, server.url(path).absoluteString])
        for outcome in outcomes.dropFirst() { #expect(outcome.text == outcomes[0].text, "\(outcome.errors)") }
        #expect(outcomes[0].text.hasSuffix("|%|%x|\t\\q\n"))
        await server.stop()
    }

    @Test func theLastResponseAfterRedirectsIsDescribed() async throws {
        let server = try await TestServer.start()
        let arguments = ["-sL", "-w", "\\n%{http_code} %{num_redirects} %{url_effective}", "-d", "a=b"]
        let outcomes = try await outputs(arguments + [server.url("/redirect/2").absoluteString], [])
        for outcome in outcomes {
            #expect(outcome.text.hasSuffix("\n200 2 \(server.url("/get"))"), "\(outcome.text) \(outcome.errors)")
        }
        await server.stop()
    }

    /// A server could otherwise change the terminal's title or its settings.
    @Test func controlCharactersFromTheServerAreVisibleOnATerminal() async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nX-A: a\u{9B}2Jb\r\nContent-Type: c\u{9D}0;d\r\nContent-Length: 0\r\n\r\n"),
            .close,
        ])
        let session = Session()
        let request = session.request(server.url)
        _ = await request.serializingData(emptyResponseCodes: [200]).response
        let exchange = WriteOutExchange(request: request, status: .success, failure: nil)
        let format = try WriteOut("\u{1B}[1m%header{x-a}|%{stderr}%{content_type}")
        for terminals in [[], [false], [true], [false, true]] {
            let texts = format.texts(of: exchange) { terminals.contains($0) }
            let output = texts.filter { !$0.isError }.map(\.text).joined()
            let errors = texts.filter(\.isError).map(\.text).joined()
            #expect(output.hasPrefix("\u{1B}[1ma") && output.hasSuffix("2Jb|"))
            #expect(output.unicodeScalars.contains("\u{9B}") != terminals.contains(false), "\(output)")
            #expect(errors.unicodeScalars.contains("\u{9D}") != terminals.contains(true), "\(errors)")
        }
        await server.stop()
    }

    @Test func aMissingFileIsNamed() async throws {
        let outcome = try await Tool.run("-w", "@/nowhere/format", ":1")
        #expect(
            outcome.status == 2 && outcome.errors == "afar: --write-out @/nowhere/format: the file doesn't exist.\n")
    }

    @Test func timesAreInOrder() async throws {
        let server = try await TestServer.start()
        let format =
            "%{time_namelookup} %{time_connect} %{time_pretransfer} %{time_starttransfer} %{time_total} %{time_redirect}"
        let url = server.url("/delay/0.2").absoluteString.replacing("127.0.0.1", with: "localhost")
        let outcome = try await Tool.run("-s", "-o", "/dev/null", "-w", format, url)
        let times = outcome.text.split(separator: " ").compactMap { Double($0) }
        try #require(times.count == 6, "\(outcome.text)")
        #expect(
            Array(times[..<5]) == times[..<5].sorted() && times[3] >= 0.2 && times[1] > 0 && times[5] == 0, "\(times)")
        await server.stop()
    }

    @Test func failuresAreDescribed() async throws {
        let port = try ClosedPort()
        let outcome = try await Tool.run("-w", "%{http_code} %{exitcode} %{errormsg}", port.url.absoluteString)
        #expect(outcome.status == 3 && outcome.text.hasPrefix("000 3 Could not connect"), "\(outcome.text)")
        let server = try await TestServer.start()
        let url = server.url("/status/404").absoluteString
        for options in [["--check-status"], ["--stream", "--check-status"], ["-f"], ["--stream", "-f"]] {
            let refused = try await Tool.run(["-w", "|%{http_code} %{exitcode}", url] + options)
            #expect(refused.status == 4 && refused.text.hasSuffix("|404 4"), "\(refused.text)")
        }
        await server.stop()
    }

    @Test func theTextCanComeFromAFileAndGoToTheErrorStream() async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        try directory.write("%{stderr}%{http_code}\\n%{stdout}|%{scheme}", to: "format")
        let url = server.url("/text").absoluteString
        let text = try await Tool.run("get", url).text
        for command in [[], ["curl", "-s"]] {
            let outcome = try await Tool.run(command + [url, "-w", "@format"], directory: directory.url)
            #expect(outcome.errors == "200\n" && outcome.text == text + "|http")
        }
        await server.stop()
    }

    @Test(arguments: [["-w", "%{nope}", ":1"], ["curl", "-w", "%{nope}", ":1"]])
    func unknownVariablesAreErrors(arguments: [String]) async throws {
        let outcome = try await Tool.run(arguments)
        #expect(outcome.status == 2)
        for part in ["\"nope\"", "http_code", "time_total", "--report -"] {
            #expect(outcome.errors.contains(part), "\(outcome.errors)")
        }
    }

    // MARK: - Failing

    @Test(arguments: [["-f"], ["-fsSL"], ["-fi"], ["--fail-with-body"], ["-fN"]], [200, 302, 404, 500])
    func failingDiffersFromCurlOnlyInTheExitCode(options: [String], status: Int) async throws {
        let server = try await TestServer.start()
        server.route("/answer") { _ in .text("secret body", status: status) }
        let url = server.url("/answer").absoluteString
        let curl = try await Tool.bash("curl -s \(options.joined(separator: " ")) '\(url)'")
        let afar = try await Tool.run(["curl", "-s"] + options + [url])
        #expect(afar.status == (curl.status == 22 ? 4 : curl.status), "\(afar.errors)")
        #expect(afar.text.contains("secret body") == curl.text.contains("secret body"), "\(afar.text)")
        #expect(afar.text.contains("Content-Length") == curl.text.contains("Content-Length"), "\(afar.text)")
        await server.stop()
    }

    @Test(arguments: [["-o", "answer"], ["-O"]])
    func failingLeavesNoFile(options: [String]) async throws {
        let server = try await TestServer.start()
        let url = server.url("/status/404").absoluteString
        let directory = try ScratchDirectory()
        let name = options.last == "answer" ? "answer" : "404"
        for command in [["curl", "-fsSL"], ["-f"], ["get", "--fail"]] {
            let outcome = try await Tool.run(
                (command[0] == "curl" ? ["curl", "-fsSL", url] : command + [url]) + options, directory: directory.url)
            #expect(outcome.status == 4 && outcome.output.isEmpty, "\(outcome.errors)")
            #expect(!FileManager.default.fileExists(atPath: directory.url.appending(path: name).path))
        }
        try directory.write("before", to: name)
        #expect(try await Tool.run(["-f", url] + options, directory: directory.url).status == 4)
        #expect(try directory.contents(of: name) == Data("before".utf8))
        let kept = try await Tool.run(["--fail-with-body", url] + options, directory: directory.url)
        #expect(kept.status == 4)
        #expect(try directory.contents(of: name) == Data("404 Not Found\n".utf8))
        await server.stop()
    }

    @Test func aRetryAfterAFailureIsSaved() async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        let url = server.url("/unstable?key=a&failures=1").absoluteString
        let outcome = try await Tool.run(["-f", "--retry", "2", "-o", "answer", url], directory: directory.url)
        let answer = try directory.contents(of: "answer")
        #expect(outcome.status == 0 && !answer.isEmpty)
        await server.stop()
    }
}

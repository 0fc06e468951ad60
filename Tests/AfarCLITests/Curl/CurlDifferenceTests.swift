import AfarTestServer
import AfarTransport
import Foundation
import Testing

/// Runs command lines with the real curl and with `afar curl`, and compares what arrives at a server.
@Suite(.timeLimit(.minutes(10)))
struct CurlDifferenceTests {
    private struct Outcome: Equatable {
        var requests: [RecordedRequest]
        var isSuccess: Bool
        var output: String
        var files: [String: String]
    }

    /// The commands to compare: a third of them, or all with `AFAR_CURL_COMMANDS=all`.
    private static var commands: [String] {
        let isComplete = ProcessInfo.processInfo.environment["AFAR_CURL_COMMANDS"] == "all"
        return allCommands.enumerated().filter { isComplete || $0.offset % 3 == 0 }.map(\.element)
    }

    private static let allCommands = [
        "URL/a", "'URL/a?b=c&d=%20e'", "-X DELETE URL/a", "-XPURGE URL/a", "-I URL/a", "-H 'X-A: 1' -H 'X-B:2' URL/a",
        "-H 'X-Empty;' -H 'X-None:' URL/a", "-H 'Accept: a/b' URL/a", "-H @headers URL/a",
        "-e http://r.example URL/a", "-r 0-9 URL/a", "-z 'Fri, 01 Mar 2024 12:00:00 GMT' URL/a",
        "-d a=1 -d b=2 URL/a", "-d '' URL/a", "-d @text URL/a", "-d 'a=1' -X PUT URL/a", "-d a -X GET URL/a",
        "--data-binary @text URL/a", "--data-binary @text -H 'Content-Type: text/plain' URL/a",
        "--data-binary @binary URL/a",
        "--data-binary @- URL/a < text", "-d @- URL/a < text", "--data-raw @text URL/a",
        "--data-raw '@text' -d @text URL/a",
        "--data-binary @text -d x --data-ascii y URL/a", "-d a -H 'Content-Type:' URL/a",
        "--data-urlencode 'a=b c&d~+é' URL/a", "--data-urlencode 'x y' --data-urlencode '=p q' URL/a",
        "--data-urlencode n@text --data-urlencode @text URL/a", "-G -d a=1 -d b=2 'URL/a?z=0'",
        "-G --data-urlencode 'q=a b' URL/a",
        "-G -I -d a=1 URL/a", "--url-query 'a=b c' --url-query +d=e 'URL/a?f' -d g",
        "--json '{\"a\":1}' URL/a", "--json '{' --json '}' -H 'Accept: x/y' URL/a", "--json @text -X PATCH URL/a",
        "-T text URL/a", "-T text URL/dir/", "-T text -X POST URL/a", "-X PUT -T text URL/a", "-T - URL/a < text",
        "-F a=1 -F 'b=x y' URL/a", "-F 'file=@text' URL/a",
        "-F 'file=@binary;type=image/x-a;filename=\"b c.bin\"' URL/a",
        "-F 'a=<text' URL/a", "-F 'a={\"b\":1};type=application/json' URL/a", "-F 'a=\"@b;c\"' URL/a",
        "--form-string 'a=@b;type=c/d' URL/a",
        "--form-string 'a=\\\"' -X PUT URL/a",
        "-b 'a=b' -b 'c=d; e=f' URL/a", "-b cookies URL/a", "-u ada:love:lace URL/a", "-u ada: URL/a",
        "http://ada:p%40@HOST/a",
        "--basic -u a:b URL/a", "--oauth2-bearer t0ken URL/a", "-H 'Authorization: x' -u a:b URL/a",
        "-L URL/redirect URL/a", "URL/redirect", "-L -d a=1 URL/redirect", "-L --max-redirs 0 URL/redirect",
        "-f URL/missing",
        "--fail-with-body URL/missing", "-o file URL/a", "-O 'URL/name.txt?x'", "-o f1 -o f2 URL/a URL/b",
        "-O --output-dir dir URL/name",
        "URL/a URL/b --url URL/c", "--resolve x.example:PORT:127.0.0.1 http://x.example:PORT/a",
        "--connect-to x.example:80:127.0.0.1:PORT http://x.example/a", "-x HOST http://x.example/a",
        "--noproxy '*' -x localhost:1 URL/a",
        "-sSk --compressed -N URL/a", "URL/a/../b/./c", "URL/../a/b/..", "--path-as-is URL/a/../b/.",
        "'URL/a#fragment'", "-g 'URL/a?x=1'", "HOST/a", "HOST?a=b", "-A agent/1 URL/a",
        "-H 'Connection: close' -H 'TE: trailers' -H 'Accept-Encoding: gzip, br' URL/a",
        "-H 'Content-Length: 3' -d abc URL/a",
        "-H 'Expect:' -H 'User-Agent:' -d a URL/a", "-m 30 --connect-timeout 20 --retry 1 URL/a", "--http1.1 -4 URL/a",
        "-Gd a=1 -v URL/a", "--proto =http URL/a",
        "$'URL/\\x61' --data-raw $'a\\tb\\u00e9\\'' \\\n  -H \"X-Q: \\\"q\\\" \\\\\"",
    ]

    @Test(arguments: commands)
    func theServerReceivesTheSame(command: String) async throws {
        let tool = try Tool.url().path
        let wanted = try await run("curl -sS \(command)", of: command)
        let received = try await run("'\(tool)' curl -sS \(command)", of: command)
        #expect(received == wanted)
        // The same command as one argument. The shell's redirection isn't part of it.
        let parts = command.split(separator: "<", maxSplits: 1)
        guard parts.count == 1 || command.contains("=<") else { return }
        #expect(try await run("'\(tool)' curl - < command.txt", of: command, text: "curl -sS \(command)") == wanted)
    }

    private func run(_ line: String, of command: String, text: String = "") async throws -> Outcome {
        let server = try await TestServer.start()

        let record = Record()
        server.route("/*") { request in
            record.add(RecordedRequest(request))
            return switch request.path {
            case "/redirect": ServerResponse(status: 302, headers: ["Location": "/target"])
            case "/missing": ServerResponse(status: 404, headers: [:], body: Data("missing".utf8))
            default: ServerResponse(status: 200, headers: [:], body: Data("\(request.path)\n".utf8))
            }
        }
        let directory = try ScratchDirectory()
        try directory.write("X-File: 1\nX-Other: 2\n", to: "headers")
        try directory.write("a b\r\nc=é\n", to: "text")
        try Data([0, 1, 0xFF, 10, 13, 0xC3]).write(to: directory.url.appending(path: "binary"))
        try directory.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tn\tv\n", to: "cookies")
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "dir"), withIntermediateDirectories: true)
        let url = server.url("/").absoluteString.dropLast()
        func here(_ text: String) -> String {
            text.replacing("URL", with: url).replacing("HOST", with: url.dropFirst(7))
                .replacing("PORT", with: "\(server.url.port ?? 0)")
        }
        try directory.write(here(text), to: "command.txt")
        let before = Set(try FileManager.default.subpathsOfDirectory(atPath: directory.url.path))
        let outcome = try await Tool.bash(here(line), directory: directory.url)
        var files: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: directory.url.path) where !before.contains(path)
        {
            files[path] = String(decoding: try directory.contents(of: path), as: UTF8.self)
        }
        // The output of a failed request differs: curl prints no body.
        let output = outcome.status == 0 && !command.contains("-I") ? outcome.text : ""
        if outcome.status != 0, !command.contains("missing"), !command.contains("max-redirs") {
            Issue.record("\(line): \(outcome.errors)")
        }
        return Outcome(requests: record.requests, isSuccess: outcome.status == 0, output: output, files: files)
    }
}

/// The requests that a server received.
private final class Record: Sendable {
    private let state = Locked<[RecordedRequest]>([])
    var requests: [RecordedRequest] { state.withLock { $0 } }
    func add(_ request: RecordedRequest) { state.withLock { $0.append(request) } }
}

import AfarTestServer
import AfarTransport
import Foundation
import Testing

/// The option `--parallel` of `afar download`.
@Suite(.timeLimit(.minutes(10))) struct ParallelDownloadTests {
    private let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private func download(_ arguments: String...) async throws -> Tool.Outcome {
        try await Tool.run(["download"] + arguments, directory: directory.url)
    }

    @Test func theFileIsCompleteAndNamedLikeOthers() async throws {
        let server = try await TestServer.start()
        let url = server.url("/range/5000000?cuts=2000000").absoluteString
        let outcome = try await download(url, "--parallel", "4")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text == "5000000\n")
        #expect(outcome.errors == "")
        try #expect(directory.names == ["5000000"])
        #expect(try directory.contents(of: "5000000") == PatternBytes.bytes(5_000_000))
        #expect(server.requestCount > 2)
        server.route("/named") { _ in
            .text("x").adding("Content-Disposition", "attachment; filename=\"../name\"")
        }
        #expect(try await download(server.url("/named").absoluteString, "--parallel", "2").text == "name\n")
        try #expect(directory.names == ["5000000", "name"])
    }

    @Test func progressIsShown() async throws {
        let server = try await TestServer.start()
        let outcome = try await download(
            server.url("/range/5000000").absoluteString, "--parallel", "4", "--progress")
        #expect(outcome.errors.contains("100%"))
        #expect(outcome.errors.contains("5.0 MB"))
    }

    @Test func anExistingFileIsKeptUnlessForced() async throws {
        let server = try await TestServer.start()
        let url = server.url("/range/3000000").absoluteString
        try directory.write("precious", to: "3000000")
        let kept = try await download(url, "--parallel", "2")
        #expect(kept.status == 2 && kept.errors.contains("--force"))
        #expect(try directory.contents(of: "3000000") == Data("precious".utf8))
        #expect(try await download(url, "--parallel", "2", "--force").status == 0)
        #expect(try directory.contents(of: "3000000") == PatternBytes.bytes(3_000_000))
    }

    /// The tool's own session permits as many connections as `--parallel` requires.
    @Test func moreRequestsThanTheUsualLimitOfConnectionsArePossible() async throws {
        let server = try await TestServer.start()
        let content = PatternBytes.bytes(20 << 20)
        let arrived = Locked(0)
        server.route("/file") { request in
            let ends = request.headers["Range"]?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
            guard let ends, ends.count == 2 else { return ServerResponse(status: 400) }
            let range = ends[0]..<min(ends[1] + 1, content.count)
            let headers: ServerHeaders = [
                "ETag": "\"v1\"", "Content-Range": "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.count)",
            ]
            arrived.withLock { $0 += 1 }
            return ServerResponse(status: 206, headers: headers, length: range.count) { body in
                // Except for the first one, the responses wait until as many requests have arrived.
                while range.lowerBound > 0, arrived.withLock({ $0 }) < 12 { usleep(10_000) }
                try body.write(content[range])
            }
        }
        let outcome = try await download(server.url("/file").absoluteString, "--parallel", "12", "--timeout", "120")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try directory.contents(of: "file") == content)
    }

    @Test func failuresLeaveNothing() async throws {
        let server = try await TestServer.start()
        let missing = try await download(server.url("/status/404").absoluteString, "--parallel", "2")
        #expect(missing.status == 4)
        #expect(missing.errors.contains("404"))
        let refused = try await download("http://127.0.0.1:1/x", "--parallel", "2")
        #expect(refused.status == 3)
        for arguments in [["--parallel", "0"], ["--parallel", "2", "--resume"]] {
            #expect(try await Tool.run(["download", "http://127.0.0.1:1/x"] + arguments).status == 2)
        }
        try #expect(directory.names == [])
    }
}

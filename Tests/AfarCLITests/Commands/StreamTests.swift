import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The output of `afar get --stream`.
struct StreamTests {
    @Test(arguments: ["afar", "urlsession"], ["/large/3000000", "/stream/1000", "/gzip-bomb?bytes=500000", "/empty"])
    func theBytesAreTheSame(transport: String, path: String) async throws {
        let server = try await TestServer.start()
        let url = server.url(path).absoluteString
        let outcome = try await Tool.run("get", url, "--stream", "--transport", transport)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors == "")
        #expect(try await Tool.run("get", url, "--transport", transport).output == outcome.output)
    }

    /// The server sends each line only after the previous one has been printed.
    @Test func eachChunkIsPrintedImmediately() async throws {
        let server = try await TestServer.start()
        let turns = DispatchSemaphore(value: 0)
        server.route("/lines") { _ in
            ServerResponse { body in
                for line in 1...5 {
                    try body.write("line \(line)\n")
                    turns.wait()
                }
            }
        }
        server.route("/next") { _ in
            turns.signal()
            return .text("")
        }
        let outcome = try await Tool.bash(
            """
            "$afar" get '\(server.url("/lines"))' --stream --timeout 60 | while read -r line; do
                echo "$line"
                "$afar" get '\(server.url("/next"))'
            done
            """)
        #expect(outcome.errors == "")
        #expect(outcome.text == (1...5).map { "line \($0)\n" }.joined())
    }

    @Test func aSlowReaderAppliesBackpressure() async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        let total = 300_000_000
        let written = Locked(0)
        server.route("/much") { _ in
            ServerResponse(length: total) { body in
                let piece = PatternBytes.bytes(1_000_000)
                for _ in 0..<(total / piece.count) {
                    try body.write(piece)
                    written.withLock { $0 += piece.count }
                }
            }
        }
        let outcome = try await Tool.bash(
            """
            mkfifo go done
            "$afar" get '\(server.url("/much"))' --stream > >(read -r < go; wc -c > count; echo > done) & echo $! > id
            wait $!; status=$?
            read -r < done
            cat count; exit $status
            """, directory: directory.url
        ) { _ in
            var (before, rounds) = (-1, 0)
            while rounds < 50 {
                try await Task.sleep(for: .milliseconds(10))
                let now = written.withLock { $0 }
                rounds = now == before && now > 0 ? rounds + 1 : 0
                before = now
            }
            #expect(before < total / 4)
            let id = String(decoding: try directory.contents(of: "id"), as: UTF8.self)
            let process = try #require(Int32(id.trimmingCharacters(in: .newlines)))
            #expect(try !ProcessMemory.isMeasurable || ProcessMemory.peak(of: process) < 100_000_000)
            let go = try FileHandle(forWritingTo: directory.url.appending(path: "go"))
            try go.write(contentsOf: Data("\n".utf8))
            try go.close()
        }
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text.trimmingCharacters(in: .whitespacesAndNewlines) == "\(total)")
    }

    @Test func aClosedPipeEndsTheStreamQuietly() async throws {
        let server = try await TestServer.start()
        server.route("/endless") { _ in
            ServerResponse { body in while true { try body.write("more\n") } }
        }
        let outcome = try await Tool.bash(
            "\"$afar\" get '\(server.url("/endless"))' --stream | head -n 2; echo ${PIPESTATUS[0]}")
        #expect(outcome.text == "more\nmore\n0\n")
        #expect(outcome.errors == "")
    }

    @Test func aClosedPipeIsDetectedWhileTheServerIsIdle() async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly\n"), .waitForever,
        ])
        let outcome = try await Tool.bash(
            "\"$afar\" get '\(server.url)' --stream | head -n 1; echo ${PIPESTATUS[0]}")
        #expect(outcome.text == "only\n0\n")
        #expect(outcome.errors == "")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsTheStream(signal: Int32) async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), .waitForever,
        ])
        let outcome = try await Tool.run(["get", server.url.absoluteString, "--stream"]) { process in
            try await server.head()
            kill(process, signal)
        }
        #expect(outcome.status == -signal)
    }

    @Test func theHeadComesFirstAndStatusesHaveTheirCodes() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(
            "get", server.url("/status/404").absoluteString, "--stream", "-i", "--check-status", "--timing", "-v")
        #expect(outcome.status == 4)
        #expect(outcome.text.hasPrefix("HTTP/1.1 404 Not Found\n"))
        #expect(outcome.text.hasSuffix("\n\n404 Not Found\n"))
        #expect(outcome.errors.contains("< HTTP/1.1 404 Not Found\n"))
        #expect(outcome.errors.contains("  Total "))
    }

    @Test func bytesBeforeAFailureArePrinted() async throws {
        let broken = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"), .close,
        ])
        let outcome = try await Tool.run("get", broken.url.absoluteString, "--stream")
        #expect(outcome.status == 6)
        #expect(outcome.text == "half")
        #expect(outcome.errors.hasPrefix("afar: The response from "))
        let silent = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"), .waitForever,
        ])
        let late = try await Tool.run("get", silent.url.absoluteString, "--stream", "--timeout", "0.5")
        #expect(late.status == 5)
        #expect(late.text == "half")
    }

    @Test func controlCharactersAreEscapedOnATerminal() async throws {
        let server = try await TestServer.start()
        server.route("/steer") { _ in .text("a\u{1B}[2Jü\n") }
        let outcome = try await Tool.runOnTerminal("get", server.url("/steer").absoluteString, "--body", "--stream")
        #expect(outcome.text == "a\\u001B[2Jü\n")
    }

    @Test(arguments: ["--color=never", "--charset=utf-8"])
    func aLineBreakCanBeSplitAcrossChunks(option: String) async throws {
        let printed = RawServer.Gate()
        let server = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"),
            .send("2\r\na\r\r\n"), .hold(printed), .send("3\r\n\nb\r\r\n"), .send("0\r\n\r\n"), .close,
        ])
        let outcome = try await Tool.runOnTerminal("get", server.url.absoluteString, "--body", "--stream", option) {
            output in
            if output.contains("a") { printed.open() }
        }
        #expect(outcome.text == "a\nb\\u000D")
    }

    @Test func aCharsetIsConvertedAcrossChunkBoundaries() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n"
        let server = try await RawServer.start([
            .receiveHead, .send(head), .send([0x93]), .send("\r\n3\r\n"), .send([0xFA, 0x96, 0x7B]),
            .send("\r\n0\r\n\r\n"), .close,
        ])
        #expect(try await Tool.run("get", server.url.absoluteString, "--stream", "--charset", "sjis").text == "日本")
        let events = try await Tool.run("get", ":1", "--sse", "--charset", "sjis")
        #expect(events.status == 2)
        #expect(events.errors.contains("--charset"))
    }

    @Test func aFullDiskIsAFailure() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.bash("\"$afar\" get '\(server.url("/large/100000"))' --stream > /dev/full")
        #expect(outcome.status == 70)
        #expect(outcome.errors.hasPrefix("afar: The output cannot be written: "))
    }

    @Test func theCurlCommandIsEquivalent() async throws {
        let server = try await TestServer.start()
        let url = server.url("/chunked/3").absoluteString
        let printed = try await Tool.run("get", url, "--stream", "--curl")
        #expect(printed.text == "curl --compressed --location --no-buffer \(url)\n")
        #expect(server.requestCount == 0)
    }
}

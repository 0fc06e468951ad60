import AfarHAR
import AfarTestServer
import Foundation
import Testing

/// Tests for `--har`, `--record`, `--replay` and `afar serve`.
struct ArchiveTests {
    @Test func recordingsGrowAndAreReplayed() async throws {
        let directory = try ScratchDirectory()
        let file = directory.url.appendingPathComponent("api.har").path
        let server = try await TestServer.start()
        let (json, bytes) = (server.url("/json").absoluteString, server.url("/bytes/20").absoluteString)
        let first = try await Tool.run("get", json, "--record", file)
        let second = try await Tool.run("get", bytes, "--record", file)
        await server.stop()
        #expect(first.status == 0 && second.status == 0, "\(first.errors) \(second.errors)")
        for (url, live) in [(json, first), (bytes, second), (json, first)] {
            let replayed = try await Tool.run("get", url, "--replay", file)
            #expect(replayed.status == 0 && replayed.output == live.output, "\(replayed.errors)")
        }
        let missing = try await Tool.run("get", server.url("/other").absoluteString, "--replay", file)
        #expect(missing.status != 0)
        #expect(missing.errors.contains("no response for GET"))
    }

    @Test func anArchiveIsWrittenForBrowsers() async throws {
        let directory = try ScratchDirectory()
        let file = directory.url.appendingPathComponent("trace.har")
        let server = try await TestServer.start()
        let outcome = try await Tool.run(
            "get", server.url("/redirect-to?url=%2Fjson").absoluteString, "-H", "Authorization: Bearer s3cret", "--har",
            file.path)
        await server.stop()
        #expect(outcome.status == 0)
        let archive = try HAR(contentsOf: file)
        #expect(archive.entries.map(\.response.status) == [302, 200])
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("s3cret"))
    }

    @Test func unusableFilesAreUsageErrors() async throws {
        for arguments in [["--replay", "/nowhere/x.har"], ["--record", "/etc/hosts"]] {
            let outcome = try await Tool.run(["get", ":1/x"] + arguments)
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("\(arguments[0]): \(arguments[1])"), "\(outcome.errors)")
        }
        let both = try await Tool.run("get", ":1/x", "--record", "a", "--replay", "b")
        #expect(both.status == 2)
        let shared = try await Tool.run("get", ":1/x", "--record", "a", "--har", "a")
        #expect(shared.status == 2)
        let nowhere = try await Tool.run("get", ":1/x", "--har", "/nowhere/a.har")
        #expect(nowhere.status == 2)
        #expect(nowhere.errors.contains("--har: /nowhere/a.har cannot be written"), "\(nowhere.errors)")
    }

    /// Only a signal ends an endless stream. The upload command handles signals itself, to remove temporary files.
    @Test(arguments: ["get --stream", "get", "upload"]) func aSignalDoesNotLoseTheArchive(command: String) async throws
    {
        let directory = try ScratchDirectory()
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour")
        ])
        let file = directory.url.appendingPathComponent("body")
        try Data("x".utf8).write(to: file)
        let arguments = command == "upload" ? "\(server.url) --file \(file.path)" : "\(server.url)"
        let script = """
            cd '\(directory.url.path)'
            "$afar" \(command) \(arguments) --har trace.har --record rec.har --verbose > out 2> log &
            until grep -q '200 OK' log; do kill -0 $! || exit; sleep 0.05; done; kill $!; wait $!; echo "ended $?"
            """
        let outcome = try await Tool.bash(script)
        #expect(outcome.text.contains("ended 143"), "\(outcome.text) \(outcome.errors)")
        let archive = try HAR(contentsOf: directory.url.appendingPathComponent("rec.har"))
        #expect(archive.entries.map(\.request.url) == [server.url.absoluteString])
        #expect(FileManager.default.fileExists(atPath: directory.url.appendingPathComponent("trace.har").path))
    }

    @Test func aServerRunsUntilItIsTerminated() async throws {
        let script = """
            coproc "$afar" serve
            read -r url <&${COPROC[0]}; pid=$COPROC_PID
            "$afar" get "$url/anything?x=1" && kill "$pid"; wait "$pid"; echo "ended $?"
            """
        let outcome = try await Tool.bash(script)
        #expect(outcome.text.contains("/anything?x=1"), "\(outcome.text) \(outcome.errors)")
        #expect(outcome.text.contains("ended 143"), "\(outcome.text)")
    }
}

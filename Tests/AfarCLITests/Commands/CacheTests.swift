import AfarTestServer
import Foundation
import Testing

/// Response caching on the command line.
struct CacheTests {
    @Test func responsesAreStoredListedAndRemoved() async throws {
        let (server, directory) = (try await TestServer.start(), try ScratchDirectory())
        let folder = directory.url.appending(path: "cache").path
        let url = server.url("/cache/86400").absoluteString
        for _ in 0..<2 {
            let outcome = try await Tool.run("get", url, "--cache", folder)
            #expect(outcome.status == 0 && outcome.text.contains("1"), "\(outcome.errors)")
        }
        #expect(server.requestCount == 1)
        let list = try await Tool.run("cache", "ls", folder)
        #expect(list.status == 0 && list.text.contains(url) && list.text.contains("  200  "))
        let shown = try await Tool.run("cache", "show", folder, url)
        #expect(
            shown.text.contains("max-age=86400") && shown.text.contains("serial") && shown.errors.contains("Fresh for"))
        #expect(try await Tool.run("cache", "clear", folder).status == 0)
        #expect(try await Tool.run("cache", "ls", folder).text.isEmpty)
        #expect(try await Tool.run("cache", "show", folder, url).status == 6)
        await server.stop()
    }

    @Test(.timeLimit(.minutes(10))) func aStoredBodyCannotControlATerminal() async throws {
        let (server, directory) = (try await TestServer.start(), try ScratchDirectory())
        let folder = directory.url.appending(path: "cache").path
        server.route("/evil") { _ in
            var response = ServerResponse.text("a\u{1B}[2J\u{202E}\n")
            response.headers.append("Cache-Control", "max-age=1000")
            return response
        }
        let url = server.url("/evil").absoluteString
        _ = try await Tool.run("get", url, "--cache", folder)
        let shown = try await Tool.runOnTerminal("cache", "show", folder, url)
        #expect(shown.text.hasSuffix("\n\na\\u001B[2J\\u202E\n"), "\(shown.text) \(shown.errors)")
        #expect(try await Tool.run("cache", "show", folder, url).text.hasSuffix("\n\na\u{1B}[2J\u{202E}\n"))
        await server.stop()
    }

    @Test func aFolderWithoutACacheIsAUsageError() async throws {
        let directory = try ScratchDirectory()
        for command in ["ls", "clear"] {
            let outcome = try await Tool.run("cache", command, directory.url.path)
            #expect(outcome.status == 2 && outcome.errors.contains("no cache"))
        }
        let outcome = try await Tool.run("get", "http://localhost:1/", "--cache", "/dev/null/cache")
        #expect(outcome.status == 2 && outcome.errors.contains("--cache"))
    }
}

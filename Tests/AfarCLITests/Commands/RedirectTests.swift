import AfarTestServer
import Foundation
import Testing

/// The tool's handling of redirects and retries.
struct RedirectTests {
    @Test(arguments: ["afar", "urlsession"])
    func redirectsAreFollowedByDefault(transport: String) async throws {
        let server = try await TestServer.start()
        let url = server.url("/redirect/2").absoluteString
        let followed = try await Tool.run("get", url, "--transport", transport)
        #expect(try followed.json()["path"] as? String == "/get")
        let left = try await Tool.run("get", url, "--no-follow", "-i", "--transport", transport)
        #expect(left.text.hasPrefix("HTTP/1.1 302 Found\n"))
        #expect(left.text.hasSuffix("see /redirect/1\n"))
        #expect(left.status == 0)
    }

    @Test func sensitiveHeadersAreNotSentToAnotherServer() async throws {
        let (first, other) = (try await TestServer.start(), try await TestServer.start())
        let url = first.url("/redirect-to?url=\(other.url("/headers"))").absoluteString
        let outcome = try await Tool.run("get", url, "-H", "X-Api-Key: hush", "-H", "X-Note: hello")
        #expect(outcome.status == 0)
        #expect(outcome.text.contains("hello"))
        #expect(!outcome.text.contains("hush"))
        await first.stop()
        await other.stop()
    }

    @Test func everyHopIsShown() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run("get", server.url("/redirect/1").absoluteString, "-v", "--timing")
        #expect(outcome.errors.contains("> GET /redirect/1 HTTP/1.1\n"))
        #expect(outcome.errors.contains("< Location: /get\n"))
        #expect(outcome.errors.contains("> GET /get HTTP/1.1\n"))
        #expect(outcome.errors.contains("Request 2 of 2"))
    }

    @Test func aDownloadAndAnUploadFollow() async throws {
        let (server, directory) = (try await TestServer.start(), try ScratchDirectory())
        try directory.write("a note", to: "note.txt")
        let loaded = try await Tool.run(
            ["download", server.url("/redirect-to?url=/large/2000").absoluteString, "-o", "file"],
            directory: directory.url)
        #expect(loaded.status == 0, "\(loaded.errors)")
        #expect(try Data(contentsOf: directory.url.appending(path: "file")).count == 2000)
        let sent = try await Tool.run(
            [
                "upload", server.url("/redirect-to?url=/upload&status_code=307").absoluteString, "--file", "note.txt",
            ], directory: directory.url)
        #expect(try sent.json()["bytes"] as? Int == 6)
    }

    @Test func aLoopAndAnInvalidLocationAreErrors() async throws {
        let server = try await TestServer.start()
        let loop = try await Tool.run("get", server.url("/redirect/9").absoluteString, "--max-redirects", "3")
        #expect(loop.status == 6)
        #expect(loop.errors.contains("More than 3 redirects"))
        server.route("/bad") { _ in .text("", status: 302).adding("Location", "ftp://ada:hush@x/") }
        let bad = try await Tool.run("get", server.url("/bad").absoluteString)
        #expect(bad.status == 6)
        #expect(bad.errors.contains("ftp"))
        #expect(bad.errors.contains("--no-follow"))
        #expect(!bad.errors.contains("hush"))
        let usage = try await Tool.run("get", ":8080/x", "--no-follow", "--max-redirects", "3")
        #expect(usage.status == 2)
    }

    @Test func transientFailuresAreRetried() async throws {
        let server = try await TestServer.start()
        func url(_ key: String) -> String { server.url("/unstable?key=\(key)&failures=1").absoluteString }
        let again = try await Tool.run("get", url("a"), "--retry", "1", "-i")
        #expect(again.text.hasPrefix("HTTP/1.1 200 OK\n"))
        #expect(server.requestCount == 2)
        let once = try await Tool.run("get", url("b"), "-i")
        #expect(once.text.hasPrefix("HTTP/1.1 503 "))
        let posted = try await Tool.run("post", url("c"), "--retry", "2", "-i")
        #expect(posted.text.hasPrefix("HTTP/1.1 503 "))
        #expect(posted.status == 0)
        #expect(server.requestCount == 4)
        let stream = try await Tool.run("get", url("d"), "--retry", "2", "--stream")
        #expect(stream.status == 2)
    }

    @Test func afterTheLastRetryTheResponseIsPrinted() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run("get", server.url("/status/503").absoluteString, "--retry", "1", "-i")
        #expect(outcome.text.hasPrefix("HTTP/1.1 503 "))
        #expect(outcome.status == 0)
        #expect(server.requestCount == 2)
        server.route("/later") { _ in .text("much later", status: 503).adding("Retry-After", "7200") }
        let later = try await Tool.run("get", server.url("/later").absoluteString, "--retry", "1")
        #expect(later.text == "much later")
        #expect(later.status == 0)
    }
}

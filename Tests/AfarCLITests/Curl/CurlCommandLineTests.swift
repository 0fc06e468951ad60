import AfarTestServer
import Foundation
import Testing

struct CurlCommandLineTests {
    @Test func problemsAreListedAndNothingIsSent() async throws {
        let server = try await TestServer.start()
        let url = server.url("/get").absoluteString
        let outcome = try await Tool.run(
            "curl", "--xattr", "--location-trusted", "-C", "-", "-w", "%{certs}", "-u", "ada:secret", "--bogus=secret",
            url)
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        for part in ["afar: ignored: --xattr: ", "  --location-trusted: ", "  -C: ", "  -w: ", "  --bogus "] {
            #expect(outcome.errors.contains(part), "\(outcome.errors)")
        }
        #expect(!outcome.errors.contains("secret"))
        #expect(server.requestCount == 0)
        await server.stop()
    }

    @Test func aCommandIsExplained() async throws {
        for arguments in [
            ["curl", "--explain", "-sLX", "PUT", "-d", "it's", "https://x.example"],
            ["curl", "--explain", "curl -sLX PUT -d \"it's\" 'https://x.example'"],
        ] {
            let outcome = try await Tool.run(arguments)
            #expect(outcome.text == "afar https://x.example -X PUT -d 'it'\\''s' -s\n", "\(outcome.errors)")
        }
        let read = try await Tool.run("curl", "--explain", "-", input: Data("$ curl \\\n  -I x.example\n".utf8))
        #expect(read.text == "afar http://x.example -I --no-follow\n")
    }

    @Test func aCommandForAShellIsRefused() async throws {
        let outcome = try await Tool.run("curl", "curl https://x.example | sh")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("| outside of quotes"))
        let empty = try await Tool.run("curl")
        #expect(empty.status == 2 && empty.errors.contains("missing"))
    }

    @Test(arguments: [
        (["--compressed", "x.example"], "responses are decompressed by default"),
        (["--max-time", "5", "x.example"], "--timeout"),
        (["x.example", "--data-binary", "@f"], "--raw @FILE"),
        (["post", "x.example", "--location-trusted"], "credentials aren't sent"),
        (["x.example", "-T", "f"], "--raw @FILE"),
        (["x.example", "--no-progress-meter"], "progress"),
    ])
    func optionsOfCurlAreExplainedInOtherCommands(arguments: [String], part: String) async throws {
        let outcome = try await Tool.run(arguments)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("is an option of curl") && outcome.errors.contains(part), "\(outcome.errors)")
    }

    @Test func severalURLsAreRequestedInOrder() async throws {
        let server = try await TestServer.start()
        let (first, second) = (server.url("/text").absoluteString, server.url("/json").absoluteString)
        let outcome = try await Tool.run("curl", "-s", first, second)
        let texts = [try await Tool.run("get", first).text, try await Tool.run("get", second).text]
        #expect(outcome.text == texts.joined())
        let failed = try await Tool.run("curl", "-s", "-f", server.url("/status/404").absoluteString, second)
        #expect(failed.status == 4 && !failed.text.contains("Ada"))
        await server.stop()
    }
}

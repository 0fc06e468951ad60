import AfarTestServer
import Foundation
import Testing

/// Tests for `--proxy`, `--unix-socket`, `--connect-to` and `--interface`.
struct NetworkOptionsTests {
    @Test func theCurlCommandIsEquivalent() async throws {
        let outcome = try await Tool.run(
            "get", ":1/x", "--proxy", "http://ann:secret@p:3128", "--unix-socket", "/run/x", "--connect-to", "a:1:b:2",
            "--interface", "lo", "-4", "--keepalive-time", "30", "--curl")
        let options = " --unix-socket /run/x --connect-to a:1:b:2 --interface lo --ipv4 --keepalive-time 30"
        #expect(outcome.text.contains(options))
        #expect(outcome.text.contains("@p:3128") && !outcome.text.contains("secret"))
    }

    @Test func connectToRedirectsTheConnection() async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let outcome = try await Tool.run(
            "get", "http://nowhere.invalid/status/200", "--connect-to", "nowhere.invalid:80:127.0.0.1:\(port)",
            "--interface",
            "127.0.0.1")
        #expect(outcome.status == 0, "\(outcome.errors)")
        await server.stop()
    }

    @Test func theEnvironmentsProxyIsTheDefault() async throws {
        let server = try await TestServer.start()
        let url = server.url("/status/200").absoluteString
        let closed = try ClosedPort()
        let environment = ["http_proxy": "http://127.0.0.1:\(closed.number)"]
        let through = try await Tool.run("get", url, environment: environment)
        #expect(through.status == 3)
        #expect(through.errors.contains("the proxy http://127.0.0.1:\(closed.number) cannot be reached"))
        #expect(try await Tool.run("get", url, "--proxy", "none", environment: environment).status == 0)
        await server.stop()
    }

    @Test func aFamilyWithoutAnAddressIsNamed() async throws {
        let outcome = try await Tool.run("get", "http://127.0.0.1:1/", "-6")
        #expect(outcome.status == 3 && outcome.errors.contains("no IPv6 address"), "\(outcome.errors)")
    }

    @Test(arguments: [
        ["-4", "-6"], ["--keepalive-time", "0"], ["--proxy", "gopher://p"], ["--proxy", ""], ["--connect-to", "a:b"],
        ["--unix-socket", ""],
    ])
    func invalidValuesAreUsageErrors(arguments: [String]) async throws {
        let outcome = try await Tool.run(["get", ":1/x"] + arguments)
        #expect(outcome.status == 2, "\(outcome.errors)")
    }
}

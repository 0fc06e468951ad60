import AfarTestServer
import ArgumentParser
import Foundation
import TestServers
import Testing

@testable import AfarCLI

/// Tests for `--proxy`, `--unix-socket`, `--connect-to` and `--interface`.
struct NetworkOptionsTests {
    @Test func theCurlCommandIsEquivalent() async throws {
        let outcome = try await Tool.run(
            "get", ":1/x", "--proxy", "http://ann:secret@p:3128", "--unix-socket", "/run/x", "--connect-to", "a:1:b:2",
            "--interface", "lo", "-4", "--keepalive-time", "30", "--doh-url", "https://d/q", "--limit-rate", "200K",
            "--curl")
        let options =
            " --unix-socket /run/x --connect-to a:1:b:2 --interface lo --ipv4 --keepalive-time 30"
            + " --doh-url https://d/q --limit-rate 200K"
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
        #expect(
            through.errors.contains(
                "cannot be reached: connection refused. An environment variable, such as http_proxy"))
        #expect(try await Tool.run("get", url, "--proxy", "none", environment: environment).status == 0)
        await server.stop()
    }

    @Test func aFamilyWithoutAnAddressIsNamed() async throws {
        let outcome = try await Tool.run("get", "http://127.0.0.1:1/", "-6")
        #expect(outcome.status == 3 && outcome.errors.contains("no IPv6 address"), "\(outcome.errors)")
    }

    @Test(arguments: [
        ["-4", "-6"], ["--keepalive-time", "0"], ["--proxy", "gopher://p"], ["--proxy", ""], ["--connect-to", "a:b"],
        ["--unix-socket", ""], ["--limit-rate", "fast"], ["--limit-rate", "1KB"], ["--limit-rate", "-1"],
        ["--limit-rate", "9999999999P"], ["--doh-url", "http://d/q"], ["--doh-url", "d"],
    ])
    func invalidValuesAreUsageErrors(arguments: [String]) async throws {
        let outcome = try await Tool.run(["get", ":1/x"] + arguments)
        #expect(outcome.status == 2, "\(outcome.errors)")
    }

    @Test func anEmptyProxyIsExplained() throws {
        let command = try RequestCommand<Get>.parse(["x", "--proxy", ""])
        let failure = try #require(throws: Failure.self) { try command.network.settings(readsEnvironment: false) }
        #expect(failure.message.contains("write --proxy none"))
    }

    @Test func namesAreLookedUpOverHTTPS() async throws {
        let certificates = try TestCertificates.shared.get()
        let dns = try await ServerChild.unbound(certificates)
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let options = ["--doh-url", "https://localhost:\(dns.port)/dns-query", "--cacert", certificates.authority.path]
        for transport in ["afar", "curl"] {
            let outcome = try await Tool.run(
                [
                    "get", "http://first.test:\(port)/status/200", "--transport", transport, "--connect-to",
                    "elsewhere:1:127.0.0.1:1",
                ] + options)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let missing = try await Tool.run(["get", "http://missing.test/"] + options)
        #expect(missing.status == 3)
        #expect(missing.errors.contains("DNS over HTTPS (localhost) found no address"), "\(missing.errors)")
        let connected = try await Tool.run(
            ["connect", "four.test:\(port)"] + options, input: Data("GET /status/204 HTTP/1.0\r\n\r\n".utf8))
        #expect(connected.text.hasPrefix("HTTP/1.1 204"), "\(connected.errors)")
        let other = try await Tool.run(
            "get", "http://a.test/", "--transport", "urlsession", "--doh-url", "https://localhost/dns-query")
        #expect(other.status != 0 && other.errors.contains("resolvers"), "\(other.errors)")
        await server.stop()
    }

    /// The limit is far below the speed of this machine.
    @Test func theRateIsLimited() async throws {
        let server = try await TestServer.start()
        server.route("/body") { _ in .content("application/octet-stream", Data(count: 1 << 20)) }
        server.route("/count") { .text("\($0.bodyLength)") }
        let clock = ContinuousClock()
        let time = try await clock.measure {
            let outcome = try await Tool.run("get", server.url("/body").absoluteString, "--limit-rate", "256k")
            #expect(outcome.status == 0 && outcome.output.count == 1 << 20, "\(outcome.errors)")
        }
        // The last part of up to 256 KiB isn't followed by a pause.
        #expect(time >= .seconds(2.9))
        try await withTemporaryFile(Data(count: 2 << 20)) { path in
            let uploaded = try await Tool.run(
                "put", server.url("/count").absoluteString, "--raw", "@\(path)", "--limit-rate", "1G")
            #expect(uploaded.text == "\(2 << 20)", "\(uploaded.errors)")
        }
        let socket = try await Tool.run("ws", server.url.absoluteString, "--limit-rate", "1M")
        #expect(socket.status == 2 && socket.errors.contains("--limit-rate"), "\(socket.errors)")
        await server.stop()
    }
}

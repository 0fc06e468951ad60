import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarCurl

/// The data that a server receives after a redirect from http to https or vice versa, over real TLS.
struct RedirectSecrecyTests {
    private static let secrets = ["Authorization", "Cookie", "Proxy-Authorization", "X-Mine"]

    private func send(to url: URL, trusting server: TLSServer, allowsInsecure: Bool = true) async throws
        -> TransportResponse
    {
        var configuration = CurlTransport.Configuration()
        configuration.certificateBundle = server.authority
        let rules = RedirectRules(allowsInsecure: allowsInsecure, sensitiveHeaders: ["x-mine"])
        let transport = StagedTransport(CurlTransport(configuration: configuration), RedirectStage(rules: rules))
        var exchange = Exchange(url, fields: [("Authorization", "hush"), ("X-Mine", "hush"), ("Accept", "plain")])
        exchange.options.defaultFields = DefaultFields([.cookie: "hush", .proxyAuthorization: "hush"])
        return try await transport.send(exchange)
    }

    private func redirect(_ status: Int, to url: URL) -> String {
        "HTTP/1.1 \(status) Elsewhere\r\nLocation: \(url)\r\nContent-Length: 5\r\n\r\nmoved"
    }

    private let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nthere"

    private func expectNoSecret(in request: String, _ status: Int) {
        #expect(request.contains("GET / HTTP/1.1\r\n"), "\(status)")
        #expect(request.contains("Accept: plain\r\n"), "\(status)")
        #expect(!request.contains("hush"), "\(status)")
        for name in Self.secrets { #expect(!request.lowercased().contains(name.lowercased() + ":"), "\(status)") }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func noSecretGoesFromPlainToSecure(status: Int) async throws {
        let secure = try await TLSServer(.good, answer: answer)
        defer { secure.stop() }
        let plain = try await RawServer.start([.respond(redirect(status, to: secure.url))])
        let response = try await send(to: plain.url, trusting: secure)
        #expect(try response.data == Data("there".utf8))
        #expect(response.head.url == secure.url.absoluteString)
        expectNoSecret(in: try await secure.request(), status)
        #expect(plain.requests.count == 1)
        // The server receives all secrets except the one for a proxy.
        #expect(plain.requests.first?.components(separatedBy: "hush").count == 4)
        await plain.stop()
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func noSecretGoesFromSecureToPlain(status: Int) async throws {
        let plain = try await RawServer.start([.respond(answer)])
        let secure = try await TLSServer(.good, answer: redirect(status, to: plain.url))
        defer { secure.stop() }
        let response = try await send(to: secure.url, trusting: secure)
        #expect(try response.data == Data("there".utf8))
        #expect(try await secure.request().components(separatedBy: "hush").count == 4)
        expectNoSecret(in: try #require(plain.requests.first), status)
        await plain.stop()
    }

    @Test func redirectsFromHTTPSToHTTPAreRejected() async throws {
        let plain = try await RawServer.start([.respond(answer)])
        let secure = try await TLSServer(.good, answer: redirect(302, to: plain.url))
        defer { secure.stop() }
        do {
            _ = try await send(to: secure.url, trusting: secure, allowsInsecure: false)
            Issue.record("The redirect was followed.")
        } catch let error as TransportError {
            #expect(error.code == .insecureRedirect)
        }
        #expect(plain.connectionCount == 0)
        await plain.stop()
    }
}

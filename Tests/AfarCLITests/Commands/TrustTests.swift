import Afar
import ArgumentParser
import Foundation
import TestServers
import Testing

@testable import AfarCLI

/// Server trust and client certificates on the command line.
struct TrustTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func server() async throws -> SecureServer {
        try await SecureServer(
            certificates,
            [
                "good": .init("good", clients: .requested), "bad": .init("expired"),
                "revoked": .init("responses-revoked", stapling: "responses-revoked.ocsp"),
            ])
    }

    private var authority: [String] { ["--cacert", certificates.authority.path] }

    private func pin(_ server: SecureServer, _ site: String) async throws -> String {
        let outcome = try await Tool.run(["trust", server.url(site).absoluteString] + authority)
        return try #require(outcome.text.firstMatch(of: /Pin +(sha256\/\/\S+)/)?.1).description
    }

    @Test func aChainIsShownAndNothingIsSent() async throws {
        let server = try await server()
        let good = try await Tool.run(["trust", server.url("good").absoluteString] + authority)
        #expect(good.status == 0)
        for fact in [
            "CN=good", "Afar Test Authority", "server.localhost", "2020-01-01 to 2090-01-01", "EC 256 bit",
            "valid, trusted by CN=Afar Test Authority", "for localhost", "PublicKey(pin: \"sha256//",
            "no stapled OCSP response", "TLSv1.3 TLS_",
        ] { #expect(good.text.contains(fact), "\(fact)") }
        let bad = try await Tool.run(["trust", server.url("bad").absoluteString] + authority)
        #expect(bad.status == 3 && bad.text.contains("has expired") && bad.text.contains("days ago"))
        let unknown = try await Tool.run(["trust", server.url("good", host: "a.localhost").absoluteString])
        #expect(unknown.status == 3 && unknown.text.contains("not for a.localhost"))
        let revoked = try await Tool.run(["trust", server.url("revoked").absoluteString] + authority)
        #expect(revoked.status == 3 && revoked.text.contains("is revoked according to its OCSP"))
        let badChain = try await Tool.run(["trust", server.url("bad").absoluteString, "--pem"] + authority)
        #expect(badChain.status == 3 && badChain.text.contains("BEGIN CERTIFICATE"))
        let pem = try await Tool.run(["trust", server.url("good").absoluteString, "--pem"] + authority)
        #expect(pem.status == 0)
        #expect(pem.text == (try String(contentsOf: certificates.file("good.pem"), encoding: .utf8)))
        #expect(try await server.requestBytes(to: "good") == 0)
        let nobody = try await Tool.run("trust", "localhost:1")
        #expect(nobody.status == 3 && nobody.text.isEmpty && nobody.errors.contains("Could not connect"))
    }

    @Test func aPinIsAddedToTheValidation() async throws {
        let server = try await server()
        let (good, bad) = (try await pin(server, "good"), try await pin(server, "bad"))
        let url = try server.url("good").absoluteString
        for pins in [["--pin", good], ["--pin", bad, "--pin", good]] {
            let outcome = try await Tool.run(["get", url] + authority + pins)
            #expect(outcome.status == 0 && outcome.text.contains("none"), "\(outcome.errors)")
        }
        let sent = try await server.requestBytes(to: "good")
        let wrong = try await Tool.run(["get", url] + authority + ["--pin", bad])
        #expect(wrong.status == 3 && wrong.errors.contains(good) && wrong.errors.contains("Nothing was sent"))
        let expired = try await Tool.run(
            ["get", server.url("bad").absoluteString] + authority + ["--pin", bad])
        #expect(expired.status == 3 && expired.errors.contains("has expired"))
        let nonsense = try await Tool.run(["get", url, "--pin", "nonsense"])
        #expect(nonsense.status == 2 && nonsense.errors.contains("--pin"))
        #expect(try await server.requestBytes(to: "good") == sent)
        #expect(try await server.requestBytes(to: "bad") == 0)
    }

    @Test func anUnverifiedHostCausesAProminentWarning() async throws {
        let server = try await server()
        let bad = try server.url("bad").absoluteString
        let blind = try await Tool.run(["get", bad, "--insecure-host", "localhost"])
        #expect(blind.status == 0 && blind.errors.contains("WARNING") && blind.errors.contains("localhost"))
        let other = try await Tool.run(["get", bad, "--insecure-host", "example.com"])
        #expect(other.status == 3 && other.errors.contains("\"afar trust localhost:"))
        let names = ["--insecure-host", "[::1]", "--insecure-host", "bücher.example", "--pin", Self.anyPin]
        let options = try SecurityOptions.parse(names)
        #expect(try options.trustManager(for: "https://[::1]/")?.serverTrustEvaluator(forHost: "::1") != nil)
        #expect(
            try options.trustManager(for: "https://[::1]/")?.serverTrustEvaluator(forHost: "xn--bcher-kva.example")
                != nil)
        let international = try SecurityOptions.parse(["--pin", Self.anyPin])
        let manager = try international.trustManager(for: "https://bücher.example/")
        #expect(try manager?.serverTrustEvaluator(forHost: "xn--bcher-kva.example") != nil)
    }

    private static let anyPin = "sha256//NEVIZMgxhi1UANvVWPqsCRjobIpMlrjLywOUtFeqO8Q="

    @Test func theConnectionIsTimedAndItsSecretsAreLogged() async throws {
        let server = try await server()
        let log = certificates.folder.appending(path: "keys-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        let outcome = try await Tool.run(
            ["get", server.url("good").absoluteString, "--timing", "--keylog", log.path] + authority)
        #expect(outcome.status == 0 && outcome.errors.contains("new, http/1.1, TLSv1.3 TLS_"), "\(outcome.errors)")
        #expect(try String(contentsOf: log, encoding: .utf8).contains("CLIENT_TRAFFIC_SECRET_0 "))
    }

    @Test(arguments: [
        ["--keylog", "/tmp/keys"], ["--cacert", "/etc/ssl/certs/ca-certificates.crt"], ["--pin", anyPin],
    ])
    func optionsUnsupportedByURLSessionAreRejected(options: [String]) async throws {
        let outcome = try await Tool.run(["get", "https://localhost:1/", "--transport", "urlsession"] + options)
        #expect(outcome.status == 2 && outcome.errors.contains("transport"), "\(outcome.errors)")
    }

    @Test func aClientCertificateIsShown() async throws {
        let server = try await server()
        let url = try server.url("good").absoluteString
        let passphrase = certificates.folder.appending(path: "passphrase-\(UUID().uuidString)")
        try Data("secret\n".utf8).write(to: passphrase)
        let file = { (name: String) in certificates.file(name).path }
        let forms = [
            ["--cert", file("client-a.crt"), "--key", file("client-a.key")],
            ["--cert", file("client-a.p12"), "--passphrase-file", passphrase.path],
        ]
        for form in forms {
            let outcome = try await Tool.run(["get", url] + authority + form)
            #expect(outcome.text.contains("CN=client-a"), "\(outcome.errors)")
        }
        let wrong = try await Tool.run(["get", url, "--cert", file("client-a.p12")])
        #expect(wrong.status == 2 && wrong.errors.contains("client-a.p12") && wrong.errors.contains("passphrase"))
        let mismatch = try await Tool.run(
            ["get", url, "--cert", file("client-a.crt"), "--key", file("client-b.key")])
        #expect(mismatch.status == 2 && mismatch.errors.contains("does not belong to the certificate"))
    }
}

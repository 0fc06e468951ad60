import AfarTestServer
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

/// Credentials on the command line.
struct CredentialTests {
    private static let bundle = "/etc/ssl/certs/ca-certificates.crt"

    @Test(
        arguments: [
            (
                [], 401, ["Bearer realm=\"x\""],
                "the authentication scheme bearer, which --user doesn't provide. For a token, use --bearer"
            ),
            (
                ["--auth", "digest"], 401, ["Basic realm=\"x\"", "Bearer"],
                "basic or bearer, which --user with --auth digest doesn't"
            ),
            (["--auth", "basic"], 401, ["Bearer"], "bearer, which --user with --auth basic doesn't"),
            ([], 401, ["Bearer, Basic realm=\"x\""], nil), ([], 200, ["Bearer"], nil),
            ([], 401, [], "didn't ask for the credentials"), ([], 403, ["Bearer"], "didn't ask for the credentials"),
        ] as [([String], Int, [String], String?)])
    func credentialsThatTheServerDoesNotUseAreNoted(
        options: [String], status: Int, challenges: [String], part: String?
    ) throws {
        let security = try RequestCommand<Get>.parse(["x", "-u", "ada:hush"] + options).security
        let note = UnsentCredentials.note(security, status: status, challenges: challenges, wereRequested: false)
        #expect((note != nil) == (part != nil))
        if let part { #expect(note?.contains(part) == true, "\(note ?? "")") }
        #expect(UnsentCredentials.note(security, status: 401, challenges: nil, wereRequested: false) == nil)
    }

    @Test func aChallengeIsAnsweredInTheChosenScheme() async throws {
        let server = try await TestServer.start()
        let url = server.url("/basic-auth/ada/lovelace").absoluteString
        for options in [["--user", "ada:lovelace"], ["--user", "ada:lovelace", "--auth", "basic"]] {
            let outcome = try await Tool.run(["get", url, "--check-status"] + options)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let named = try await Tool.run(
            ["get", url, "--check-status", "--user", "ada"], environment: ["AFAR_PASSWORD": "lovelace"])
        #expect(named.status == 0)
        for options in [["--user", "ada:wrong"], ["--user", "ada:lovelace", "--auth", "digest"], []] {
            let outcome = try await Tool.run(["get", url, "--check-status", "--verbose"] + options)
            #expect(outcome.status == 4)
            #expect(!outcome.errors.contains("wrong") && !outcome.errors.contains("lovelace:"))
        }
        await server.stop()
    }

    @Test func aFileProvidesTheCredentials() async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        let file = directory.url.appending(path: ".netrc")
        let text = Data("machine 127.0.0.1 login ada password lovelace".utf8)
        #expect(
            FileManager.default.createFile(atPath: file.path, contents: text, attributes: [.posixPermissions: 0o600]))
        let url = server.url("/basic-auth/ada/lovelace").absoluteString
        for (option, variable) in [("--netrc", "HOME"), ("--netrc", "NETRC"), ("--netrc-file=\(file.path)", "UNUSED")] {
            let path = variable == "HOME" ? directory.url.path : file.path
            let outcome = try await Tool.run(
                ["get", url, "--check-status", "--verbose", option], environment: [variable: path])
            #expect(outcome.status == 0, "\(outcome.errors)")
            let other = try await Tool.run(
                ["get", "http://example.com", option, "--curl"], environment: [variable: path])
            #expect(!other.text.contains("netrc"))
            let local = try await Tool.run(
                ["get", "https://example.com", option, "--curl"], environment: [variable: path])
            #expect(local.text.contains(" --netrc-file \(file.path) "))
            // A proxy would receive them.
            for (more, isSafe) in [([], true), (["--proxy", "http://proxy.example:1"], false)] {
                let command = try await Tool.run(["get", url, option, "--curl"] + more, environment: [variable: path])
                #expect(command.text.contains(" --netrc-file ") == isSafe)
            }
            #expect(!outcome.errors.contains("lovelace:") && !outcome.errors.contains(text.base64EncodedString()))
        }
        await server.stop()
    }

    @Test func aTokenIsSentWithoutAChallengeAndHidden() async throws {
        let server = try await TestServer.start()
        let file = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID().uuidString)")
        try Data("t0ken\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for token in ["t0ken", "@\(file.path)"] {
            let outcome = try await Tool.run(
                ["get", server.url("/headers").absoluteString, "--bearer", token, "--verbose"])
            #expect(outcome.text.contains("Bearer t0ken") && !outcome.errors.contains("t0ken"))
        }
        await server.stop()
    }

    @Test(arguments: [
        ["--user", "ada"], ["--user", "a:b", "--bearer", "c"], ["--auth", "digest"], ["--key", "k"],
        ["--auth", "negotiate", "--user", "a:b"], ["--bearer", "@/nonexistent"], ["--cert", "/nonexistent"],
        ["--bearer", "t", "-H", "Authorization: b"], ["--auth", "basic", "--user", "a:b", "-H", "authorization: b"],
        ["--bearer", ""], ["--bearer", "t", "--auth", "negotiate"], ["--cacert", "/nonexistent"],
        ["--cacert", "/dev/null"],
        ["--cacert", "/etc/passwd"], ["--insecure-host", "https://a"], ["--insecure-host", "a:1"],
        ["--insecure-host", "*"],
        ["--insecure-host", ""],
        ["--auth", "ntlm", "--user", "a:b", "--transport", "urlsession"], ["--passphrase-file", "/dev/null"],
        ["--cert", "a.p12", "--key", "k"],
        ["--user", "a\u{7}:b", "--auth", "basic"], ["--cache", "/tmp", "--replay", "/dev/null"],
        ["--cache", "/tmp", "--insecure-host", "localhost"],
        ["--netrc", "--user", "a:b"], ["--netrc-file", "/nonexistent"], ["--netrc-file", "/etc/passwd"],
    ])
    func conflictingOptionsAreRejected(options: [String]) async throws {
        let outcome = try await Tool.run(["get", "https://localhost:1/"] + options)
        #expect(outcome.status == 2 && outcome.errors.contains(options[0]), "\(outcome.errors)")
    }

    @Test func basicCredentialsCanBeSentWithoutAChallenge() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(
            "get", server.url("/headers").absoluteString, "--user", "ada:lovelace", "--auth", "basic", "--verbose")
        #expect(outcome.text.contains("Basic YWRhOmxvdmVsYWNl") && !outcome.errors.contains("YWRh"))
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test(.timeLimit(.minutes(10))) func credentialsThatAreNotSentAreNoted() async throws {
        let server = try await TestServer.start()
        let (missing, asking) = (server.url("/status/404").absoluteString, server.url("/hidden").absoluteString)
        server.route("/hidden") { request in
            request.headers["Authorization"] == nil
                ? .text("", status: 401).adding("WWW-Authenticate", "Basic realm=a") : .text("", status: 404)
        }
        let noted = try await Tool.run(missing, "-u", "ada:hush")
        #expect(noted.status == 0 && noted.errors.hasPrefix("afar: The server didn't ask for the credentials"))
        #expect(noted.errors.contains("add --auth basic\n") && !noted.errors.contains("hush"))
        for arguments in [[missing, "--auth", "basic"], [asking]] {
            #expect(try await Tool.run(arguments + ["-u", "ada:hush"]).errors == "")
        }
        await server.stop()
    }

    @Test func aFileForKeysThatCannotBeWrittenIsNamed() async throws {
        let outcome = try await Tool.run("get", "https://localhost:1/", "--keylog", "/nonexistent/log")
        #expect(outcome.status == 2 && outcome.errors.contains("/nonexistent/log, cannot be written"))
    }

    @Test func aSecretCanBeReadFromAPipe() async throws {
        let server = try await TestServer.start()
        let url = server.url("/headers").absoluteString
        let outcome = try await Tool.bash("\"$afar\" get \(url) --bearer @<(echo; echo t0ken) --bearer @<(echo t0ken)")
        #expect(outcome.text.contains("Bearer t0ken"), "\(outcome.errors)")
        await server.stop()
    }

    @Test func pinsRequireHTTPS() async throws {
        let outcome = try await Tool.run(
            "get", "http://localhost:1/", "--pin", "sha256//NEVIZMgxhi1UANvVWPqsCRjobIpMlrjLywOUtFeqO8Q=")
        #expect(outcome.status == 2 && outcome.errors.contains("https"))
    }

    @Test func theCurlCommandIsEquivalentWithoutThePassword() async throws {
        let outcome = try await Tool.run(
            "get", "https://example.com/", "--user", "ada:lovelace", "--auth", "digest", "--cacert", Self.bundle,
            "--pin",
            "sha256//NEVIZMgxhi1UANvVWPqsCRjobIpMlrjLywOUtFeqO8Q=", "--curl")
        for part in ["--digest", "--user ada", "--cacert \(Self.bundle)", "--pinnedpubkey", "sha256//NEVIZ"] {
            #expect(outcome.text.contains(part), "\(part)")
        }
        #expect(
            !outcome.text.contains("lovelace") && outcome.errors.hasPrefix("afar: The password of --user is left out"))
        let other = try await Tool.run(
            "get", "https://example.com/", "--insecure-host", "example.org", "--cert", "me.p12", "--curl")
        #expect(!other.text.contains("--insecure") && other.text.contains("--cert-type P12"))
        let basic = try await Tool.run(
            "get", "https://example.com/", "--insecure-host", "EXAMPLE.com", "--user", "ada:lovelace", "--auth",
            "basic", "--curl")
        #expect(basic.text.contains("--insecure") && basic.text.contains("Authorization: Basic ***"), "\(basic.text)")
    }
}

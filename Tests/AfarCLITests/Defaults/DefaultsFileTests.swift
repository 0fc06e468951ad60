import AfarTestServer
import Foundation
import Testing

@testable import AfarCLI

@Suite(.timeLimit(.minutes(10))) struct DefaultsFileTests {
    /// Returns a folder for `XDG_CONFIG_HOME` with a file of defaults.
    private static func folder(_ text: String, mode: Int = 0o644) throws -> ScratchDirectory {
        let folder = try ScratchDirectory()
        let afar = folder.url.appending(path: "afar")
        try FileManager.default.createDirectory(at: afar, withIntermediateDirectories: true)
        let file = afar.appending(path: "config")
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        return folder
    }

    private static func run(_ arguments: String..., in folder: ScratchDirectory) async throws -> Tool.Outcome {
        try await Tool.run(arguments, environment: ["XDG_CONFIG_HOME": folder.url.path])
    }

    private static func headers(_ outcome: Tool.Outcome) throws -> [String: String] {
        try #require(outcome.json()["headers"] as? [String: String], "\(outcome.errors)")
    }

    @Test func theCommandLineHasPrecedence() async throws {
        let server = try await TestServer.start()
        let url = server.url("/anything").absoluteString
        let folder = try Self.folder(
            """
            # Defaults
            -H 'X-Team: blue'   # a comment
            --header="Accept-Language: de"
            -A "agent 1"
            --query page=1
            --timeout 0.000001
            """)
        let outcome = try await Self.run(url, "X-Team:red", "X-Other:1", "-m", "60", "page==2", in: folder)
        let headers = try Self.headers(outcome)
        #expect(headers["x-team"] == "red")
        #expect(headers["x-other"] == "1")
        #expect(headers["accept-language"] == "de")
        #expect(headers["user-agent"] == "agent 1")
        #expect(try outcome.json()["query"] as? String == "page=1&page=2")
        let removed = try await Self.run("get", url, "-A", "me", "Accept-Language:", "--timeout", "60", in: folder)
        #expect(try Self.headers(removed)["user-agent"] == "me")
        #expect(try Self.headers(removed)["x-team"] == "blue")
        #expect(try Self.headers(removed)["accept-language"] != "de")
        #expect(try await Self.run(url, in: folder).status == 5)
        #expect(try Self.headers(await Self.run(url, "--no-config", in: folder))["x-team"] == nil)
        await server.stop()
    }

    @Test func optionsThatACommandLacksAreSkipped() async throws {
        let server = try await TestServer.start()
        let url = server.url("/json").absoluteString
        let folder = try Self.folder("--progress\n--xpath //a\n--port 1\n--check-status\n--no-follow\n-4\n")
        let outcome = try await Self.run(url, "--max-redirects", "3", "-4", in: folder)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try await Self.run("get", url, in: folder).errors == "")
        #expect(try await Self.run("trust", "--help", in: folder).status == 0)
        await server.stop()
    }

    @Test(arguments: [
        ("\n--tiemout 3", "line 2: --tiemout isn't an option of afar. Did you mean --timeout?"),
        ("--timeout", "line 1: --timeout requires a value."), ("--include 3", "line 1: --include has no value."),
        ("-H 'X: secret", "line 1: the quote ' isn't closed."), ("timeout 3", "line 1: a line begins with an option"),
        ("-H X: secret", "line 1: an option has one value; put quotes around spaces."),
        ("--no-config", "line 1: --no-config can't be a default."),
    ])
    func faultsNameTheFileAndTheLine(text: String, message: String) async throws {
        let folder = try Self.folder(text)
        let outcome = try await Self.run("get", ":1/", in: folder)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("\(folder.url.path)/afar/config, \(message)"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("secret"))
    }

    @Test(arguments: [
        "-k", "--insecure-host localhost", "--show-secrets", "--keylog keys.txt", "--user a:secret", "--bearer secret",
        "-b a=secret", "-H 'Authorization: secret'", "-H 'cookie : secret'",
    ])
    func unsafeOptionsAreIgnored(line: String) async throws {
        let server = try await TestServer.start()
        let outcome = try await Self.run(
            "get", server.url("/anything").absoluteString, in: Self.folder(line))
        #expect(outcome.errors.contains("config, line 1: "))
        #expect(outcome.errors.contains(" is ignored, because "))
        let headers = try Self.headers(outcome)
        #expect(headers["authorization"] == nil && headers["cookie"] == nil)
        await server.stop()
    }

    @Test func aFileThatOthersCanChangeIsIgnored() async throws {
        let server = try await TestServer.start()
        let outcome = try await Self.run(
            "get", server.url("/anything").absoluteString, in: Self.folder("-H 'X-Team: blue'", mode: 0o666))
        #expect(outcome.errors.contains("is ignored: others can change it"))
        #expect(try Self.headers(outcome)["x-team"] == nil)
        await server.stop()
    }
}

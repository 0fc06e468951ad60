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
        ("--timeout", "line 1: --timeout requires a value."),
        ("--include 3", "line 1: --include has no value; write one option per line."),
        ("-H 'X: secret", "line 1: the quote ' isn't closed."),
        ("timeout 3", "line 1: write one option per line, such as"),
        ("-H X: secret", "line 1: write one option per line, and quotes around"),
        ("--no-config", "line 1: --no-config can't be a default."),
        ("-qname:secret", "line 1: -q isn't an option of afar."),
        ("--bearersecret", "line 1: write a space between --bearer"),
        ("--bearer:secret", "line 1: write a space"), ("--bearer=secret x", "line 1: write one option per line"),
        ("--Secret", "line 1: the line isn't an option of afar."),
        ("--query secret", "line 1: --query requires name=value."),
        ("--timeout secret", "line 1: the value of --timeout is invalid."),
        ("-msecret", "line 1: the value of --timeout"),
        ("-Hsecret", "line 1: -H requires 'Name: value'."),
        ("--http secret", "line 1: the value of --http is invalid."),
        ("-i\n--insecure-host a/secret", "line 2: --insecure-host is ignored"),
        ("--cookie-jar secret\n--session secret", "line 2: --session can't be combined with --cookie-jar in line 1."),
    ])
    func faultsNameTheFileAndTheLine(text: String, message: String) async throws {
        let folder = try Self.folder(text)
        let outcome = try await Self.run("get", ":1/", in: folder)
        #expect(outcome.status == (message.contains("is ignored") ? 3 : 2))
        #expect(outcome.errors.contains("\(folder.url.path)/afar/config, \(message)"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("secret"))
    }

    @Test(arguments: [
        "-k", "--insecure-host localhost", "--show-secrets", "--keylog keys.txt", "--user a:secret", "--bearer secret",
        "-b a=secret", "-ua:secret", "-H 'Authorization: secret'", "-H 'cookie : secret'",
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

    @Test func defaultsThatConflictAreNotedOnlyWithVerbose() async throws {
        let server = try await TestServer.start()
        let url = server.url("/anything").absoluteString
        let folder = try Self.folder("--netrc\n--retry 2\n--timing")
        let quiet = try await Self.run("get", url, "--bearer", "token", "--stream", in: folder)
        #expect(try Self.headers(quiet)["authorization"] == "Bearer token")
        #expect(!quiet.errors.contains("left out"))
        let verbose = try await Self.run("get", url, "--bearer", "token", "--stream", "-v", in: folder)
        #expect(
            verbose.errors.contains("config, line 1: --netrc is left out: --netrc can't be combined with --bearer."))
        #expect(verbose.errors.contains("config, line 2: --retry is left out"), "\(verbose.errors)")
        #expect(try await Self.run("get", url, "--curl", in: folder).status == 0)
        #expect(try await Self.run("bench", url, "--requests", "1", in: folder).status == 0)
        await server.stop()
    }

    @Test func helpRequiresNoValidFile() async throws {
        let folder = try Self.folder("--tiemout 3")
        #expect(try await Self.run("get", "--help", in: folder).status == 0)
    }

    @Test(arguments: ["relative", ""]) func anInvalidVariableIsIgnored(value: String) async throws {
        let home = try ScratchDirectory()
        let folder = home.url.appending(path: ".config/afar")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try home.write("--tiemout 3", to: ".config/afar/config")
        let outcome = try await Tool.run(
            "get", ":1/", environment: ["XDG_CONFIG_HOME": value, "HOME": home.url.path])
        #expect(outcome.status == 2 && outcome.errors.contains("\(folder.path)/config, line 1"), "\(outcome.errors)")
    }

    @Test(arguments: ["relative", ""]) func withoutAHomeFolderTheUserDatabaseNamesIt(home: String) async throws {
        let folder = try ScratchDirectory()
        let outcome = try await Tool.run(
            ["get", ":1/", "--session-read-only", "a"],
            environment: ["HOME": home, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""], directory: folder.url)
        #expect(outcome.status == 2 && outcome.errors.contains("there is no such session"), "\(outcome.errors)")
        #expect(try folder.names == [])
    }

    @Test(arguments: ["directory", "pipe", "large", "link"]) func otherKindsOfFiles(kind: String) async throws {
        let folder = try ScratchDirectory()
        let file = folder.url.appending(path: "afar/config").path
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "afar"), withIntermediateDirectories: true)
        switch kind {
        case "directory": mkdir(file, 0o755)
        case "pipe": mkfifo(file, 0o600)
        case "large":
            try folder.write("-i", to: "afar/config")
            truncate(file, 1 << 30)
        default:
            try folder.write("--tiemout 3", to: "other")
            symlink("../other", file)
        }
        let outcome = try await Self.run("get", ":1/", in: folder)
        #expect(outcome.status == 2 && outcome.errors.contains("\(file)"), "\(outcome.errors)")
        #expect(try await Self.run("get", ":1/", "--no-config", in: folder).status == 3)
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

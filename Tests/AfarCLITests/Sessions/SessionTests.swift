import AfarTestServer
import Foundation
import Testing

@testable import AfarCLI

@Suite(.timeLimit(.minutes(10))) struct SessionTests {
    private let folder: ScratchDirectory
    private let server: TestServer

    init() async throws {
        folder = try ScratchDirectory()
        server = try await TestServer.start()
    }

    private func run(_ path: String, _ arguments: String..., environment: [String: String] = [:]) async throws
        -> Tool.Outcome
    {
        try await Tool.run(
            ["get", server.url(path).absoluteString] + arguments,
            environment: ["XDG_DATA_HOME": folder.url.path].merging(environment) { $1 }, directory: folder.url)
    }

    private func headers(_ outcome: Tool.Outcome) throws -> [String: String] {
        try #require(outcome.json()["headers"] as? [String: String], "\(outcome.errors)")
    }

    private func file(_ name: String) throws -> URL {
        let host = try #require(server.url.host())
        return folder.url.appending(path: "afar/sessions/\(host)_\(try #require(server.url.port))/\(name).json")
    }

    private func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    /// A killed process can leave a temporary file behind.
    @Test func aTemporaryFileIsReplaced() async throws {
        await server.stop()
        try folder.write("stale", to: "s.json.new")
        let path = folder.url.appending(path: "s.json").path
        let session = try SessionFile(path, isReadOnly: false, url: "http://a.test/")
        session.add([HeaderArgument(name: "X-A", text: "b")], nil)
        _ = try session.open(isSaved: true)
        #expect(SessionFile.save())
        #expect(try folder.names == ["s.json"])
        #expect(try SessionFile(path, isReadOnly: true, url: "http://a.test/").headers.map(\.value) == ["b"])
    }

    @Test func anInvalidHeaderDoesNotReplaceTheSession() async throws {
        let first = try await run("/anything", "--session", "./s.json", "-H", "X-Token: one")
        #expect(first.status == 0, "\(first.errors)")
        let invalid = try await run("/anything", "--session", "./s.json", "-H", "X-Token: a\u{1}b")
        #expect(invalid.status != 0)
        let last = try await run("/anything", "--session", "./s.json")
        #expect(try headers(last)["x-token"] == "one")
        await server.stop()
    }

    /// Two processes can create a file at the same path.
    @Test func aSessionOfAnotherServerIsNotReplaced() async throws {
        let slow = try await RawServer.start([.receiveHead, .waitForever])
        let path = folder.url.appending(path: "s.json")
        let outcome = try await Tool.run(
            [slow.url.absoluteString, "-m", "900", "--session", "./s.json", "-H", "X-A: a"], directory: folder.url
        ) { process in
            _ = try await slow.head()
            let other = try await run("/anything", "--session", "./s.json", "-H", "X-Token: secret")
            #expect(other.status == 0, "\(other.errors)")
            kill(process, SIGINT)
        }
        #expect(outcome.errors.contains("another process has created it for another server"), "\(outcome.errors)")
        let contents = String(decoding: try Data(contentsOf: path), as: UTF8.self)
        #expect(contents.contains("X-Token") && !contents.contains("X-A"))
        await slow.stop()
        await server.stop()
    }

    @Test func headersAndCredentialsReplaceEachOther() async throws {
        for arguments in [["--bearer", "one"], ["Authorization:Bearer two"], ["--bearer", "three"]] {
            let outcome = try await Tool.run(
                [server.url("/anything").absoluteString, "--session", "a"] + arguments,
                environment: ["XDG_DATA_HOME": folder.url.path])
            #expect(outcome.status == 0, "\(outcome.errors)")
            let sent = try headers(outcome)["authorization"]
            #expect(try headers(await run("/anything", "--session", "a"))["authorization"] == sent)
        }
        await server.stop()
    }

    @Test func requestsThatAreNotSentChangeNothing() async throws {
        #expect(try await run("/anything", "--session", "a", "X-A:1", "-u", "a:b", "--offline").status == 0)
        #expect(!FileManager.default.fileExists(atPath: try file("a").path))
        await server.stop()
    }

    @Test func cookiesHeadersAndCredentialsAreKept() async throws {
        let first = try await run(
            "/cookies/set?a=1", "X-Team:blue", "X-Old:1", "Content-Type:text/x", "If-Match:x", "--session", "work",
            "--bearer", "token")
        #expect(first.errors == "")
        let second = try headers(await run("/anything", "--session", "work"))
        #expect(second["cookie"] == "a=1")
        #expect(second["x-team"] == "blue")
        #expect(second["authorization"] == "Bearer token")
        #expect(second["content-type"] == nil && second["if-match"] == nil)
        let third = try headers(
            await run("/anything", "--session", "work", "X-Team:red", "X-Old:", "--auth", "basic", "-u", "a:b"))
        #expect(third["x-team"] == "red")
        #expect(third["x-old"] == nil)
        #expect(third["authorization"]?.hasPrefix("Basic ") == true)
        let last = try headers(await run("/anything", "--session-read-only", "work", "X-Team:green"))
        #expect(last["x-team"] == "green")
        #expect(last["x-old"] == nil)
        #expect(last["authorization"]?.hasPrefix("Basic ") == true)
        #expect(try headers(await run("/anything", "--session", "work"))["x-team"] == "red")
        #expect(try headers(await run("/anything", "--session", "other"))["x-team"] == nil)
        #expect(try mode(file("work")) == 0o600)
        #expect(try mode(file("work").deletingLastPathComponent()) == 0o700)
        await server.stop()
    }

    @Test func aSessionIsForOneServer() async throws {
        let path = folder.url.appending(path: "mine.json").path
        _ = try await run("/anything", "--session", path, "--bearer", "token")
        let other = try await TestServer.start()
        let outcome = try await Tool.run("get", other.url("/anything").absoluteString, "--session", path)
        #expect(outcome.status == 2)
        #expect(
            outcome.errors.contains("belongs to \(server.url.absoluteString.trimmingCharacters(in: ["/"]))"),
            "\(outcome.errors)")
        #expect(outcome.text == "")
        let redirected = try await run(
            "/redirect-to?url=\(other.url("/anything").absoluteString)", "--session", path)
        #expect(!redirected.text.contains("token"))
        await other.stop()
        await server.stop()
    }

    @Test func aPasswordOfTheEnvironmentIsNotSaved() async throws {
        let outcome = try await run(
            "/anything", "--session", "work", "--user", "ada", "--auth", "basic",
            environment: ["AFAR_PASSWORD": "scret"])
        #expect(try headers(outcome)["authorization"]?.hasPrefix("Basic ") == true)
        #expect(try !String(contentsOf: file("work"), encoding: .utf8).contains("scret"))
        await server.stop()
    }

    @Test func noFilesRemainBesideACookieJar() async throws {
        #expect(try await run("/cookies/set?a=1", "--cookie-jar", "jar").status == 0)
        #expect(try folder.names == ["jar"])
        await server.stop()
    }

    @Test func aLinkedFileIsReplacedAtItsPlace() async throws {
        let path = folder.url.appending(path: "real.json").path
        #expect(try await run("/cookies/set?a=1", "--session", path).status == 0)
        symlink("real.json", folder.url.appending(path: "link.json").path)
        #expect(try await run("/cookies/set?b=2", "--session", "./link.json").status == 0)
        #expect(try headers(await run("/anything", "--session", path))["cookie"] == "a=1; b=2")
        #expect(try folder.names == ["link.json", "real.json"])
        await server.stop()
    }

    @Test(arguments: ["directory", "pipe", "large", "shared"])
    func otherKindsOfFilesAreUsageErrors(kind: String) async throws {
        let file = folder.url.appending(path: "a.json").path
        switch kind {
        case "directory": mkdir(file, 0o755)
        case "pipe": mkfifo(file, 0o600)
        case "shared":
            try folder.write("{}", to: "a.json")
            chmod(file, 0o666)
        default:
            try folder.write("{}", to: "a.json")
            truncate(file, 1 << 30)
        }
        let outcome = try await run("/cookies/set?a=1", "--session", "./a.json")
        #expect(outcome.status == 2 && outcome.errors.contains("a.json"), "\(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(server.requestCount == 0)
        await server.stop()
    }

    @Test(arguments: ["--session", "--cookie-jar"]) func aFolderThatCannotBeWrittenFailsEarly(option: String)
        async throws
    {
        try folder.write("", to: "file")
        let outcome = try await run(
            "/cookies/set?a=1", option, option == "--session" ? "work" : "file/jar",
            environment: ["XDG_DATA_HOME": folder.url.appending(path: "file").path])
        #expect(outcome.status == 2 && outcome.errors.contains("annot be "), "\(outcome.errors)")
        #expect(server.requestCount == 0)
        await server.stop()
    }

    @Test func aSessionThatCannotBeSavedIsAFailure() async throws {
        let locked = folder.url.appending(path: "a.json.lock").path
        mkdir(locked, 0o755)
        let outcome = try await run("/cookies/set?a=1", "--session", "./a.json")
        #expect(outcome.status == 70)
        #expect(outcome.errors.contains("the session was not saved: "), "\(outcome.errors)")
        // The report contains the exit code of the command.
        let failed = try await run("/status/404", "--fail", "--session", "./a.json", "--report", "report")
        #expect(failed.status == 70, "\(failed.errors)")
        let report = try JSONSerialization.jsonObject(with: folder.contents(of: "report")) as? NSDictionary
        #expect(report?["exitCode"] as? Int == 70)
        await server.stop()
    }

    @Test(arguments: [
        (#""headers":[{"name":"X-A","value":"s\necret"}],"cookies":[]"#, 2),
        (#""headers":[{"name":"secret x","value":"secret"}],"cookies":[]"#, 2),
        (#""headers":[],"credential":{"user":"secret","auth":"secret"},"cookies":[]"#, 2),
        (
            #""headers":[],"cookies":[{"name":"a","value":"secret","domain":"127.0.0.1","isHostOnly":true,"path":"/","#
                + #""expires":1e300,"isSecure":false,"isHTTPOnly":false}]"#, 0
        ),
    ])
    func faultyContentIsNotPrinted(members: String, status: Int32) async throws {
        let origin = server.url.absoluteString.trimmingCharacters(in: ["/"])
        try folder.write(#"{"version":1,"origin":"\#(origin)",\#(members)}"#, to: "a.json")
        let outcome = try await run("/cookies/set?a=1", "--session", "./a.json")
        #expect(outcome.status == status)
        #expect(!outcome.errors.contains("ecret"), "\(outcome.errors)")
        await server.stop()
    }

    @Test(arguments: ["{", "[", #"{"headers":["#, #"{"version":99,"origin":"x","headers":[],"cookies":[]}"#, "[]"])
    func aFileThatIsNoSessionIsNotChanged(text: String) async throws {
        try folder.write(text, to: "bad.json")
        let outcome = try await run("/cookies/set?a=1", "--session", "./bad.json")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("bad.json"), "\(outcome.errors)")
        #expect(try folder.contents(of: "bad.json") == Data(text.utf8))
        await server.stop()
    }

    @Test(arguments: ["a/b", "", "work\u{1B}"])
    func invalidNamesAreRejected(name: String) async throws {
        let outcome = try await run("/anything", "--session", name)
        #expect(outcome.status == 2 && outcome.errors.contains("--session"), "\(outcome.errors)")
        await server.stop()
    }

    @Test func missingSessionsAndConflictsAreUsageErrors() async throws {
        let missing = try await run("/anything", "--session-read-only", "work")
        #expect(missing.status == 2 && missing.errors.contains("there is no such session"))
        let conflict = try await run("/anything", "--session", "a", "--cookie-jar", "jar.txt")
        #expect(conflict.status == 2 && conflict.errors.contains("--session can't be combined with --cookie-jar"))
        await server.stop()
    }

    @Test func concurrentProcessesKeepAllCookies() async throws {
        try await withThrowingTaskGroup(of: Tool.Outcome.self) { group in
            for number in 1...12 {
                group.addTask { try await run("/cookies/set?c\(number)=\(number)", "--session", "work") }
            }
            for try await outcome in group { #expect(outcome.status == 0 && outcome.errors == "") }
        }
        let cookies = try headers(await run("/anything", "--session", "work"))["cookie"] ?? ""
        #expect(Set(cookies.split(separator: "; ")) == Set((1...12).map { "c\($0)=\($0)" }))
        let folder = try file("work").deletingLastPathComponent().path
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["work.json"])
        await server.stop()
    }

    @Test func theCurlCommandHasTheSessionsCookies() async throws {
        _ = try await run("/cookies/set?a=1", "--session", "work", "X-Team:blue")
        let outcome = try await run("/anything", "--session", "work", "--curl", "--show-secrets", "X-More:1")
        #expect(outcome.text.contains("'Cookie: a=1'") && outcome.text.contains("'X-Team: blue'"))
        #expect(try !String(contentsOf: file("work"), encoding: .utf8).contains("X-More"))
        await server.stop()
    }
}

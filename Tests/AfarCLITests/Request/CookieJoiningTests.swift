import AfarTestServer
import Foundation
import Testing

/// Cookies of the command line together with those of files, sessions and responses.
@Suite(.timeLimit(.minutes(10))) struct CookieJoiningTests {
    private let folder: ScratchDirectory
    private let server: TestServer

    init() async throws {
        folder = try ScratchDirectory()
        server = try await TestServer.start()
        let lines = ["a", "b"].map { "127.0.0.1\tFALSE\t/\tFALSE\t0\t\($0)\tjar\n" }
        try folder.write("# Netscape HTTP Cookie File\n" + lines.joined(), to: "jar")
    }

    private func run(_ path: String, _ arguments: String...) async throws -> Tool.Outcome {
        try await Tool.run(
            ["get", server.url(path).absoluteString] + arguments, environment: ["XDG_DATA_HOME": folder.url.path],
            directory: folder.url)
    }

    private func cookies(_ arguments: String...) async throws -> [String: String] {
        let outcome = try await Tool.run(
            ["get", server.url("/cookies").absoluteString] + arguments,
            environment: ["XDG_DATA_HOME": folder.url.path], directory: folder.url)
        let request = try #require(server.lastRequest(path: "/cookies"), "\(outcome.errors)")
        #expect(request.headers.fields.count { $0.name.lowercased() == "cookie" } == 1)
        return try #require(outcome.json()["cookies"] as? [String: String], "\(outcome.errors)")
    }

    @Test(arguments: ["-c", "-b"]) func storedCookiesAreSentToo(option: String) async throws {
        let all = ["a": "jar", "b": "jar", "c": "1"]
        #expect(try await cookies(option, "jar", "-b", "c=1") == all)
        #expect(try await cookies(option, "jar", "-H", "Cookie: c=1") == all)
        #expect(try await cookies(option, "jar", "Cookie:c=1") == all)
        await server.stop()
    }

    @Test func theCommandLineReplacesStoredCookies() async throws {
        #expect(try await cookies("-c", "jar", "-b", "a=new; c=1") == ["a": "new", "b": "jar", "c": "1"])
        #expect(try await cookies("-c", "jar") == ["a": "jar", "b": "jar"], "they aren't saved")
        await server.stop()
    }

    @Test func cookiesOfSessionsAreSentToo() async throws {
        #expect(try await run("/cookies/set?a=1", "--session", "s").status == 0)
        #expect(try await cookies("--session", "s", "-b", "b=2") == ["a": "1", "b": "2"])
        #expect(try await cookies("--session", "s", "-b", "a=3") == ["a": "3"])
        #expect(try await cookies("--session", "s") == ["a": "1"])
        let printed = try await run("/cookies", "--session", "s", "-b", "a=3;b=2", "--curl", "--show-secrets")
        #expect(printed.text.contains("-H 'Cookie: a=3;b=2' "), "\(printed.text)")
        await server.stop()
    }

    @Test func cookiesOfRedirectsAreSentToo() async throws {
        server.route("/login") { _ in
            .text("", status: 302).adding("Location", "/cookies").adding("Set-Cookie", "b=2; Path=/")
        }
        let outcome = try await run("/login", "-b", "a=1")
        #expect(try outcome.json()["cookies"] as? [String: String] == ["a": "1", "b": "2"], "\(outcome.text)")
        await server.stop()
    }

    @Test func anotherServerReceivesNone() async throws {
        let other = try await TestServer.start()
        let outcome = try await run("/redirect-to?url=\(other.url("/cookies"))", "-b", "c=1", "-c", "jar")
        #expect(try outcome.json()["cookies"] as? [String: String] == ["a": "jar", "b": "jar"])
        await server.stop()
        await other.stop()
    }

    @Test func aCookieHeaderCanBeRemoved() async throws {
        let outcome = try await run("/cookies", "-c", "jar", "Cookie:")
        #expect(try outcome.json()["header"] as? String == "")
        let printed = try await run("/cookies", "-c", "jar", "Cookie:", "--curl")
        #expect(!printed.text.contains("--cookie jar") && printed.text.contains("--cookie-jar jar"))
        await server.stop()
    }

    @Test func curlSendsTheSameCookies() async throws {
        let printed = try await run("/cookies", "-c", "jar", "-b", "jar", "-b", "c=1", "--curl", "--show-secrets")
        #expect(
            printed.text.contains(" -b c=1 --location --cookie jar --cookie jar --cookie-jar jar "), "\(printed.text)")
        let outcome = try await Tool.bash(printed.text, directory: folder.url)
        #expect(try outcome.json()["cookies"] as? [String: String] == ["a": "jar", "b": "jar", "c": "1"])
        #expect(
            try #require(server.lastRequest(path: "/cookies")).headers.fields.count { $0.name.lowercased() == "cookie" }
                == 1)
        await server.stop()
    }

    @Test func theCacheDistinguishesThem() async throws {
        server.route("/account") { request in
            .text(request.headers["Cookie"] ?? "none").adding("Cache-Control", "max-age=60")
        }
        let cache = folder.url.appending(path: "cache").path
        for name in ["user=ada", "user=eve", "user=ada"] {
            #expect(try await run("/account", "-b", name, "--cache", cache).text == name)
        }
        await server.stop()
    }
}

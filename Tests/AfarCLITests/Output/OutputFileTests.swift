import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct OutputFileTests {
    private let folder: ScratchDirectory
    private let server: TestServer

    init() async throws {
        folder = try ScratchDirectory()
        server = try await TestServer.start()
    }

    private func run(_ arguments: String...) async throws -> Tool.Outcome {
        try await Tool.run(arguments, directory: folder.url)
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try folder.contents(of: name), as: UTF8.self)
    }

    @Test(arguments: ["old", "new"]) func aSignalBeforeTheResponseChangesNothing(name: String) async throws {
        try folder.write("kept", to: "old")
        let silent = try await RawServer.start([.receiveHead, .waitForever])
        let outcome = try await Tool.run([silent.url.absoluteString, "-o", name], directory: folder.url) { process in
            _ = try await silent.head()
            kill(process, SIGINT)
        }
        #expect(outcome.status == -SIGINT)
        #expect(try text("old") == "kept")
        #expect(try folder.names == ["old"])
        await silent.stop()
        await server.stop()
    }

    @Test(arguments: [["-I"], ["--method", "HEAD"], ["--curl"], ["-H", "If-None-Match: *"]])
    func withoutABodyNothingIsChanged(options: [String]) async throws {
        try folder.write("kept", to: "old")
        server.route("/modified") { request in
            request.headers["If-None-Match"] == nil ? .text("new") : ServerResponse(status: 304)
        }
        for name in ["old", "new"] {
            let outcome = try await Tool.run(
                [server.url("/modified").absoluteString, "-o", name] + options, directory: folder.url)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        #expect(try text("old") == "kept")
        #expect(try folder.names == ["old"])
        await server.stop()
    }

    @Test func anEmptyBodyEmptiesTheFile() async throws {
        try folder.write("old", to: "file")
        #expect(try await run(server.url("/bytes/0").absoluteString, "-o", "file").status == 0)
        #expect(try text("file") == "")
        await server.stop()
    }

    @Test func aPartialBodyIsKept() async throws {
        let failing = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"), .close,
        ])
        try folder.write("previous", to: "file")
        #expect(try await run(failing.url.absoluteString, "-o", "file").status == 6)
        #expect(try text("file") == "part")
        await failing.stop()
        await server.stop()
    }

    @Test func aRetryReplacesTheBody() async throws {
        let failing = try await RawServer.start(scripts: [
            [.respond("HTTP/1.1 503 No\r\nContent-Length: 100\r\n\r\n" + String(repeating: "x", count: 100)), .close],
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend"), .close],
        ])
        let outcome = try await run(failing.url.absoluteString, "-o", "file", "--retry", "1", "--retry-delay", "0")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try text("file") == "end")
        await failing.stop()
        await server.stop()
    }

    @Test func aResponseThatIsRetriedIsNotWritten() async throws {
        try folder.write("kept", to: "old")
        let busy = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy"
        let failing = try await RawServer.start(scripts: [
            [.respond(busy), .receiveHead, .close], [.receiveHead, .close],
        ])
        let failed = try await run(failing.url.absoluteString, "--retry", "1", "--retry-delay", "0", "-o", "old")
        #expect(failed.status != 0)
        #expect(try text("old") == "kept")
        await failing.stop()
        await server.stop()
    }

    /// The file of the standard output can have other contents.
    @Test func aRetryReplacesOnlyItsOwnBody() async throws {
        let failing = try await RawServer.start(scripts: [
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"), .close],
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"), .close],
        ])
        try folder.write("first\n", to: "log")
        let line = "\"$afar\" \(failing.url) --retry 1 --retry-delay 0 -o /dev/stdout >> log"
        let outcome = try await Tool.bash(line, directory: folder.url)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try text("log") == "first\ngood")
        await failing.stop()
        await server.stop()
    }

    @Test func linksAndPermissionsAreKept() async throws {
        try folder.write("old", to: "file")
        chmod(folder.url.appending(path: "file").path, 0o640)
        symlink("file", folder.url.appending(path: "link").path)
        symlink("created", folder.url.appending(path: "dangling").path)
        for name in ["link", "dangling"] {
            #expect(try await run(server.url("/bytes/5").absoluteString, "-o", name).status == 0)
        }
        #expect(try folder.contents(of: "file").count == 5)
        #expect(try folder.contents(of: "created").count == 5)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.appending(path: "file").path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        await server.stop()
    }

    @Test func pipesAndDevicesReceiveTheBody() async throws {
        let url = server.url("/json").absoluteString
        let json = try await run("get", url).text
        #expect(try await run(url, "-o", "/dev/null").status == 0)
        // The file isn't opened again, which would remove its contents.
        let shell = try await Tool.bash(
            """
            echo first > out; "$afar" '\(url)' -o /dev/stdout >> out; cat out; echo
            "$afar" '\(url)' -o >(cat > sub; echo done > end); until [ -s end ]; do sleep 0.01; done; cat sub; echo
            mkfifo pipe; "$afar" '\(url)' -m 0 -o pipe & cat pipe; wait $!; echo " $?"
            """, directory: folder.url)
        #expect(shell.text == "first\n\(json)\n\(json)\n\(json) 0\n", "\(shell.errors)")
        await server.stop()
    }

    /// A pipe would receive the beginning of the body twice.
    @Test func aRequestIsNotRetriedAfterAPipeReceivedAPartOfTheBody() async throws {
        let failing = try await RawServer.start(scripts: [
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"), .close],
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"), .close],
        ])
        let retry = ["--retry", "1", "--retry-delay", "0"]
        let outcome = try await Tool.run([failing.url.absoluteString, "-o", "/dev/stdout"] + retry)
        #expect(outcome.status == 6 && outcome.text == "part")
        #expect(
            outcome.errors.contains("not retried") && outcome.errors.contains("received 4 bytes"), "\(outcome.errors)")
        await failing.stop()
        // Without a file, the body is written once it is complete. A device without contents can receive it again.
        let others = try await RawServer.start(
            scripts: Array(
                repeating: [
                    [.respond("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"), .close],
                    [.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"), .close],
                ], count: 2
            ).flatMap(\.self))
        #expect(try await Tool.run([others.url.absoluteString] + retry).text == "good")
        #expect(try await Tool.run([others.url.absoluteString, "-o", "/dev/null"] + retry).status == 0)
        await others.stop()
        await server.stop()
    }

    @Test func anErrorsBodyThatNeverEndsIsNotAwaited() async throws {
        try folder.write("kept", to: "old")
        let endless = try await RawServer.start(
            scripts: Array(
                repeating: [
                    .respond("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n"), .waitForever,
                ],
                count: 2))
        for options in [["-o", "old"], []] {
            let outcome = try await Tool.run(
                [endless.url.absoluteString, "--fail", "-w", "%{http_code}"] + options, directory: folder.url)
            #expect(outcome.status == 4 && outcome.text == "404", "\(outcome.errors)")
            #expect(outcome.errors.contains("404 Not Found"), "\(outcome.errors)")
        }
        #expect(try text("old") == "kept")
        await endless.stop()
        await server.stop()
    }

    @Test func anArchiveContainsTheErrorsBody() async throws {
        server.route("/absent") { _ in ServerResponse(status: 404, body: Data("absent".utf8)) }
        let outcome = try await run(server.url("/absent").absoluteString, "--fail", "--har", "archive")
        #expect(outcome.status == 4 && outcome.text == "", "\(outcome.errors)")
        #expect(try text("archive").contains("\"text\" : \"absent\""))
        await server.stop()
    }

    @Test func theTimeLimitEndsTheWaitForAPipesReader() async throws {
        mkfifo(folder.url.appending(path: "pipe").path, 0o600)
        let outcome = try await run(server.url("/bytes/5").absoluteString, "-o", "pipe", "-m", "1")
        #expect(outcome.status == 5, "\(outcome.errors)")
        await server.stop()
    }

    @Test func aSignalEndsTheWaitForAPipesReader() async throws {
        mkfifo(folder.url.appending(path: "pipe").path, 0o600)
        let raw = try await RawServer.start([.respond("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .waitForever])
        let outcome = try await Tool.run([raw.url.absoluteString, "-o", "pipe"], directory: folder.url) { process in
            _ = try await raw.head()
            kill(process, SIGINT)
        }
        #expect(outcome.status == -SIGINT)
        await raw.stop()
        await server.stop()
    }

    @Test(arguments: [
        (".", "is a directory"), ("file/x", "not a directory"), ("no/x", "no such file"), ("", "no such file"),
        ("/dev/fd/99", "bad file descriptor"),
    ])
    func unusablePathsFailBeforeTheRequest(path: String, reason: String) async throws {
        try folder.write("", to: "file")
        let outcome = try await run(server.url("/bytes/5").absoluteString, "-o", path)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("--output \(path): \(reason)"), "\(outcome.errors)")
        #expect(server.requestCount == 0)
        await server.stop()
    }

    @Test(.enabled(if: geteuid() != 0, "Root can write any file."))
    func aReadOnlyFileFailsBeforeTheRequest() async throws {
        try folder.write("kept", to: "file")
        chmod(folder.url.appending(path: "file").path, 0o400)
        let outcome = try await run(server.url("/bytes/5").absoluteString, "-o", "file")
        #expect(outcome.status == 2 && outcome.errors.contains("permission denied"), "\(outcome.errors)")
        #expect(server.requestCount == 0)
        await server.stop()
    }
}

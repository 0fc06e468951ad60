import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The requests and messages of `afar upload`.
struct UploadTests {
    private let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private func upload(_ arguments: String..., input: Data? = nil) async throws -> Tool.Outcome {
        try await Tool.run(["upload"] + arguments, input: input, directory: directory.url)
    }

    @Test(arguments: ["afar", "urlsession"])
    func aFileArrivesCompletely(transport: String) async throws {
        let server = try await TestServer.start()
        let bytes = PatternBytes.bytes(3_000_000)
        try bytes.write(to: directory.url.appending(path: "archive.tar.gz"))
        let outcome = try await upload(
            server.url("/upload").absoluteString, "--file", "archive.tar.gz", "--transport", transport)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors == "")
        let receipt = try outcome.json()
        #expect(receipt["bytes"] as? Int == bytes.count)
        #expect(receipt["checksum"] as? String == BodyChecksum(bytes).hex)
        #expect(receipt["contentType"] as? String == "application/gzip")
        let request = try #require(server.lastRequest(path: "/upload"))
        #expect(request.method == "POST")
        #expect(request.headers["Content-Length"] == "3000000")
    }

    @Test func methodTypeHeadersAndOutputCanBeSet() async throws {
        let server = try await TestServer.start()
        try directory.write("# A note", to: "note.md")
        let outcome = try await upload(
            server.url("/anything").absoluteString, "--file", "note.md", "--method", "put", "--type", "text/x-note",
            "-H", "X-One: 1", "--query", "a=b", "-i", "-v", "--timing")
        #expect(outcome.text.hasPrefix("HTTP/1.1 200 OK\n"))
        #expect(outcome.errors.contains("> PUT /anything?a=b HTTP/1.1\n"))
        #expect(outcome.errors.contains("> Content-Length: 8\n>\n# A note\n"))
        #expect(outcome.errors.contains("  Total "))
        let request = try #require(server.lastRequest(path: "/anything"))
        #expect(request.method == "PUT")
        #expect(request.headers["Content-Type"] == "text/x-note")
        #expect(request.headers["X-One"] == "1")
        #expect(request.text == "# A note")
        _ = try await upload(
            server.url("/anything").absoluteString, "--file", "note.md", "-H", "content-type: text/own")
        #expect(server.lastRequest(path: "/anything")?.headers["Content-Type"] == "text/own")
    }

    @Test func theStandardInputIsStreamed() async throws {
        let server = try await TestServer.start()
        let url = server.url("/anything").absoluteString
        let outcome = try await upload(url, "--file", "-", input: Data("piped".utf8))
        #expect(outcome.status == 0, "\(outcome.errors)")
        let piped = try #require(server.lastRequest(path: "/anything"))
        #expect(piped.text == "piped")
        #expect(piped.headers["Transfer-Encoding"] == "chunked")
        #expect(piped.headers["Content-Type"] == "application/octet-stream")
        // The announced length of a redirected file excludes bytes that have already been read.
        try directory.write("first\nrest", to: "input")
        let redirected = try await Tool.bash(
            "{ read -r line; \"$afar\" upload '\(url)' --file - --type text/plain; } < input", directory: directory.url)
        #expect(redirected.status == 0, "\(redirected.errors)")
        let rest = try #require(server.lastRequest(path: "/anything"))
        #expect("first\nrest".hasSuffix(rest.text ?? "?"))
        #expect(rest.headers["Content-Length"] == "\(rest.bodyLength)")
        // Process substitution creates a named pipe.
        let named = try await Tool.bash("\"$afar\" upload '\(url)' --file <(echo named)")
        #expect(named.status == 0, "\(named.errors)")
        #expect(server.lastRequest(path: "/anything")?.text == "named\n")
    }

    @Test(
        .enabled(if: ProcessMemory.isMeasurable),
        arguments: ["--file big", "--file - < big", "--file - < <(cat big)", "--part f=@big"])
    func filesAreNotLoadedIntoMemory(arguments: String) async throws {
        let server = try await TestServer.start()
        let process = Deferred<Int32>()
        let peak = Locked(0)
        server.route("/measure") { request in
            let bytes = try ProcessMemory.peak(of: await process.value)
            peak.withLock { $0 = bytes }
            return .text("\(request.bodyLength)")
        }
        let file = directory.url.appending(path: "big")
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        try FileHandle(forWritingTo: file).truncate(atOffset: 120_000_000)
        let outcome = try await Tool.bash(
            "exec \"$afar\" upload '\(server.url("/measure"))' \(arguments)",
            environment: ["TMPDIR": directory.url.path], directory: directory.url
        ) { id in process.fulfill(id) }
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(Int(outcome.text).map { $0 >= 120_000_000 } == true)
        #expect((1..<90_000_000).contains(peak.withLock { $0 }))
        try #expect(directory.names == ["big"])
    }

    // MARK: Forms

    /// Returns the lines of the form that the server received, with the boundary replaced by `BOUNDARY`.
    private func form(_ server: TestServer) throws -> [String] {
        let request = try #require(server.lastRequest(path: "/anything"))
        let type = try #require(request.headers["Content-Type"])
        let boundary = try #require(type.split(separator: "boundary=").last)
        #expect(type.hasPrefix("multipart/form-data; "))
        return try #require(request.text).replacing(boundary, with: "BOUNDARY").components(separatedBy: "\r\n")
    }

    @Test func partsAreFieldsAndFiles() async throws {
        let server = try await TestServer.start()
        try directory.write("picture", to: "a.png")
        try directory.write("note", to: "b")
        let outcome = try await upload(
            server.url("/anything").absoluteString, "--part", "name=Ada; & Co", "--part", "picture=@a.png", "--part",
            "other=@b;type=text/x-note;filename=c.txt")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            try form(server) == [
                "--BOUNDARY", #"Content-Disposition: form-data; name="name""#, "", "Ada; & Co",
                "--BOUNDARY", #"Content-Disposition: form-data; name="picture"; filename="a.png""#,
                "Content-Type: image/png", "", "picture",
                "--BOUNDARY", #"Content-Disposition: form-data; name="other"; filename="c.txt""#,
                "Content-Type: text/x-note", "", "note",
                "--BOUNDARY--", "",
            ])
    }

    @Test func curlSendsTheSame() async throws {
        let server = try await TestServer.start()
        let url = server.url("/anything").absoluteString
        try directory.write("it's", to: "it's;a.png")
        let parts = ["--part", "name=it's; x", "--part", #"file=@"it's;a.png""#]
        _ = try await Tool.run(["upload", url] + parts, directory: directory.url)
        let wanted = try form(server).sorted()
        let printed = try await Tool.run(["upload", url, "--curl"] + parts.dropFirst(2), directory: directory.url)
        #expect(server.requestCount == 1)
        let outcome = try await Tool.bash(printed.text, directory: directory.url)
        #expect(outcome.status == 0, "\(printed.text)\n\(outcome.errors)")
        #expect(try form(server).allSatisfy { wanted.contains($0) })
        #expect(server.requestCount == 2)

        for (arguments, input) in [("--file 'it'\\''s;a.png'", ""), ("--file - --method PUT", "printf piped | ")] {
            let sent = try await Tool.bash("\(input)\"$afar\" upload '\(url)' \(arguments)", directory: directory.url)
            #expect(sent.status == 0, "\(sent.errors)")
            let wanted = try #require(server.lastRequest(path: "/anything"))
            let printed = try await Tool.bash(
                "\"$afar\" upload '\(url)' \(arguments) --curl", directory: directory.url)
            let outcome = try await Tool.bash(input + printed.text, directory: directory.url)
            #expect(outcome.status == 0, "\(printed.text)\n\(outcome.errors)")
            let request = try #require(server.lastRequest(path: "/anything"))
            #expect(request.body == wanted.body)
            #expect(request.method == wanted.method)
            #expect(request.headers["Content-Type"] == wanted.headers["Content-Type"])
        }
        #expect(server.requestCount == 6)
    }

    // MARK: Errors

    @Test(arguments: [
        [], ["--file", "no/such"], ["--file", "."], ["--file", "note", "--part", "a=b"], ["--part", "a"],
        ["--part", "a=@no/such"], ["--file", "note", "--method", "GET"], ["--file", "note", "--method", "a b"],
        ["--part", "a=b", "--type", "x/y"], ["--part", "a=b", "-H", "Content-Type: x/y"],
        ["--file", "note", "--type", "x/y", "-H", "Content-Type: x/y"], ["--file", "note", "--type", "x\n"],
    ])
    func badUsageSendsNothing(arguments: [String]) async throws {
        let server = try await TestServer.start()
        try directory.write("note", to: "note")
        let outcome = try await Tool.run(
            ["upload", server.url.absoluteString] + arguments, directory: directory.url)
        #expect(outcome.status == 2, "\(outcome.errors)")
        #expect(outcome.errors.hasPrefix("afar: "))
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(server.requestCount == 0)
    }

    @Test func aRefusedConnectionAndAStatusHaveExitCodes() async throws {
        try directory.write("note", to: "note")
        let closed = try ClosedPort()
        #expect(try await upload(closed.url.absoluteString, "--file", "note").status == 3)
        let server = try await TestServer.start()
        let refused = try await upload(server.url("/status/413").absoluteString, "--file", "note", "--check-status")
        #expect(refused.status == 4)
        #expect(refused.text.hasPrefix("413 "))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func anInterruptionRemovesTheFormAndSetsTheExitStatus(signal: Int32) async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let file = directory.url.appending(path: "big")
        try Data(count: 30_000_000).write(to: file)
        let scratch = try ScratchDirectory()
        let outcome = try await Tool.run(
            ["upload", server.url.absoluteString, "--part", "f=@big"],
            environment: ["TMPDIR": scratch.url.path], directory: directory.url
        ) { process in
            try await server.head()
            #expect(try !scratch.names.isEmpty)
            kill(process, signal)
        }
        #expect(outcome.status == -signal)
        #expect(try scratch.names == [])
    }

    @Test func anInterruptionEndsAnUploadThatWaitsForItsInput() async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        // A named pipe never ends while it's open for writing.
        let outcome = try await Tool.bash(
            "mkfifo in; exec \"$afar\" upload '\(server.url)' --file - 0<> in", directory: directory.url
        ) { process in
            try await server.head()
            kill(process, SIGINT)
        }
        #expect(outcome.status == -SIGINT)
    }

    // MARK: Progress

    @Test func progressIsShownOnlyOnTerminals() async throws {
        let server = try await TestServer.start()
        try Data(count: 2_000_000).write(to: directory.url.appending(path: "two"))
        let arguments = ["upload", server.url("/upload").absoluteString, "--file", "two"]
        let shown = try await Tool.runWithErrorsOnTerminal(
            arguments[0], arguments[1], arguments[2], arguments[3], "--color", "never", columns: 70,
            directory: directory.url)
        #expect(try shown.json()["bytes"] as? Int == 2_000_000)
        let last = try #require(Screen.text(shown.errors).split(separator: "\n").last)
        #expect(last.contains("100%   2.0 MB"))
        #expect(try await upload(arguments[1], "--file", "two").errors == "")
        #expect(try await upload(arguments[1], "--file", "two", "--progress").errors.contains("100%"))
        let piped = try await upload(
            arguments[1], "--file", "-", "--progress", "--color", "never", input: Data(count: 50_000))
        #expect(piped.errors.contains("50.0 kB"))
    }
}

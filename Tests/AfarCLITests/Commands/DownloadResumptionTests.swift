import AfarCore
import AfarTestServer
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

/// Tests for `afar download --resume`.
struct DownloadResumptionTests {
    private static let letters = "abcdefghijklmnopqrstuvwxyz"
    private static let start: [RawServer.Step] = [
        .respond("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 26\r\n\r\n" + letters.prefix(10)), .close,
    ]
    private static let rest =
        "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 10-25/26\r\nContent-Length: 16\r\n\r\n"
        + letters.dropFirst(10)
    private let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private func resume(_ url: String, _ arguments: String...) async throws -> Tool.Outcome {
        try await Tool.run(["download", url, "--resume"] + arguments, directory: directory.url)
    }

    /// Returns the contents of the partial file of an interrupted download.
    private func part(_ name: String) throws -> Data? {
        let part = directory.url.appending(path: name + ".part")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: part.path)) ?? []
        return try names.first { $0.hasPrefix("afar-") }
            .map { try Data(contentsOf: part.appending(path: $0).appending(path: "download")) }
    }

    @Test(arguments: ["afar", "urlsession"])
    func theNextRunResumesTheDownload(transport: String) async throws {
        let server = try await RawServer.start(scripts: [Self.start, [.respond(Self.rest)]])
        let url = server.url.absoluteString + "letters"
        let broken = try await resume(url, "--transport", transport)
        #expect(broken.status == 6)
        #expect(broken.errors.contains("letters.part. Run the same command again to continue."))
        try #expect(directory.names == ["letters.part"])
        #expect(ResumableDownloadDirectory.exists(at: directory.url.appending(path: "letters.part").path))
        #expect(try part("letters") == Data(Self.letters.prefix(10).utf8))
        let whole = try await resume(url, "--transport", transport)
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(whole.text == "letters\n")
        #expect(whole.errors == "afar: Resumed at 10 bytes of 26 bytes.\n")
        try #expect(directory.names == ["letters"])
        #expect(try directory.contents(of: "letters") == Data(Self.letters.utf8))
        #expect(server.requests.last?.lowercased().contains("\r\nrange: bytes=10-\r\n") == true)
    }

    @Test(.timeLimit(.minutes(10)))
    func aDownloadSurvivesTwentyKills() async throws {
        let size = 3_000_000
        let bytes = PseudoRandomBytes.bytes(80, seed: 1)
        let places = (0..<20).map { index in
            1 + bytes.dropFirst(index * 4).prefix(4).reduce(0) { $0 << 8 | Int($1) } % (size - 1)
        }.sorted()
        let server = try await TestServer.start()
        let stalls = places.map { "\($0)" }.joined(separator: ",")
        let url = server.url("/range/\(size)?seed=1&stalls=\(stalls)").absoluteString
        let part = directory.url.appending(path: "whole.part")
        for place in Set(places).sorted() {
            let outcome = try await Tool.run(
                ["download", url, "--resume", "-o", "whole"], directory: directory.url, waitsInLine: false
            ) { process in
                // Data that has been written to the file survives the kill.
                try await Self.arrival(of: place, in: part, by: process)
                kill(process, SIGKILL)
            }
            #expect(outcome.status == -SIGKILL, "\(outcome.errors)")
            try #expect(directory.names == ["whole.part"])
        }
        let outcome = try await resume(url, "-o", "whole")
        #expect(outcome.text == "whole\n", "\(outcome.errors)")
        #expect(outcome.errors.hasPrefix("afar: Resumed at "))
        try #expect(directory.names == ["whole"])
        #expect(try directory.contents(of: "whole") == PseudoRandomBytes.bytes(size, seed: 1))
        #expect(server.requestCount == Set(places).count + 1)
    }

    /// Another program's partial file can't be continued.
    @Test func anExistingFileIsExplained() throws {
        try directory.write("part", to: "file")
        for (options, isExplained) in [([], false), (["--resume"], true)] {
            let options = try FileOptions.parse(options + ["-o", directory.url.appending(path: "file").path])
            let failure = try #require(throws: Failure.self) { try DownloadTarget(options, url: "http://x/") }
            #expect(failure.status == .usage && failure.message.contains("already exists. Replace it with --force"))
            #expect(failure.message.contains("Only a download that was started with --resume") == isExplained)
        }
    }

    private struct Ended: Error {}

    /// Returns when `count` bytes have been written. No event signals this, so the method polls.
    private static func arrival(of count: Int, in part: URL, by process: Int32) async throws {
        while size(in: part) < count {
            guard kill(process, 0) == 0 else { throw Ended() }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private static func size(in part: URL) -> Int {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: part.path),
            names.contains("resume"), let name = names.first(where: { $0.hasPrefix("afar-") })
        else { return 0 }
        var status = stat()
        guard lstat(part.appending(path: name).appending(path: "download").path, &status) == 0 else { return 0 }
        return Int(status.st_size)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func anInterruptionKeepsThePart(signal: Int32) async throws {
        let server = try await TestServer.start()
        let url = server.url("/range/100000?stalls=40000").absoluteString
        let part = directory.url.appending(path: "100000.part")
        let outcome = try await Tool.run(["download", url, "--resume"], directory: directory.url) { process in
            try await Self.arrival(of: 40_000, in: part, by: process)
            kill(process, signal)
        }
        #expect(outcome.status == -signal)
        try #expect(directory.names == ["100000.part"])
        let whole = try await resume(url)
        #expect(whole.errors == "afar: Resumed at 40.0 kB of 100 kB.\n")
        #expect(try directory.contents(of: "100000") == PatternBytes.bytes(100_000))
    }

    @Test(arguments: [("v2", "the file has changed on the server"), ("v1", "the server doesn't support ranges")])
    func aRestartIsReportedWithItsReason(tag: String, reason: String) async throws {
        let whole = "HTTP/1.1 200 OK\r\nETag: \"\(tag)\"\r\nContent-Length: 5\r\n\r\nwhole"
        let server = try await RawServer.start(scripts: [Self.start, [.respond(whole)]])
        let url = server.url.absoluteString + "x"
        #expect(try await resume(url).status == 6)
        let outcome = try await resume(url)
        #expect(outcome.text == "x\n")
        #expect(outcome.errors == "afar: Started over: \(reason).\n")
        #expect(try directory.contents(of: "x") == Data("whole".utf8))
        try #expect(directory.names == ["x"])
    }

    @Test func anotherServerRestartsTheDownload() async throws {
        let one = try await RawServer.start(scripts: [Self.start])
        let whole = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 5\r\n\r\nwhole"
        let other = try await RawServer.start(scripts: [[.respond(Self.rest), .close], [.respond(whole)]])
        let server = try await RawServer.start(
            scripts: [one, other, other].map { place in
                [.respond("HTTP/1.1 302 Found\r\nLocation: \(place.url)x\r\nContent-Length: 0\r\n\r\n"), .close]
            })
        let url = server.url.absoluteString + "x"
        #expect(try await resume(url).status == 6)
        let outcome = try await resume(url)
        #expect(outcome.text == "x\n")
        #expect(outcome.errors == "afar: Started over: the file now comes from another server.\n")
        #expect(try directory.contents(of: "x") == Data("whole".utf8))
    }

    @Test func anErrorKeepsThePartialFile() async throws {
        let server = try await RawServer.start(scripts: [
            Self.start, [.respond("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy")],
            [.respond(Self.rest)],
        ])
        let url = server.url.absoluteString + "x"
        #expect(try await resume(url).status == 6)
        let refused = try await resume(url)
        #expect(refused.status == 4)
        #expect(refused.errors.contains("x.part"))
        #expect(try part("x") == Data(Self.letters.prefix(10).utf8))
        #expect(try await resume(url).text == "x\n")
        #expect(try directory.contents(of: "x") == Data(Self.letters.utf8))
    }

    @Test func withoutResumeDataNoPartialFileRemains() async throws {
        let server = try await RawServer.start(scripts: [
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\nabc"), .close],
            [.respond("HTTP/1.1 404 Not Found\r\nETag: \"x\"\r\nContent-Length: 4\r\n\r\nnone")],
        ])
        let url = server.url.absoluteString + "x"
        let broken = try await resume(url)
        #expect(broken.status == 6)
        #expect(broken.errors.hasPrefix("afar: Cannot be resumed: "))
        try #expect(directory.names == [])
        #expect(try await resume(url).status == 4)
        try #expect(directory.names == [])
    }

    @Test func secretsAreNotStoredAndAreResent() async throws {
        let server = try await RawServer.start(scripts: [Self.start, [.respond(Self.rest)]])
        let url = "http://ada:wonder@127.0.0.1:\(server.port)/x?token=wonder"
        #expect(try await resume(url, "-H", "X-Token: hush").status == 6)
        let record = try String(
            contentsOf: directory.url.appending(path: "x.part/resume"), encoding: .utf8)
        #expect(record.hasPrefix("AfarResumeData/1 "))
        #expect(!record.contains("hush") && !record.contains("wonder"))
        #expect(try await resume(url, "-H", "X-Token: hush").text == "x\n")
        let head = try #require(server.requests.last)
        #expect(head.hasPrefix("GET /x?token=wonder "))
        #expect(head.contains("X-Token: hush") && head.contains("Authorization: Basic "))
    }

    @Test func aURLWithANewSignatureResumes() async throws {
        let server = try await RawServer.start(scripts: [Self.start, [.respond(Self.rest)]])
        let url = server.url.absoluteString + "x?a=1&signature="
        #expect(try await resume(url + "one").status == 6)
        let other = try await resume(url.replacing("a=1", with: "a=2") + "two")
        #expect(other.errors.contains("x.part contains a partial download of \(url)***. Remove it"))
        #expect(try await resume(url + "two").text == "x\n")
        #expect(server.requests.last?.hasPrefix("GET /x?a=1&signature=two ") == true)
        #expect(try directory.contents(of: "x") == Data(Self.letters.utf8))
    }

    @Test func thePartialFileOfAnotherDownloadIsKept() async throws {
        let server = try await RawServer.start(scripts: [Self.start, [.respond(Self.rest)]])
        let url = server.url.absoluteString
        #expect(try await resume(url + "a/x").status == 6)
        let other = try await resume(url + "b/x")
        #expect(other.status == 2)
        #expect(other.errors.contains("x.part contains a partial download of \(url)a/x"))
        #expect(try part("x") == Data(Self.letters.prefix(10).utf8))
    }

    @Test func twoRunsDoNotShareAPartialFile() async throws {
        let server = try await TestServer.start()
        let url = server.url("/range/1000?stalls=400").absoluteString
        let part = directory.url.appending(path: "1000.part")
        let directory = directory
        _ = try await Tool.run(["download", url, "--resume"], directory: directory.url) { process in
            try await Self.arrival(of: 400, in: part, by: process)
            let second = try await Tool.run(
                ["download", url, "--resume"], directory: directory.url, waitsInLine: false)
            #expect(second.status == 2)
            #expect(second.errors.contains("Another afar process is using 1000.part"))
            kill(process, SIGKILL)
        }
        #expect(try await resume(url).text == "1000\n")
    }

    /// Interrupts a download of "x", changes the partial file, and runs the tool again.
    private func changed(
        _ change: (URL) throws -> Void
    ) async throws -> (outcome: Tool.Outcome, server: RawServer, part: URL) {
        let server = try await RawServer.start(scripts: [Self.start, [.respond(Self.rest)]])
        let url = server.url.absoluteString + "x"
        #expect(try await resume(url).status == 6)
        let part = directory.url.appending(path: "x.part")
        try change(part)
        return (try await resume(url), server, part)
    }

    private static func make(_ files: String..., in directory: URL) throws {
        for file in files.map({ directory.appending(path: $0) }) {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("precious".utf8).write(to: file)
        }
    }

    private func isPrecious(_ file: String) -> Bool {
        (try? directory.contents(of: file)) == Data("precious".utf8)
    }

    @Test(arguments: [0o770, 0o702])
    func aPartialFileWritableByOthersIsRejected(permissions: Int) async throws {
        let (outcome, server, _) = try await changed { part in
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: part.path)
        }
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("Other users can write to x.part"))
        try #expect(directory.names == ["x.part"])
        #expect(try part("x") == Data(Self.letters.prefix(10).utf8))
        #expect(server.requests.count == 1)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can change the owner of a file"))
    func aPartialFileOfAnotherUserIsRejected() async throws {
        let (outcome, server, _) = try await changed { part in #expect(chown(part.path, 65_534, 65_534) == 0) }
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("x.part belongs to another user"))
        try #expect(directory.names == ["x.part"])
        #expect(server.requests.count == 1)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can change the owner of a file"), arguments: ["", "/download"])
    func aFileOfAnotherUserIsNotResumed(file: String) async throws {
        let (outcome, server, _) = try await changed { part in
            let name = try #require(try Self.arrivalDirectory(in: part))
            #expect(chown(part.path + "/" + name + file, 65_534, 65_534) == 0)
        }
        // The server sends only the remaining bytes, although the tool requests the whole file.
        #expect(outcome.status == 6, "\(outcome.errors)")
        #expect(server.requests.last?.lowercased().contains("range:") == false)
    }

    private static func arrivalDirectory(in part: URL) throws -> String? {
        try FileManager.default.contentsOfDirectory(atPath: part.path).first { $0.hasPrefix("afar-") }
    }

    @Test func aSymbolicLinkIsNotADirectory() async throws {
        let (outcome, server, _) = try await changed { part in
            let elsewhere = directory.url.appending(path: "elsewhere")
            try FileManager.default.moveItem(at: part, to: elsewhere)
            try FileManager.default.createSymbolicLink(at: part, withDestinationURL: elsewhere)
        }
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("x.part already exists and isn't a directory"))
        #expect(server.requests.count == 1)
    }

    @Test func onlyTheToolsOwnFilesAreRemoved() async throws {
        let (outcome, _, part) = try await changed { part in
            try Self.make("notes/a", "b", "afar-other/deep/c", "afar-other/d", "afar-file", in: part)
            try Self.make("afar-left/download", in: part)
            try Self.make("outside/download", in: directory.url)
            try FileManager.default.createSymbolicLink(
                at: part.appending(path: "afar-link"), withDestinationURL: directory.url.appending(path: "outside"))
        }
        #expect(outcome.text == "x\n", "\(outcome.errors)")
        #expect(try directory.contents(of: "x") == Data(Self.letters.utf8))
        for file in ["notes/a", "b", "afar-other/deep/c", "afar-other/d", "afar-file"] {
            #expect(isPrecious("x.part/" + file))
        }
        #expect(isPrecious("outside/download"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: part.path).sorted()
                == ["afar-file", "afar-link", "afar-other", "b", "notes"])
    }

    @Test func aFileThatReplacesThePartialFileIsKept() async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 26\r\n\r\n" + Self.letters.prefix(10)),
            .hold(gate), .send(String(Self.letters.dropFirst(10))),
        ])
        let part = directory.url.appending(path: "x.part")
        let directory = directory
        let outcome = try await Tool.run(
            ["download", server.url.absoluteString + "x", "--resume"], directory: directory.url
        ) { process in
            try await Self.arrival(of: 10, in: part, by: process)
            let name = try #require(try Self.arrivalDirectory(in: part))
            try FileManager.default.moveItem(at: part, to: directory.url.appending(path: "moved.part"))
            try Self.make("\(name)/download", "resume", in: part)
            gate.open()
        }
        #expect(outcome.text == "x\n", "\(outcome.errors)")
        #expect(try directory.contents(of: "x") == Data(Self.letters.utf8))
        #expect(isPrecious("x.part/resume"))
        #expect(try self.part("x") == Data("precious".utf8))
    }

    @Test func aMovedDirectoryIsFound() async throws {
        let server = try await RawServer.start(scripts: [Self.start, [.respond(Self.rest)]])
        let url = server.url.absoluteString + "x"
        #expect(try await resume(url).status == 6)
        try FileManager.default.moveItem(
            at: directory.url.appending(path: "x.part"), to: directory.url.appending(path: "y.part"))
        #expect(try await resume(url, "-o", "y").text == "y\n")
        #expect(try directory.contents(of: "y") == Data(Self.letters.utf8))
    }

    @Test func progressStartsAtTheResumeOffset() async throws {
        let server = try await TestServer.start()
        let url = server.url("/range/100000?cuts=40000").absoluteString
        #expect(try await resume(url).status == 6)
        let outcome = try await Tool.runWithErrorsOnTerminal(
            "download", url, "--resume", "--color", "never", environment: ["LC_ALL": "C.UTF-8"],
            directory: directory.url)
        #expect(outcome.text == "100000\n")
        let screen = Screen.text(outcome.errors).split(separator: "\n")
        #expect(screen.first?.hasPrefix("afar: Resumed at 40.0 kB of 100 kB.") == true)
        #expect(screen.last?.contains("100%   100 kB") == true, "\(screen)")
        let percentages = outcome.errors.matches(of: /(\d+)%/).compactMap { Int($0.1) }
        #expect(percentages.allSatisfy { $0 >= 40 }, "\(percentages)")
    }

    @Test func theCurlCommandResumesToo() async throws {
        let outcome = try await resume("http://localhost/x", "--curl")
        #expect(outcome.text.contains(" --continue-at - "))
        try #expect(directory.names == [])
    }
}

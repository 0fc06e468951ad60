import Afar
import AfarResumableUploads
import AfarTransport
import Foundation
import TestServers
import Testing

/// Uploads that other sessions and processes resume from a record.
@Suite(.timeLimit(.minutes(2))) struct RecordTests {
    private static let unavailable = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"

    /// Starts an upload that fails after a number of bytes, and leaves a record.
    private static func interrupt(
        _ file: URL, _ folder: TestFolder, to server: UploadServer, after count: Int64 = 100_000,
        url: URL? = nil, protocol uploadProtocol: ResumableUploadProtocol = .tus
    ) async throws {
        server.state.withLock { state in
            state.cuts = [count]
            state.answer = { request, _ in request.method == "HEAD" ? .send(Self.unavailable, closes: false) : nil }
        }
        let error = await skippingSession().uploadResumable(
            file, to: url ?? server.url(), protocol: uploadProtocol, headers: ["Authorization": "Bearer secret"],
            options: ResumableUploadOptions(record: folder.record)
        ).result.uploadError
        guard case .rejected(method: "HEAD", status: 403, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        server.state.withLock { $0.answer = nil }
    }

    @Test(arguments: [ResumableUploadProtocol.tus, .draft(.v6), .draft(.latest)])
    func aLaterUploadResumes(_ uploadProtocol: ResumableUploadProtocol) async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, data) = try folder.file(300_000)
        try await Self.interrupt(file, folder, to: server, protocol: uploadProtocol)
        let count = server.log.count
        _ = try await skippingSession().uploadResumable(
            file, to: server.url(), protocol: uploadProtocol, options: ResumableUploadOptions(record: folder.record)
        ).value
        #expect(server.content == data)
        #expect(Array(server.log[count...]) == ["HEAD /files/1", "PATCH /files/1"])
        #expect(server.requests.last?["Upload-Offset"] == "100000")
        // The record and its lock are removed.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["file-1"])
    }

    @Test func theRecordIsPrivateAndHasNoCredentials() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, _) = try folder.file(300_000)
        let url = URL(string: "http://me:hidden@127.0.0.1:\(server.port)/files?token=abc")
        try await Self.interrupt(file, folder, to: server, url: url)
        let text = try String(contentsOf: folder.record, encoding: .utf8)
        #expect(text.contains("/files/1"))
        for secret in ["hidden", "secret", "me:", "abc", "Bearer"] { #expect(!text.contains(secret)) }
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.record.path)
        #expect(attributes[.posixPermissions] as? NSNumber == 0o600)
        #expect(server.requests.contains { $0.method == "PATCH" })
    }

    @Test func aChangedFileIsRefused() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, data) = try folder.file(300_000)
        try await Self.interrupt(file, folder, to: server)
        let count = server.log.count
        let changes: [() throws -> Void] = [
            { try (data + Data([1])).write(to: file) },
            {
                // The same size and content in another file.
                try FileManager.default.removeItem(at: file)
                try data.write(to: file)
            },
            {
                let handle = try FileHandle(forWritingTo: file)
                try handle.write(contentsOf: Data([data[0] ^ 1]))
                try handle.close()
            },
        ]
        for change in changes {
            try change()
            let error = await skippingSession().uploadResumable(
                file, to: server.url(), protocol: .tus, options: ResumableUploadOptions(record: folder.record)
            ).result.uploadError
            guard case .fileChanged = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(server.log.count == count)
    }

    @Test func nanosecondsOfTheModificationTimeCount() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, _) = try folder.file(300_000)
        try await Self.interrupt(file, folder, to: server)
        var status = stat()
        #expect(stat(file.path, &status) == 0)
        var time = status.st_mtim
        time.tv_nsec = time.tv_nsec == 0 ? 1 : time.tv_nsec - 1
        let times = [time, time]
        #expect(utimensat(AT_FDCWD, file.path, times, 0) == 0)
        let error = await skippingSession().uploadResumable(
            file, to: server.url(), protocol: .tus, options: ResumableUploadOptions(record: folder.record)
        ).result.uploadError
        guard case .fileChanged = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aFileThatChangesWhileItIsSentIsAnError() async throws {
        let folder = try TestFolder()
        let (file, _) = try folder.file(300_000)
        let server = try UploadServer { state in
            state.cuts = [100_000]
            state.answer = { request, _ in
                guard request.method == "HEAD", let handle = try? FileHandle(forWritingTo: file) else { return nil }
                try? handle.truncate(atOffset: 200_000)
                return nil
            }
        }
        defer { server.stop() }
        let error = await skippingSession().uploadResumable(file, to: server.url(), protocol: .tus).result.uploadError
        guard case .fileChanged = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// Otherwise, the server would keep an upload whose URL is lost.
    @Test func nothingIsCreatedIfTheRecordCannotBeWritten() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, _) = try folder.file(1_000)
        // The name is too long for the temporary file that replaces the record.
        let record = folder.url.appending(path: String(repeating: "r", count: 245))
        let error = await skippingSession().uploadResumable(
            file, to: server.url(), protocol: .tus, options: ResumableUploadOptions(record: record)
        ).result.uploadError
        guard case .recordInaccessible = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.log.isEmpty)
    }

    @Test func aRecordWithoutAnUploadIsRemoved() async throws {
        let server = try UploadServer { state in
            state.answer = { _, _ in .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", closes: false) }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(1_000)
        let result = await skippingSession().uploadResumable(
            file, to: server.url(), protocol: .tus, options: ResumableUploadOptions(record: folder.record)
        ).result
        #expect(result.uploadError != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["file-1"])
    }

    @Test func aSecondUploadWithTheRecordIsRefused() async throws {
        let reached = AsyncStream<Void>.makeStream()
        let server = try UploadServer { state in
            state.answer = { request, _ in
                guard request.method == "PATCH" else { return nil }
                reached.continuation.yield()
                return .send("HTTP/1.1 503 Unavailable\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n", closes: false)
            }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(1_000)
        let first = Session().uploadResumable(
            file, to: server.url(), protocol: .tus, options: ResumableUploadOptions(record: folder.record)
        ).resume()
        for await _ in reached.stream { break }
        let error = await skippingSession().uploadResumable(
            file, to: server.url(), protocol: .tus, options: ResumableUploadOptions(record: folder.record)
        ).result.uploadError
        guard case .recordInUse = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        first.cancel()
        #expect(await first.result.requestError?.isExplicitlyCancelledError == true)
        #expect(FileManager.default.fileExists(atPath: folder.record.path))
    }

    @Test(arguments: [
        "", "{", "[", "{}", "null", #"{"version":2}"#, String(repeating: "[", count: 10_000) + "}",
        #"{"version":1,"uploadProtocol":"tus","endpoint":"x","file":{"size":-1,"modificationSeconds":0,"modificationNanoseconds":0,"inode":0},"parts":[]}"#,
    ])
    func aDamagedRecordIsRefused(_ text: String) async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, _) = try folder.file(1_000)
        try Data(text.utf8).write(to: folder.record)
        let error = await skippingSession().uploadResumable(
            file, to: server.url(), protocol: .tus, options: ResumableUploadOptions(record: folder.record)
        ).result.uploadError
        guard case .invalidRecord = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.log.isEmpty)
    }

    @Test func changedRecordsCantRedirectTheUpload() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, _) = try folder.file(300_000)
        try await Self.interrupt(file, folder, to: server)
        let text = try String(contentsOf: folder.record, encoding: .utf8)
        let count = server.log.count
        let replacements = [
            ("http://127.0.0.1:\(server.port)/files/1", "http://127.0.0.1:1/files/1"),
            ("\"count\":300000", "\"count\":300001"), ("\"count\":300000", "\"count\":-1"),
            ("\"start\":0", "\"start\":9223372036854775807"), ("\"tus\"", "\"draft-8\""),
        ]
        for (old, new) in replacements {
            #expect(text.contains(old))
            try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: folder.record)
            let error = await skippingSession().uploadResumable(
                file, to: server.url(), protocol: .tus, options: ResumableUploadOptions(record: folder.record)
            ).result.uploadError
            switch error {
            case .invalidRecord, .otherOrigin: break
            default: Issue.record("\(new): \(String(describing: error))")
            }
        }
        #expect(server.log.count == count)
    }

    @Test func anotherProcessResumesAfterAKilledOne() async throws {
        let reached = AsyncStream<Void>.makeStream()
        let server = try UploadServer { state in
            state.cuts = [100_000]
            state.answer = { request, _ in
                guard request.method == "HEAD" else { return nil }
                reached.continuation.yield()
                return .send("HTTP/1.1 503 Unavailable\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n", closes: false)
            }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, data) = try folder.file(300_000)
        let first = try Probe(file, to: server.url(), record: folder.record, in: folder)
        for await _ in reached.stream { break }
        first.child.stop()
        server.state.withLock { $0.answer = nil }
        let second = try Probe(file, to: server.url(), record: folder.record, in: folder)
        #expect(second.child.wait(), "\(second.child.output)")
        #expect(server.content == data)
    }
}

/// A process that uploads a file.
struct Probe {
    let child: ChildProcess

    init(
        _ file: URL, to url: URL, record: URL, in folder: TestFolder, protocol name: String = "tus",
        chunkSize: Int = 0
    ) throws {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "UploadProbe")
        child = try ChildProcess(
            [program.path, file.path, url.absoluteString, record.path, name, String(chunkSize)],
            output: folder.url.appending(path: "probe-output"))
    }

    /// The largest size of the process's memory in KiB, without the pages of the program's files, which a debug build has many of.
    var peakMemory: Int? {
        guard let line = child.output.split(separator: "\n").last(where: { $0.hasPrefix("peak ") }) else { return nil }
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        return numbers.count == 2 ? numbers[0] - numbers[1] : nil
    }
}

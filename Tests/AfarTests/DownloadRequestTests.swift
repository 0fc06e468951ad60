import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Downloads from a real server to real files, over each transport that can write to a file.
@Suite struct DownloadRequestTests {
    static let kinds = TransportKind.all(with: [.fileDelivery])
    private let directory = ScratchDirectory()

    @Test(arguments: kinds)
    func theFileIsMovedToTheDestination(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let file = directory.url.appendingPathComponent("new/deep/file.bin")
        let destination: DownloadRequest.Destination = { temporary, response in
            #expect(FileManager.default.fileExists(atPath: temporary.path))
            #expect(response.statusCode == 200)
            return (file, [.createIntermediateDirectories])
        }
        let response = await session.download(server.url("/large/3000000"), to: destination).validate()
            .serializingDownloadedFileURL().response
        #expect(response.value == file)
        #expect(response.fileURL == file)
        #expect(try Data(contentsOf: file) == PatternBytes.bytes(3_000_000))
        await server.stop()
    }

    @Test(arguments: kinds)
    func withoutADestinationTheFileIsKeptForTheCaller(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let file = try await session.download(server.url("/large/100")).serializingDownloadedFileURL().value
        #expect(try Data(contentsOf: file) == PatternBytes.bytes(100))
        let permissions =
            try FileManager.default.attributesOfItem(
                atPath: file.deletingLastPathComponent().path)[.posixPermissions] as? NSNumber
        #expect(permissions?.intValue == 0o700)
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        await server.stop()
    }

    /// More destination closures block than there are threads for tasks.
    @Test(.timeLimit(.minutes(1))) func slowDestinationsDoNotBlockOthers() async throws {
        let server = try await TestServer.start()
        let session = TransportKind.platform.session()
        let count = ProcessInfo.processInfo.activeProcessorCount + 1
        let gate = DispatchSemaphore(value: 0)
        let entered = Locked(0)
        let allEntered = Signal()
        let downloads = (0..<count).map { index in
            let file = directory.url.appendingPathComponent("slow\(index)")
            return session.download(
                server.url("/large/10"),
                to: { _, _ in
                    let isLast = entered.withLock { entered in
                        entered += 1
                        return entered == count
                    }
                    if isLast { allEntered.set() }
                    gate.wait()
                    return (file, [])
                }
            ).serializingDownloadedFileURL()
        }
        await allEntered.wait()
        #expect(await session.request(server.url("/large/10")).serializingData().response.error == nil)
        for _ in downloads { gate.signal() }
        for download in downloads { #expect(await download.response.error == nil) }
        await server.stop()
    }

    @Test(arguments: kinds)
    func anExistingFileIsReplacedOnlyOnRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let file = directory.url.appendingPathComponent("kept")
        try Data("precious".utf8).write(to: file)
        let session = kind.session()
        let refused = await session.download(server.url("/large/10"), to: { _, _ in (file, []) })
            .serializingDownloadedFileURL().response
        #expect(refused.error?.isDownloadedFileMoveError == true)
        #expect(refused.error?.destinationURL == file)
        let source = try #require(refused.error?.sourceURL)
        try FileManager.default.removeItem(at: source.deletingLastPathComponent())
        #expect(try String(contentsOf: file, encoding: .utf8) == "precious")
        let replaced = await session.download(server.url("/large/10"), to: { _, _ in (file, .removePreviousFile) })
            .serializingDownloadedFileURL().response
        #expect(replaced.value == file)
        #expect(try Data(contentsOf: file) == PatternBytes.bytes(10))
        await server.stop()
    }

    @Test(arguments: kinds)
    func invalidResponsesAreNotMovedToTheDestination(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let file = directory.url.appendingPathComponent("never")
        let request = session.download(server.url("/status/404"), to: { _, _ in (file, []) }).validate()
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error?.responseCode == 404)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let temporary = try #require(request.fileURL)
        #expect(FileManager.default.fileExists(atPath: temporary.path))
        await server.stop()
    }

    @Test(arguments: kinds)
    func aFailedDownloadLeavesNoFile(kind: TransportKind) async throws {
        let server = try await RawServer.start([.respond("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), .close])
        let session = kind.session()
        let seen = DownloadRecorder()
        let destination: DownloadRequest.Destination = { temporary, _ in
            seen.note(temporary)
            return (temporary, [])
        }
        let request = session.download(server.url, to: destination)
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error?.isSessionTaskError == true)
        #expect(response.fileURL == nil)
        #expect(request.fileURL == nil)
        #expect(seen.urls.isEmpty)
        await server.stop()
    }

    @Test(arguments: kinds)
    func progressReachesTheTotal(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = DownloadRecorder()
        let queue = DispatchQueue(label: "progress")
        let request = session.download(server.url("/large/2000000")).downloadProgress(queue: queue) { progress in
            seen.note(progress.completedUnitCount, of: progress.totalUnitCount)
        }
        let file = try await request.serializingDownloadedFileURL().value
        queue.sync {}
        #expect(seen.counts.last == 2_000_000)
        #expect(seen.counts == seen.counts.sorted())
        #expect(seen.totals == [2_000_000])
        #expect(request.downloadProgress.fractionCompleted == 1)
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        await server.stop()
    }

    @Test(arguments: kinds)
    func handlersReceiveTheFile(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let file = directory.url.appendingPathComponent("handled")
        let session = kind.session()
        let urls = await withCheckedContinuation { continuation in
            let queue = DispatchQueue(label: "handlers")
            let seen = DownloadRecorder()
            session.download(server.url("/large/10"), to: { _, _ in (file, []) })
                .response(queue: queue) { seen.note($0.value.flatMap { $0 }) }
                .responseURL(queue: queue) {
                    seen.note($0.value)
                    continuation.resume(returning: seen.urls)
                }
        }
        #expect(urls == [file, file])
        await server.stop()
    }

    @Test(arguments: kinds)
    func anEmptyFileIsAnEmptyBody(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let response = await session.download(server.url("/status/204")).serializingData().response
        #expect(response.value == Data())
        let refused = await session.download(server.url("/empty")).serializingData().response
        if case .responseSerializationFailed(.inputDataNilOrZeroLength) = refused.error {
        } else {
            Issue.record("an empty body was accepted: \(refused)")
        }
        for case let file? in [response.fileURL, refused.fileURL] {
            try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        }
        await server.stop()
    }
}

/// The values that closures received.
private final class DownloadRecorder: Sendable {
    private let state = Locked((urls: [URL](), counts: [Int64](), totals: Set<Int64>()))

    var urls: [URL] { state.withLock { $0.urls } }
    var counts: [Int64] { state.withLock { $0.counts } }
    var totals: Set<Int64> { state.withLock { $0.totals } }

    func note(_ url: URL?) { state.withLock { if let url { $0.urls.append(url) } } }

    func note(_ count: Int64, of total: Int64) {
        state.withLock { state in
            state.counts.append(count)
            state.totals.insert(total)
        }
    }
}

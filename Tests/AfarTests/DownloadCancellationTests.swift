import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The resume data of canceled downloads, over each real transport.
@Suite struct DownloadCancellationTests {
    private static let kinds = TransportKind.all(with: [.fileDelivery])
    /// Sends half of a file and keeps the connection open.
    private static let half: [RawServer.Step] = [
        .respond("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 8\r\n\r\nhalf"), .waitForever,
    ]
    private static let rest =
        "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 4-7/8\r\nContent-Length: 4\r\n\r\nrest"

    /// Returns when half of the file has been received.
    private func half(_ request: DownloadRequest) async {
        let arrived = Deferred<Void>()
        request.downloadProgress(queue: DispatchQueue(label: "progress")) { progress in
            if progress.completedUnitCount == 4 { arrived.fulfill(()) }
        }
        request.resume()
        await arrived.value
    }

    @Test(arguments: kinds)
    func resumeDataIsDeliveredAndUsable(kind: TransportKind) async throws {
        let server = try await RawServer.start(scripts: [Self.half, [.respond(Self.rest)]])
        let session = kind.session()
        let request = session.download(server.url)
        await half(request)
        #expect(request.resumeData == nil)
        #expect(request.temporaryURL != nil)
        let data = try #require(
            await withCheckedContinuation { continuation in
                request.cancel(byProducingResumeData: { continuation.resume(returning: $0) })
            })
        #expect(request.isCancelled)
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error?.isExplicitlyCancelledError == true)
        #expect(response.resumeData == data)
        #expect(request.resumeData == data)
        #expect(response.debugDescription.contains("Resume data: \(Quantity.bytes(Int64(data.count)))"))
        let whole = await session.download(resumingWith: data).serializingString().response
        #expect(whole.value == "halfrest")
        let file = try #require(whole.fileURL)
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        await server.stop()
    }

    @Test(arguments: kinds)
    func resumeDataIsAvailableWithoutAHandler(kind: TransportKind) async throws {
        let server = try await RawServer.start(Self.half)
        let session = kind.session()
        let request = session.download(server.url)
        await half(request)
        request.cancel(producingResumeData: true)
        let data = try #require(await request.serializingDownloadedFileURL().response.resumeData)
        let file = URL(fileURLWithPath: try ResumeData(decoding: data).path)
        #expect(try String(contentsOf: file, encoding: .utf8) == "half")
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        await server.stop()
    }

    @Test(arguments: kinds)
    func aPlainCancellationLeavesNothing(kind: TransportKind) async throws {
        let server = try await RawServer.start(Self.half)
        let session = kind.session()
        let request = session.download(server.url)
        await half(request)
        let place = try #require(request.temporaryURL)
        request.cancel()
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error?.isExplicitlyCancelledError == true)
        #expect(response.resumeData == nil && request.resumeData == nil)
        #expect(!FileManager.default.fileExists(atPath: place.deletingLastPathComponent().path))
        await server.stop()
    }

    @Test(arguments: kinds)
    func releasingTheSessionProducesResumeData(kind: TransportKind) async throws {
        let server = try await RawServer.start(Self.half)
        var session: Session? = kind.session()
        let request = try #require(session?.download(server.url))
        await half(request)
        session = nil
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error?.isSessionDeinitializedError == true)
        let file = URL(fileURLWithPath: try ResumeData(decoding: try #require(response.resumeData)).path)
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        await server.stop()
    }

    @Test func withoutATransferThereIsNoResumeData() async throws {
        let server = try await TestServer.start()
        let session = Session(startRequestsImmediately: false)
        let unstarted = session.download(server.url("/large/10"))
        let finished = session.download(server.url("/large/10"))
        finished.resume()
        let file = try await finished.serializingDownloadedFileURL().value
        for request in [unstarted, finished] {
            let data = await withCheckedContinuation { continuation in
                request.cancel(byProducingResumeData: { continuation.resume(returning: $0) })
            }
            #expect(data == nil)
        }
        #expect(server.requestCount == 1)
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        await server.stop()
    }

    @Test func unsentResumeDataIsUnchanged() async throws {
        let data = ResumeData(
            url: URL(string: "http://127.0.0.1:1/")!, headers: [], validator: .entityTag("\"a\""),
            path: "/tmp/afar-none/download", byteCount: 1, totalLength: nil
        ).encoded()
        let session = Session(startRequestsImmediately: false)
        let request = session.download(resumingWith: data)
        let handed = await withCheckedContinuation { continuation in
            request.cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
        #expect(handed == data)
    }

    @Test func everyHandlerIsCalledOnce() async throws {
        let server = try await TestServer.start()
        let session = Session()
        for round in 0..<200 {
            let request = session.download(server.url("/range/200000"))
            let calls = Locked(0)
            let answered = Deferred<Void>()
            request.resume()
            let task = Task {
                for _ in 0..<round % 20 { await Task.yield() }
                request.cancel(byProducingResumeData: { _ in
                    calls.withLock { $0 += 1 }
                    answered.fulfill(())
                })
            }
            let response = await request.serializingDownloadedFileURL().response
            await task.value
            await answered.value
            #expect(calls.withLock { $0 } == 1)
            let part = try response.resumeData.map { URL(fileURLWithPath: try ResumeData(decoding: $0).path) }
            for file in [response.fileURL, part].compactMap({ $0 }) {
                try FileManager.default.removeItem(at: file.deletingLastPathComponent())
            }
        }
        await server.stop()
    }
}

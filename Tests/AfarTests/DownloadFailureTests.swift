import Afar
import AfarCore
import AfarTestServer
import Foundation
import TestServers
import Testing

/// Downloads that complete but can't be moved to their destination, and the files they leave behind.
@Suite struct DownloadFailureTests {
    private let directory = ScratchDirectory()

    @Test func anUnmovableFileIsKeptForTheCaller() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let inTheWay = directory.url.appendingPathComponent("directory")
        try FileManager.default.createDirectory(at: inTheWay, withIntermediateDirectories: false)
        let destinations = [
            inTheWay, directory.url.appendingPathComponent("no/such/directory"),
            try #require(URL(string: "ftp://example.com/file")),
        ]
        for destination in destinations {
            let response: AFDownloadResponse<URL>
            do {
                let request = session.download(server.url("/large/1000"), to: { _, _ in (destination, []) }).validate()
                response = await request.serializingDownloadedFileURL().response
                #expect(request.fileURL == nil)
                #expect(response.fileURL == nil)
                #expect(request.destinationURL == nil)
            }
            let error = try #require(response.error)
            #expect(error.isDownloadedFileMoveError)
            #expect(error.underlyingError is CocoaError)
            #expect(error.destinationURL == destination)
            // The file remains after the request has been deallocated.
            let source = try #require(error.sourceURL)
            #expect(try Data(contentsOf: source) == PatternBytes.bytes(1000))
            #expect(error.localizedDescription.contains(source.path))
            try FileManager.default.removeItem(at: source.deletingLastPathComponent())
        }
        await server.stop()
    }

    /// The temporary folder is deleted during a download.
    @Test(arguments: TransportKind.all(with: [.fileDelivery]))
    func aMissingFileIsNotASuccess(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.download(server.url("/drip?bytes=4&seconds=0.2"))
        let response = await request.onHTTPResponse { _ in
            guard let folder = request.temporaryURL?.deletingLastPathComponent() else { return }
            try? FileManager.default.removeItem(at: folder)
        }.serializingDownloadedFileURL().response
        #expect(response.error?.transportError?.code == .deliveryFailed)
        #expect(response.error?.localizedDescription.contains("was removed before the download was complete") == true)
        #expect(request.fileURL == nil)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: [.fileDelivery]))
    func aDecompressionBombIsAbortedAndLeavesNothing(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session { $0.decompressionLimit = DecompressionLimit(size: 1_000_000, ratio: 100) }
        let request = session.download(server.url("/gzip-bomb?bytes=3000000"))
        let place = Locked<URL?>(nil)
        let response = await request.onHTTPResponse { _ in place.withLock { $0 = request.temporaryURL } }
            .serializingDownloadedFileURL().response
        #expect(response.error?.transportError?.code == .responseTooLarge)
        #expect(response.resumeData == nil)
        let file = try #require(place.withLock { $0 })
        #expect(!FileManager.default.fileExists(atPath: file.deletingLastPathComponent().path))
        await server.stop()
    }

    @Test func aRetryAfterAFailedMoveLeavesOneFile() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let sources = Locked<[URL]>([])
        let nowhere = directory.url.appendingPathComponent("no/such/directory")
        let request = session.download(
            server.url("/large/10"), interceptor: TwoRetries(),
            to: { temporary, _ in
                sources.withLock { $0.append(temporary) }
                return (nowhere, [])
            })
        let response = await request.serializingDownloadedFileURL().response
        let left = try #require(response.error?.sourceURL)
        #expect(sources.withLock { $0.count } == 3)
        #expect(sources.withLock { $0 }.filter { FileManager.default.fileExists(atPath: $0.path) } == [left])
        try FileManager.default.removeItem(at: left.deletingLastPathComponent())
        await server.stop()
    }

    @Test(.enabled(if: TinyDisk.isAvailable, "only root can mount a file system"))
    func aDownloadResumesWhenSpaceIsAvailable() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let disk = try TinyDisk(bytes: 256 * 1024)
        let part = disk.url.appendingPathComponent("afar-part/download")
        try FileManager.default.createDirectory(
            at: part.deletingLastPathComponent(), withIntermediateDirectories: false)
        try PatternBytes.bytes(1000).write(to: part)
        let start = ResumeData(
            url: server.url("/range/500000"), headers: [], validator: .entityTag("\"range-500000\""), path: part.path,
            byteCount: 1000, totalLength: 500_000)
        let broken = await session.download(resumingWith: start.encoded()).serializingData().response
        let cause = (broken.error?.underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
        #expect(cause?.code == .deliveryFailed)
        #expect(cause?.systemError == ENOSPC)
        #expect((broken.error?.underlyingError as? URLError)?.code == .cannotWriteToFile)
        let data = try #require(broken.resumeData)
        #expect(try ResumeData(decoding: data).byteCount > 100_000)
        try disk.grow(to: 1 << 20)
        let response = await session.download(resumingWith: data).serializingData().response
        #expect(response.value == PatternBytes.bytes(500_000))
        #expect(response.response?.statusCode == 206)
        await server.stop()
    }

    @Test(.enabled(if: TinyDisk.isAvailable, "only root can mount a file system"))
    func aFullDestinationKeepsTheFile() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let disk = try TinyDisk(bytes: 256 * 1024)
        let destination = disk.url.appendingPathComponent("file")
        let response = await session.download(server.url("/large/1000000"), to: { _, _ in (destination, []) })
            .serializingDownloadedFileURL().response
        #expect((response.error?.underlyingError as? CocoaError)?.code == .fileWriteOutOfSpace)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path) == [])
        let source = try #require(response.error?.sourceURL)
        #expect(try Data(contentsOf: source) == PatternBytes.bytes(1_000_000))
        try FileManager.default.removeItem(at: source.deletingLastPathComponent())
        await server.stop()
    }
}

private struct TwoRetries: RequestInterceptor {
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(request.retryCount < 2 ? .retry : .doNotRetry)
    }
}

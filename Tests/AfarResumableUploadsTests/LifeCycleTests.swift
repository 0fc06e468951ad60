import Afar
import AfarResumableUploads
import AfarTransport
import Foundation
import Testing

/// Starting, suspending, canceling and continuing uploads.
@Suite(.timeLimit(.minutes(2))) struct LifeCycleTests {
    private static let unavailable = "HTTP/1.1 503 Unavailable\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n"

    @Test func aHandlerStartsTheUpload() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, data) = try folder.file(100_000)
        let results = AsyncStream.makeStream(of: Result<ResumableUploadResponse, any Error>.self)
        let values = AsyncStream.makeStream(of: Int64.self)
        let upload = Session().uploadResumable(file, to: server.url(), protocol: .tus)
            .uploadProgress(queue: DispatchQueue(label: "test")) { values.continuation.yield($0.completedUnitCount) }
        #expect(server.log.isEmpty)
        upload.response(queue: DispatchQueue(label: "test")) { results.continuation.yield($0) }
        for await result in results.stream {
            #expect(try result.get().url == server.url("/files/1"))
            break
        }
        for await value in values.stream where value == 100_000 { break }
        #expect(upload.isFinished)
        #expect(server.content == data)
    }

    @Test func aSuspendedUploadSendsNothing() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, data) = try folder.file(100_000)
        // The server suspends the upload when it has received the first request.
        let suspended = Locked<ResumableUpload?>(nil)
        let received = AsyncStream.makeStream(of: Void.self)
        server.state.withLock { state in
            state.answer = { _, number in
                guard number == 1 else { return nil }
                suspended.withLock { $0 }?.suspend()
                received.continuation.yield()
                return nil
            }
        }
        let upload = Session().uploadResumable(file, to: server.url(), protocol: .tus)
        suspended.withLock { $0 = upload }
        upload.resume()
        for await _ in received.stream { break }
        #expect(upload.isSuspended)
        #expect(server.log == ["POST /files"])
        upload.resume()
        _ = try await upload.value
        #expect(server.content == data)
    }

    /// The server creates the upload while it is being canceled. Its response contains the URL to delete.
    @Test(arguments: [ResumableUploadProtocol.tus, .draft(.latest)])
    func anUploadThatIsBeingCreatedIsDeleted(_ uploadProtocol: ResumableUploadProtocol) async throws {
        let upload = Locked<ResumableUpload?>(nil)
        let server = try UploadServer { state in
            state.sends104 = false
            state.answer = { request, _ in
                if request.method == "POST" { upload.withLock { $0 }?.cancel(deletingPartialUpload: true) }
                return nil
            }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(1_000)
        var options = ResumableUploadOptions(record: folder.record)
        options.createsBeforeSending = uploadProtocol != .tus
        let created = Session().uploadResumable(file, to: server.url(), protocol: uploadProtocol, options: options)
        upload.withLock { $0 = created }
        #expect(await created.result.requestError?.isExplicitlyCancelledError == true)
        #expect(server.log == ["POST /files", "DELETE /files/1"])
        #expect(server.state.withLock { $0.uploads.isEmpty })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["file-1"])
    }

    /// A sequence that ignores cancellation must not prevent it.
    @Test func aSequenceThatIgnoresCancellationDoesNotBlockIt() async throws {
        let server = try UploadServer()
        defer { server.stop() }
        let chunks = StubbornChunks()
        let upload = Session().uploadResumable(chunks, to: server.url(), protocol: .tus).resume()
        await chunks.waitUntilRead()
        upload.cancel()
        #expect(await upload.result.requestError?.isExplicitlyCancelledError == true)
        chunks.end()
    }

    /// Without it, the second part would wait for a minute before its next attempt.
    @Test func aFailedPartCancelsTheOthers() async throws {
        let waiting = AsyncStream.makeStream(of: Void.self)
        let server = try UploadServer { state in
            state.answer = { request, _ in
                switch (request.method, request.path) {
                case ("PATCH", "/files/1"):
                    return .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", closes: false)
                case ("PATCH", _), ("HEAD", _):
                    waiting.continuation.yield()
                    return .send(Self.unavailable, closes: false)
                default: return nil
                }
            }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(900)
        var options = ResumableUploadOptions()
        options.parallelParts = 3
        options.maximumDelay = .seconds(600)
        options.firstDelay = .seconds(600)
        let error = await Session().uploadResumable(file, to: server.url(), protocol: .tus, options: options).result
            .uploadError
        guard case .rejected(method: "PATCH", status: 403, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// The limit includes the delays before further attempts.
    @Test func theSessionsTimeoutLimitsTheWholeUpload() async throws {
        let server = try UploadServer { state in
            state.answer = { request, _ in request.method == "POST" ? nil : .send(Self.unavailable, closes: false) }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(100)
        var configuration = SessionConfiguration.default
        configuration.timeoutIntervalForResource = 1
        let error = await Session(configuration: configuration)
            .uploadResumable(
                file, to: server.url(), protocol: .tus, options: ResumableUploadOptions(record: folder.record)
            ).result.requestError
        #expect((error?.underlyingError as? URLError)?.code == .timedOut)
        #expect(FileManager.default.fileExists(atPath: folder.record.path))
    }

    // MARK: URLs

    @Test func theURLIsRelativeToTheSessionsBaseURL() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, data) = try folder.file(1_000)
        var configuration = SessionConfiguration.default
        configuration.baseURL = server.url("/")
        let session = Session(configuration: configuration)
        let response = try await session.uploadResumable(file, to: "files", protocol: .tus).value
        #expect(response.url == server.url("/files/1"))
        #expect(server.content == data)
    }

    @Test(arguments: [ResumableUploadProtocol.tus, .draft(.latest)])
    func anUploadContinuesByItsURL(_ uploadProtocol: ResumableUploadProtocol) async throws {
        let server = try UploadServer { state in
            state.cuts = [60_000]
            state.answer = { request, _ in
                request.method == "HEAD"
                    ? .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", closes: false) : nil
            }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, data) = try folder.file(200_000)
        let first = skippingSession().uploadResumable(file, to: server.url(), protocol: uploadProtocol)
        #expect(first.uploadURL == nil)
        #expect(await first.result.uploadError != nil)
        #expect(first.uploadURL == server.url("/files/1"))
        server.state.withLock { $0.answer = nil }
        let response = try await skippingSession().uploadResumable(
            file, continuing: server.url("/files/1"), protocol: uploadProtocol
        ).value
        #expect(response.url == server.url("/files/1"))
        #expect(server.content == data)
        #expect(server.log.filter { $0.hasPrefix("POST") }.count == 1)
        #expect(server.requests.last?["Upload-Offset"] == "60000")
    }

    @Test func aMissingUploadIsNotCreatedAgain() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, _) = try folder.file(1_000)
        let error = await skippingSession().uploadResumable(
            file, continuing: server.url("/files/7"), protocol: .tus
        ).result.uploadError
        guard case .uploadGone(status: 404) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.log == ["HEAD /files/7"])
    }

    // MARK: Options

    @Test func optionsOfTheDraftAreRefusedWithTus() async throws {
        let folder = try TestFolder()
        let (file, _) = try folder.file(10)
        var (creating, putting) = (ResumableUploadOptions(), ResumableUploadOptions())
        creating.createsBeforeSending = true
        putting.method = .put
        for options in [creating, putting] {
            let error = await Session().uploadResumable(
                file, to: "http://127.0.0.1:9/files", protocol: .tus, options: options
            ).result.uploadError
            guard case .invalidOptions = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}

/// A sequence whose first chunk never arrives, even if the reading task is canceled.
private final class StubbornChunks: AsyncSequence, Sendable {
    typealias Element = Data

    struct Iterator: AsyncIteratorProtocol {
        let chunks: StubbornChunks

        mutating func next() async -> Data? {
            await withCheckedContinuation { continuation in
                chunks.waiting.withLock { $0 = continuation }
                chunks.started.continuation.yield()
            }
            return nil
        }
    }

    private let started = AsyncStream<Void>.makeStream()
    private let waiting = Locked<CheckedContinuation<Void, Never>?>(nil)

    func makeAsyncIterator() -> Iterator { Iterator(chunks: self) }

    func waitUntilRead() async { for await _ in started.stream { break } }

    func end() { waiting.withLock { $0 }?.resume() }
}

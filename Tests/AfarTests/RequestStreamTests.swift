import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Asynchronous sequences of a request's events.
@Suite struct RequestStreamTests {
    private let directory = ScratchDirectory()

    private static func figures(of stream: StreamOf<Progress>) async -> [Int64] {
        var figures: [Int64] = []
        for await progress in stream { figures.append(progress.completedUnitCount) }
        return figures
    }

    /// Starts a server that sends five of ten bytes and then waits.
    private static func halfAResponse(then gate: RawServer.Gate) async throws -> RawServer {
        try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234"), .hold(gate), .send("56789"), .close,
        ])
    }

    @Test(arguments: TransportKind.all(with: [.fileDelivery]))
    func receivedBytesAreReported(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.download(server.url("/large/1000000"))
        async let figures = Self.figures(of: request.downloadProgress())
        let file = try await request.serializingDownloadedFileURL().value
        defer { try? FileManager.default.removeItem(at: file) }
        let reported = await figures
        #expect(reported.last == 1_000_000)
        #expect(reported == reported.sorted())
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: [.fileUpload]))
    func sentBytesAreReported(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let file = directory.url.appendingPathComponent("body")
        try PatternBytes.bytes(1_000_000).write(to: file)
        let request = session.upload(file, to: server.url("/upload"))
        async let figures = Self.figures(of: request.uploadProgress())
        _ = try await request.serializingData().value
        let reported = await figures
        #expect(reported.last == 1_000_000)
        #expect(reported == reported.sorted())
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: [.fileDelivery]))
    func aLateStreamReceivesTheCurrentProgress(kind: TransportKind) async throws {
        let gate = RawServer.Gate()
        let server = try await Self.halfAResponse(then: gate)
        let session = kind.session()
        let request = session.download(server.url)
        var early = request.downloadProgress().makeAsyncIterator()
        let response = request.serializingDownloadedFileURL()
        while let progress = await early.next(), progress.completedUnitCount < 5 {}
        var late = request.downloadProgress().makeAsyncIterator()
        #expect(await late.next()?.completedUnitCount == 5)
        gate.open()
        let last = await late.next()
        #expect(last?.completedUnitCount == 10)
        #expect(last?.isFinished == true)
        #expect(await late.next() == nil)
        let file = try await response.value
        try FileManager.default.removeItem(at: file)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func cancellationEndsTheStreamWithTheLastByteCounts(kind: TransportKind) async throws {
        let server = try await Self.halfAResponse(then: RawServer.Gate())
        let session = kind.session()
        let request = session.request(server.url)
        let stream = request.downloadProgress()
        let requests = request.urlRequests()
        let response = request.serializingData()
        var figures: [Int64] = []
        for await progress in stream {
            figures.append(progress.completedUnitCount)
            if progress.completedUnitCount == 5 { request.cancel() }
        }
        #expect(figures.last == 5)
        #expect(await response.response.error?.isExplicitlyCancelledError == true)
        #expect(await requests.reduce(0) { count, _ in count + 1 } == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func cancellingTheAwaitingTaskEndsAllStreams(kind: TransportKind) async throws {
        let server = try await Self.halfAResponse(then: RawServer.Gate())
        let session = kind.session()
        let request = session.request(server.url)
        let stream = request.downloadProgress()
        let waiting = Task { await request.serializingData().response }
        for await progress in stream where progress.completedUnitCount == 5 { waiting.cancel() }
        #expect(await waiting.value.error?.isExplicitlyCancelledError == true)
        #expect(request.isCancelled)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func theReportedRequestIsTheSentOne(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.request(
            server.url("/anything"), headers: ["X-Own": "mine"], interceptor: Marking())
        let (requests, tasks) = (request.urlRequests(), request.urlSessionTasks())
        _ = try await request.serializingData().value
        let seen = try #require(server.lastRequest(path: "/anything"))
        for await urlRequest in requests {
            #expect(urlRequest.headers["X-Own"] == seen.headers["X-Own"])
            #expect(urlRequest.headers["X-Adapted"] == seen.headers["X-Adapted"])
            #expect(seen.headers["X-Adapted"] == "yes")
        }
        for await task in tasks {
            #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
            #expect(task.countOfBytesReceived > 0)
            #expect(task.countOfBytesReceived == task.countOfBytesExpectedToReceive)
            #expect(task.originalRequest?.headers["X-Adapted"] == "yes")
        }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aTaskCancelsItsRequest(kind: TransportKind) async throws {
        let server = try await Self.halfAResponse(then: RawServer.Gate())
        let session = kind.session()
        let request = session.request(server.url)
        let (progress, tasks) = (request.downloadProgress(), request.urlSessionTasks())
        let response = request.serializingData()
        for await progress in progress where progress.completedUnitCount == 5 {
            #expect(request.task?.countOfBytesReceived == 5)
            #expect(request.task?.state == .running)
            request.task?.cancel()
        }
        #expect(await response.response.error?.isExplicitlyCancelledError == true)
        for await task in tasks {
            #expect(task.state == .completed)
            #expect((task.error as? URLError)?.code == .cancelled)
        }
        await server.stop()
    }
}

/// An interceptor that marks the requests it adapts.
private struct Marking: RequestInterceptor {
    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.headers.add(name: "X-Adapted", value: "yes")
        completion(.success(urlRequest))
    }
}

import Afar
import AfarCore
import AfarTestServer
import Foundation
import TestSupport
import Testing

/// The events of each kind of request and their order, over each real transport.
@Suite struct EventOrderTests {
    private static let made = ["didCreateInitialURLRequest", "didCreateURLRequest", "didCreateTask", "didResumeTask"]
    private static let madeForUpload = [made[0], "didCreateUploadable"] + made.dropFirst()
    private static let measured = ["· didFinishCollecting", "didGatherMetrics"]
    private let log = EventLog()
    /// Retains the sessions, because requests end when their session is deallocated.
    private let sessions = Locked<[Session]>([])
    private let directory = ScratchDirectory()

    private func session(_ kind: TransportKind, interceptor: (any RequestInterceptor)? = nil) -> Session {
        let session = Session(interceptor: interceptor, eventMonitors: [log], transport: kind.make(.default))
        sessions.withLock { $0.append(session) }
        return session
    }

    /// Returns the expected metrics events. If the transport doesn't support metrics, any of them are allowed.
    private func measured(_ kind: TransportKind) -> [String] {
        kind.reasonAgainst(.metrics) == nil ? Self.measured : log.events.filter(Self.measured.contains)
    }

    @Test(arguments: TransportKind.allCases)
    func ofADataRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let response = await session(kind).request(server.url("/get")).validate().validate { _, _, _ in .success }
            .serializingString().response
        #expect(response.error == nil)
        #expect(
            log.events == ["requestDidResume"] + Self.made + ["· didReceive response", "· didReceive data"]
                + measured(kind) + ["· didCompleteWithError", "didValidateRequest", "didCompleteTask"]
                + ["requestDidFinish", "didParseResponse of String"])
        await server.stop()
    }

    /// `validate()` adds two validators.
    @Test func ofEachValidator() async throws {
        let server = try await TestServer.start()
        let count = Locked(0)
        let monitor = ClosureEventMonitor()
        monitor.requestDidValidateRequestResponseDataWithResult = { _, _, _, _, _ in count.withLock { $0 += 1 } }
        let session = Session(eventMonitors: [monitor], transport: TransportKind.platform.make(.default))
        _ = await session.request(server.url("/get")).validate().serializingData().response
        monitor.queue.sync {}
        #expect(count.withLock { $0 } == 2)
        await server.stop()
    }

    /// The task of an eager request exists before the request is resumed.
    @Test(arguments: TransportKind.allCases)
    func ofAnEagerRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let made = Signal()
        let monitor = ClosureEventMonitor()
        monitor.requestDidCreateTask = { _, _ in made.set() }
        let session = Session(
            startRequestsImmediately: false, requestSetup: .eager, eventMonitors: [monitor, log],
            transport: kind.make(.default))
        let request = session.request(server.url("/get"))
        await made.wait()
        #expect(request.isInitialized)
        #expect(request.tasks.count == 1)
        #expect(server.connectionCount == 0)
        request.resume()
        #expect(await request.serializingData().response.response?.statusCode == 200)
        #expect(
            Array(log.events.prefix(5))
                == Self.made.dropLast() + ["requestDidResume", "didResumeTask"])
        let cancelled = session.request(server.url("/get"))
        try await waitWhile { cancelled.tasks.isEmpty }
        #expect(await cancelled.cancel().serializingData().response.error?.isExplicitlyCancelledError == true)
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func ofAnUpload(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let body = Data(repeating: 1, count: 100_000)
        let response = await session(kind).upload(body, to: server.url("/upload")).serializingData().response
        #expect(response.error == nil)
        #expect(
            log.events == ["requestDidResume"] + Self.madeForUpload
                + ["· didSendBodyData", "· didReceive response", "· didReceive data"]
                + measured(kind) + ["· didCompleteWithError", "didCompleteTask"]
                + ["requestDidFinish", "didParseResponse of Data"])
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .streamedUpload))
    func ofAnUploadedStream(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let stream = InputStream(data: Data(repeating: 1, count: 1_000))
        let response = await session(kind).upload(stream, to: server.url("/upload")).serializingData().response
        #expect(response.error == nil)
        #expect(
            Array(log.events.prefix(9)) == ["requestDidResume"] + Self.madeForUpload
                + ["· taskNeedsNewBodyStream", "didProvideInputStream", "· didSendBodyData"])
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .streamedDelivery))
    func ofAStream(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let request = session(kind).streamRequest(server.url("/chunked/3")).validate()
        for await _ in request.streamTask().streamingStrings() {}
        #expect(
            log.events.filter { $0 != "· didReceive data" && $0 != "didParseStream of String" }
                == ["requestDidResume"] + Self.made + ["· didReceive response", "didValidateRequest"]
                + measured(kind) + ["· didCompleteWithError", "didCompleteTask", "requestDidFinish"])
        let firstChunk = try #require(log.events.firstIndex(of: "· didReceive data"))
        #expect(log.events[firstChunk - 1] == "didValidateRequest")
        #expect(log.events[firstChunk + 1] == "didParseStream of String")
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .streamedDelivery))
    func ofTheRemainderOfAStream(kind: TransportKind) async throws {
        let server = try await RawServer.start([.respond("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n[1]\n[")])
        let request = session(kind).streamRequest(server.url)
        for await _ in request.serializing(.jsonLines(of: [Int].self)) {}
        #expect(log.events.filter { $0 == "didParseStream of Array<Int>" }.count == 2)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .fileDelivery))
    func ofADownload(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let file = directory.url.appendingPathComponent("file")
        let response = await session(kind).download(server.url("/large/100000"), to: { _, _ in (file, []) })
            .validate().serializingDownloadedFileURL().response
        #expect(response.value == file)
        #expect(
            log.events == ["requestDidResume"] + Self.made + ["· didWriteData", "· didFinishDownloadingTo"]
                + measured(kind)
                + [
                    "· didCompleteWithError", "didValidateRequest", "didCreateDestinationURL",
                    "didFinishDownloadingUsing", "didCompleteTask", "requestDidFinish", "didParseResponse of URL",
                ])
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .fileDelivery))
    func ofADownloadWithoutADestination(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let destinations = Locked<[URL]>([])
        let monitor = ClosureEventMonitor(queue: log.queue)
        monitor.requestDidCreateDestinationURL = { _, url in destinations.withLock { $0.append(url) } }
        let response = await session(kind).download(server.url("/large/10")).eventMonitor(monitor)
            .serializingDownloadedFileURL().response
        let file = try #require(response.value)
        #expect(
            log.events.suffix(5) == [
                "didCreateDestinationURL", "didFinishDownloadingUsing", "didCompleteTask", "requestDidFinish",
                "didParseResponse of URL",
            ])
        #expect(destinations.withLock { $0 } == [file])
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .fileDelivery))
    func ofAResumedDownload(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = session(kind, interceptor: RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0.001))
        let request = session.download(server.url("/range/100000?cuts=50000"))
        let offsets = Locked<[Int64]>([])
        let monitor = ClosureEventMonitor(queue: log.queue)
        monitor.downloadTaskDidResumeAtOffset = { _, _, offset, total in
            offsets.withLock { $0 += [offset, total] }
        }
        request.eventMonitor(monitor)
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error == nil)
        #expect(log.events.contains("· didResumeAtOffset"))
        #expect(offsets.withLock { $0 } == [50_000, 100_000])
        try response.value.map { try FileManager.default.removeItem(at: $0.deletingLastPathComponent()) }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func ofARetriedRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let interceptor = Interceptor(
            adapter: Adapter { urlRequest, _, completion in completion(.success(urlRequest)) },
            retrier: RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0.001))
        let request = session(kind, interceptor: interceptor).request(server.url("/unstable?failures=1&key=\(kind)"))
            .validate()
        #expect(await request.serializingData().response.error == nil)
        let made = [
            "didCreateInitialURLRequest", "didAdaptInitialRequest", "didCreateURLRequest", "didCreateTask",
            "didResumeTask",
        ]
        let over = ["· didCompleteWithError", "didValidateRequest", "didCompleteTask"]
        let reported = log.events.filter { $0 != "· didReceive data" && !Self.measured.contains($0) }
        #expect(
            reported == ["requestDidResume"] + made + ["· didReceive response"] + over + ["requestIsRetrying"]
                + made + ["· didReceive response"] + over + ["requestDidFinish", "didParseResponse of Data"])
        #expect(request.tasks.count == 2)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func ofARedirect(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let reported = Locked<[String]>([])
        let monitor = ClosureEventMonitor(queue: log.queue)
        monitor.taskWillPerformHTTPRedirection = { _, task, response, request in
            reported.withLock {
                $0 += ["\(response.statusCode)", request.url?.path ?? "", task.originalRequest?.url?.path ?? ""]
            }
        }
        let request = session(kind).request(server.url("/redirect/1")).eventMonitor(monitor)
        #expect(await request.serializingData().response.response?.statusCode == 200)
        #expect(log.events.contains("· willPerformHTTPRedirection"))
        #expect(log.events.filter { $0 == "· didReceive response" }.count == 1)
        #expect(reported.withLock { $0 } == ["302", "/get", "/redirect/1"])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func ofACancellationInFlight(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let request = session(kind).request(server.url("/delay/30"))
        let sent = Deferred<Void>()
        let monitor = ClosureEventMonitor(queue: log.queue)
        monitor.requestDidResumeTask = { _, _ in sent.fulfill(()) }
        request.eventMonitor(monitor)
        let task = request.serializingData()
        await sent.value
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        #expect(
            log.events.filter { !Self.measured.contains($0) } == ["requestDidResume"] + Self.made
                + ["requestDidCancel", "didCancelTask", "· didCompleteWithError", "didCompleteTask"]
                + ["requestDidFinish", "didParseResponse of Data"])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func ofAnUnreachableServer(kind: TransportKind) async throws {
        let port = try ClosedPort()
        let errors = Locked<[String]>([])
        let monitor = ClosureEventMonitor(queue: log.queue)
        monitor.taskDidComplete = { _, _, error in
            errors.withLock { $0.append("\((error as? URLError)?.code == .cannotConnectToHost)") }
        }
        monitor.requestDidCompleteTaskWithError = { _, _, error in
            errors.withLock { $0.append("\(error?.isSessionTaskError == true)") }
        }
        let request = session(kind).request(port.url).eventMonitor(monitor)
        #expect(await request.serializingData().response.error != nil)
        #expect(
            log.events.filter { !Self.measured.contains($0) } == ["requestDidResume"] + Self.made
                + ["· didCompleteWithError", "didCompleteTask", "requestDidFinish", "didParseResponse of Data"])
        #expect(errors.withLock { $0 } == ["true", "true"])
    }
}

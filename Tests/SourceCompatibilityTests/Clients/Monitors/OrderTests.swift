import Afar
import AfarTestServer
import Foundation
import Testing

/// The order of monitor events, state changes and handler calls.
@Suite struct OrderTests {
    private let monitor = OrderMonitor()
    private func session(interceptor: RequestInterceptor? = nil, startRequestsImmediately: Bool = true) -> Session {
        Session(
            startRequestsImmediately: startRequestsImmediately, interceptor: interceptor, eventMonitors: [monitor])
    }

    // `validate()` adds two validators, for the status code and the content type.
    @Test func aRequestThatSucceeds() async throws {
        let server = try await TestServer.start()
        let session = session(interceptor: TokenInterceptor())
        _ = await session.request(server.url("/get")).validate().serializingDecodable(Echo.self).response
        #expect(
            monitor.events.filter { $0 != "metrics" } == [
                "resumed", "initial", "adapted true", "URLRequest", "task", "task resumed", "valid", "valid",
                "completed",
                "finished", "parsed Echo",
            ])
        await server.stop()
    }

    @Test func aRequestThatIsRetried() async throws {
        let server = try await TestServer.start()
        let session = session(interceptor: TokenInterceptor())
        let request = session.request(server.url("/unstable?failures=1&key=order")).validate()
        _ = await request.serializingData().response
        let attempt = ["initial", "adapted true", "URLRequest", "task", "task resumed"]
        #expect(
            monitor.events.filter { $0 != "metrics" }
                == ["resumed"] + attempt + ["invalid", "completed", "retrying 1"] + attempt
                + ["valid", "valid", "completed", "finished", "parsed Data"])
        await server.stop()
    }

    @Test func requestsThatFailBeforeSending() async throws {
        let session = session()
        let invalid = await session.request("http://[broken").serializingData().response
        guard case let .invalidURL(url: url)? = invalid.error else {
            Issue.record("unexpected error: \(invalid)")
            return
        }
        #expect(url as? String == "http://[broken")
        #expect(invalid.error?.isInvalidURLError == true && invalid.request == nil)
        #expect(monitor.events == ["resumed", "failed to create", "finished", "parsed Data"])
    }

    @Test func aRequestThatIsCancelled() async throws {
        let server = try await TestServer.start()
        let session = session()
        let request = session.request(server.url("/delay/30"))
        async let response = request.serializingData().response
        for await _ in request.urlSessionTasks() { break }
        request.cancel()
        #expect(request.isCancelled)
        #expect(await response.error?.isExplicitlyCancelledError == true)
        let events = monitor.events.filter { $0 != "metrics" }
        #expect(events.prefix(5) == ["resumed", "initial", "URLRequest", "task", "task resumed"])
        #expect(events.contains("cancelled") && events.contains("task cancelled"))
        #expect(events.contains("completed with error"))
        #expect(events.suffix(2) == ["finished", "parsed Data"])
        await server.stop()
    }

    @Test func uploadsAndDownloads() async throws {
        let server = try await TestServer.start()
        let session = session()
        _ = await session.upload(Data("body".utf8), to: server.url("/post")).serializingData().response
        let upload = monitor.events
        #expect(upload.contains("uploadable data") && upload.last == "parsed Data")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("order-\(UUID().uuidString)")
        let download = session.download(server.url("/bytes/10"), to: { _, _ in (file, []) }).validate()
        _ = await download.serializingDownloadedFileURL().response
        let events = monitor.events.dropFirst(upload.count)
        #expect(events.last == "parsed URL")
        let order = ["downloaded", "destination", "valid file", "finished"].compactMap { events.firstIndex(of: $0) }
        #expect(order.count == 4)
        try FileManager.default.removeItem(at: file)
        await server.stop()
    }

    @Test func statesAndHandlers() async throws {
        let server = try await TestServer.start()
        let session = session(startRequestsImmediately: false)
        let request = session.request(server.url("/get"))
        let notes = Notes()
        let queue = DispatchQueue(label: "handlers")
        let key = DispatchSpecificKey<String>()
        queue.setSpecific(key: key, value: "handlers")
        request.response(queue: queue) { [unowned request] response in
            notes.add("first \(DispatchQueue.getSpecific(key: key) ?? "") \(request.isFinished)")
        }
        request.responseString(queue: queue) { _ in notes.add("second") }
        #expect(request.state == .initialized)
        await withCheckedContinuation { continuation in
            request.responseData(queue: queue) { _ in continuation.resume() }
            request.resume()
            #expect(request.isResumed)
            request.resume()
        }
        #expect(notes.all == ["first handlers true", "second"])
        #expect(request.isFinished && request.error == nil)
        request.cancel()
        #expect(request.isFinished && request.error == nil)
        let late = await withCheckedContinuation { continuation in
            request.responseString(queue: queue) { continuation.resume(returning: $0.value) }
        }
        #expect(late?.isEmpty == false)
        #expect(server.requestCount(path: "/get") == 1)
        await server.stop()
    }

    @Test func serializersAndHandlersRunOnTheirQueues() async throws {
        let server = try await TestServer.start()
        let serialization = DispatchQueue(label: "serialization")
        let session = Session(rootQueue: DispatchQueue(label: "root"), serializationQueue: serialization)
        #expect(session.serializationQueue === serialization && session.rootQueue.label.hasPrefix("root"))

        let serializer = QueueSerializer(queue: serialization)
        let response: AFDataResponse<Bool> = await withCheckedContinuation { continuation in
            session.request(server.url("/get")).response(responseSerializer: serializer) { response in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume(returning: response)
            }
        }
        #expect(response.value == true)
        await server.stop()
    }

    private struct QueueSerializer: ResponseSerializer {
        let queue: DispatchQueue

        func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: Error?) throws -> Bool {
            dispatchPrecondition(condition: .onQueue(queue))
            return true
        }
    }
}

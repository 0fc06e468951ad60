import Afar
import AfarTestServer
import Testing

/// The state and properties of requests, as in code for Alamofire 5.
@Suite struct LifeCycleTests {
    @Test func aRequestExposesItsStateAndHistory() async throws {
        let server = try await TestServer.start()
        let request = AF.request(
            server.url("/unstable?failures=1&key=life"), interceptor: RetryPolicy(exponentialBackoffScale: 0.001))
        #expect(request.isInitialized && !request.isResumed && !request.isSuspended)
        request.suspend()
        #expect(request.isSuspended && request.state == .suspended)
        let task = request.validate().serializingString()
        request.resume()
        _ = try await task.value
        #expect(request.isFinished && !request.isCancelled)
        #expect(request.retryCount == 1)
        #expect(request.firstRequest?.url == request.lastRequest?.url)
        #expect(request.performedRequests.count == 2)
        #expect(request.requests.count >= 2)
        #expect(request.request?.httpMethod == "GET")
        #expect(request.allMetrics.count == 2)
        #expect(request.firstMetrics != request.lastMetrics)
        #expect(request.metrics?.transactionMetrics.last?.networkProtocolName == "http/1.1")
        #expect(request.tasks.count == 2 && request.firstTask !== request.lastTask)
        #expect(request.response?.statusCode == 200 && request.error == nil)
        let requests: Set<Request> = [request, request]
        #expect(requests.count == 1)
        await server.stop()
    }

    @Test func monitorsAreComposed() async throws {
        let server = try await TestServer.start()
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "composed"))
        let (events, reported) = AsyncStream.makeStream(of: String.self)
        monitor.requestDidFinish = { request in
            reported.yield(request.request?.url?.path ?? "")
            reported.finish()
        }
        let session = Session(eventMonitors: [CompositeEventMonitor(monitors: [monitor])])
        _ = try await session.request(server.url("/get")).serializingData().value
        for await path in events { #expect(path == "/get") }
        #expect(session.eventMonitor.queue.label.isEmpty == false)
        await server.stop()
    }

    @Test func headsAndTasksAreAwaited() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/get"))
            .onHTTPResponse { response in print(response.statusCode) }
        let heads = request.httpResponses()
        let tasks = request.urlSessionTasks()
        _ = try await request.serializingData().value
        for await head in heads { #expect(head.statusCode == 200) }
        var identifiers: [Int] = []
        for await task in tasks { identifiers.append(task.taskIdentifier) }
        #expect(identifiers.count == 1)
        await server.stop()
    }

    @Test func theModuleHasItsGlobalNames() {
        #expect(AFInfo.version.contains("."))
        #expect(AF === Session.default)
        #expect(AF.rootQueue.label.isEmpty == false)
    }
}

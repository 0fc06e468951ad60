import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import TestServers
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Graceful shutdown of a session.
@Suite(.timeLimit(.minutes(1))) struct ShutdownTests {
    @Test func runningRequestsFinish() async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start([
            .receiveHead, .hold(gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"),
        ])
        let session = Session(configuration: .default)
        let request = session.request(server.url)
        let answer = Task { await request.serializingString().result }
        try await server.head()
        let shutdown = Task { await session.shutdown(drainingFor: 60) }
        let quick = try await TestServer.start()
        while await session.request(quick.url("/get")).serializingString().response.error?.isSessionInvalidatedError
            != true
        {}
        gate.open()
        #expect(try await answer.value.get() == "done")
        #expect(await shutdown.value)
        try await server.peerClosed(0)
        #expect(await session.shutdown())
    }

    @Test func slowRequestsAreEnded() async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let session = Session(configuration: .default)
        let request = session.request(server.url)
        let answer = Task { await request.serializingString().response.error }
        try await server.head()
        #expect(await session.shutdown(drainingFor: 0.05) == false)
        #expect(await answer.value?.isSessionInvalidatedError == true)
        try await server.peerClosed(0)
    }

    @Test func cancellingEndsTheWait() async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let session = Session(configuration: .default)
        let request = session.request(server.url)
        let answer = Task { await request.serializingString().response.error }
        try await server.head()
        let shutdown = Task { await session.shutdown(drainingFor: 3_600) }
        shutdown.cancel()
        #expect(await shutdown.value == false)
        #expect(await answer.value?.isSessionInvalidatedError == true)
    }

    @Test func webSocketsAreClosed() async throws {
        let server = try await ServerChild.webSockets()
        let session = Session(configuration: .default)
        let task = session.webSocketRequest(to: "ws://127.0.0.1:\(server.port)/closed").webSocketTask()
        try await task.send(.string("open"))
        #expect(await session.shutdown(drainingFor: 3_600))
        for try await _ in task.messages {}
        try await waitWhile { !server.output.contains("closed open") }
        #expect(server.output.contains("closed open 1001"))
    }

    @Test func connectionsWithoutARequestAreClosed() async throws {
        let server = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"),
        ])
        let session = Session(configuration: .default)
        _ = try await session.request(server.url).serializingString().value
        #expect(await session.shutdown())
        try await server.peerClosed(0)
    }
}

/// Limits on concurrent requests to a host and on requests per second.
@Suite(.timeLimit(.minutes(1))) struct RateTests {
    @Test func requestsInFlightAreLimited() async throws {
        let server = try await TestServer.start()
        let session = Session(configuration: .default, stages: [RequestLimit(perHost: 2)])
        let observed = Locked((now: 0, most: 0))
        let watching = Session(
            configuration: .default, stages: [RequestLimit(perHost: 2), Counting(observed: observed)])
        await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    await watching.request(server.url("/delay/0.02")).serializingData().response.response?.statusCode
                }
            }
            for await status in group { #expect(status == 200) }
        }
        #expect(observed.withLock { $0.most } == 2)
        #expect(observed.withLock { $0.now } == 0)
        #expect(try await session.request(server.url("/get")).serializingData().value.isEmpty == false)
    }

    @Test func cancelledRequestsFreeTheirSlots() async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let session = Session(configuration: .default, stages: [RequestLimit(perHost: 1)])
        let first = session.request(server.url)
        let waiting = (0..<5).map { _ in session.request(server.url) }
        let answers = ([first] + waiting).map { request in
            Task { await request.serializingData().response.error?.isExplicitlyCancelledError }
        }
        try await server.head()
        for request in waiting { request.cancel() }
        first.cancel()
        for answer in answers { #expect(await answer.value == true) }
        let last = session.request(server.url)
        let answer = Task { await last.serializingData().response.error?.isExplicitlyCancelledError }
        try await server.connection(1)
        last.cancel()
        #expect(await answer.value == true)
    }

    @Test func unsentRequestsFreeTheirSlots() async throws {
        let server = try await TestServer.start()
        let session = Session(configuration: .default, stages: [RequestLimit(perHost: 1)])
        var head = URLRequest(url: server.url("/get"))
        head.httpMethod = "HEAD"
        head.httpBodyStream = InputStream(data: Data("a body that cannot be sent".utf8))
        #expect(await session.request(head).serializingData(emptyRequestMethods: []).response.error != nil)
        #expect(try await session.request(server.url("/get")).serializingData().value.isEmpty == false)
    }

    @Test func aBucketSpacesRequestsOut() async throws {
        let server = try await TestServer.start()
        let session = Session(configuration: .default, interceptor: RateLimiter(requestsPerSecond: 50, burst: 5))
        let start = ContinuousClock.now
        await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<15 {
                group.addTask {
                    await session.request(server.url("/get")).serializingData().response.response?.statusCode
                }
            }
            for await status in group { #expect(status == 200) }
        }
        #expect(ContinuousClock.now - start >= .milliseconds(200))
    }

    @Test func cancelledWaitingRequestsConsumeNoTokens() async throws {
        let server = try await TestServer.start()
        let adapted = Locked(0)
        let counting = Adapter { request, _, completion in
            adapted.withLock { $0 += 1 }
            completion(.success(request))
        }
        let interceptor = Interceptor(adapters: [counting], interceptors: [RateLimiter(requestsPerSecond: 1)])
        let session = Session(configuration: .default, interceptor: interceptor)
        #expect(try await session.request(server.url("/get")).serializingData().value.isEmpty == false)
        let start = ContinuousClock.now
        let waiting = (0..<200).map { _ in session.request(server.url("/get")) }
        let answers = waiting.map { request in Task { await request.serializingData().response.error } }
        try await waitWhile { adapted.withLock({ $0 }) < 201 }
        for request in waiting { request.cancel() }
        var cancelled = 0
        for answer in answers { if await answer.value?.isExplicitlyCancelledError == true { cancelled += 1 } }
        // On a slow machine, some may have been sent before their cancellation.
        #expect(cancelled > 150)
        #expect(try await session.request(server.url("/get")).serializingData().value.isEmpty == false)
        #expect(ContinuousClock.now - start < .seconds(50))
        await server.stop()
    }

    @Test func retryAfterDelaysTheHostsRequests() async throws {
        let server = try await RawServer.start([
            .receiveHead,
            .send("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"),
            .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"),
            .receiveHead, .send("HTTP/1.1 503 Later\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n"),
        ])
        let session = Session(configuration: .default, interceptor: RateLimiter(requestsPerSecond: 1_000))
        let start = ContinuousClock.now
        #expect(try await session.request(server.url).validate().serializingString().value == "done")
        #expect(ContinuousClock.now - start >= .seconds(1))
        let error = await session.request(server.url).validate().serializingString().response.error
        #expect(error?.responseCode == 503)
        #expect(server.requests.count == 3)
    }
}

extension ShutdownTests {
    @Test func waitingRequestsAreDelayedByALaterPause() async throws {
        let server = try await TestServer.start()
        let (count, dates) = (Locked(0), Locked<[ContinuousClock.Instant]>([]))
        server.route("/busy") { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            dates.withLock { $0.append(.now) }
            return number == 1 ? .text("later", status: 429).adding("Retry-After", "11") : .text("done")
        }
        let pause = Locked<ContinuousClock.Instant?>(nil)
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
        monitor.requestDidCompleteTaskWithError = { _, _, _ in pause.withLock { $0 = $0 ?? .now } }
        let session = Session(
            configuration: .default, interceptor: RateLimiter(requestsPerSecond: 0.1), eventMonitors: [monitor])
        let tasks = (0..<2).map { _ in session.request(server.url("/busy")).validate().serializingString() }
        for task in tasks { #expect(try await task.value == "done") }
        let times = dates.withLock { $0 }
        #expect(times.count == 3)
        // If the first response takes 10 seconds, the second request is sent before the pause.
        let start = try #require(pause.withLock { $0 })
        for time in times.dropFirst() where time > start { #expect(time - times[0] >= .seconds(11)) }
        await server.stop()
    }
}

/// Counts the exchanges in flight behind another stage.
private struct Counting: ExchangeStage {
    let observed: Locked<(now: Int, most: Int)>

    func begin(_ hop: Hop) -> (any StageRun)? { Run(observed: observed) }

    private struct Run: StageRun {
        let observed: Locked<(now: Int, most: Int)>

        func before(_ hop: Hop) -> Reply<RequestAction> {
            observed.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            return .now(.send)
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            observed.withLock { $0.now -= 1 }
            return .now(.pass)
        }
    }
}

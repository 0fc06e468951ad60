import AfarCore
import AfarMetrics
import AfarSerializers
import AfarTestServer
import AfarTesting
import Foundation
import HTTPTypes
import MetricsTestKit
import Testing

#if os(Linux)
    import AfarCurl
#endif

@Suite struct MetricsMonitorTests {
    let metrics = TestMetrics()

    private func dimensions(
        _ host: String, _ last: (String, String), _ method: String = "GET"
    ) -> [(String, String)] {
        [("server.address", host), ("http.request.method", method), last]
    }

    /// Waits until the monitor has received all events.
    private func settle(_ monitor: MetricsMonitor) async {
        await withCheckedContinuation { continuation in monitor.queue.async { continuation.resume() } }
    }

    #if os(Linux)
        @Test func attemptsAreTimedAndConnectionsCounted() async throws {
            let server = try await TestServer.start()
            let monitor = MetricsMonitor(factory: metrics)
            let session = Session(eventMonitors: [monitor], transport: CurlTransport())
            for _ in 0..<3 {
                _ = await session.upload(Data(count: 7), to: server.url("/bytes/20"), method: .post)
                    .serializingData().response
            }
            await server.stop()
            await settle(monitor)
            let attempt = dimensions("127.0.0.1", ("http.response.status_class", "2xx"), "POST")
            let duration = try metrics.expectTimer("http.client.request.duration", attempt)
            #expect(duration.values.count == 3 && duration.values.allSatisfy { $0 > 0 })
            for phase in ["send", "wait", "receive"] {
                let timer = try metrics.expectTimer("http.client.request.phase.duration", attempt + [("phase", phase)])
                #expect(timer.values.count == 3, "\(phase)")
            }
            let connect = try metrics.expectTimer(
                "http.client.request.phase.duration", attempt + [("phase", "connect")])
            #expect(connect.values.count == 1)
            #expect(try metrics.expectRecorder("http.client.request.body.size", attempt).values == [7, 7, 7])
            #expect(try metrics.expectRecorder("http.client.response.body.size", attempt).values == [20, 20, 20])
            let connections = "http.client.connections"
            #expect(try metrics.expectCounter(connections, attempt + [("state", "opened")]).totalValue == 1)
            #expect(try metrics.expectCounter(connections, attempt + [("state", "reused")]).totalValue == 2)
        }
    #endif

    @Test func connectionsAreReportedAtIntervals() async throws {
        let clock = ManualClock()
        var configuration = SessionConfiguration()
        configuration.timeSource = clock.timeSource
        let statistics = Locked([
            ConnectionStatistics.Host(origin: "https://a", idle: 1, inUse: 2, waiting: 3),
            ConnectionStatistics.Host(origin: "https://b", idle: 4),
            ConnectionStatistics.Host(origin: "https://c", idle: 5),
        ])
        let session = Session(configuration: configuration, transport: Counted(statistics: statistics))
        let monitor = MetricsMonitor(factory: metrics, hostLimit: 1)
        let task = Task { await monitor.reportConnections(of: session) }
        func value(_ label: String, _ dimensions: [(String, String)]) throws -> Double? {
            try metrics.expectMeter(label, dimensions).values.last
        }
        let (a, idle) = (("server.address", "https://a"), ("http.connection.state", "idle"))
        await clock.waitForSleepers()
        #expect(try value("http.client.open_connections", [a, ("http.connection.state", "active")]) == 2)
        #expect(try value("http.client.open_connections", [a, idle]) == 1)
        #expect(try value("http.client.waiting_requests", [a]) == 3)
        #expect(try value("http.client.open_connections", [("server.address", "other"), idle]) == 9)
        statistics.withLock { $0 = [] }
        clock.advance(by: .seconds(10))
        await clock.waitForSleepers()
        #expect(try value("http.client.open_connections", [a, idle]) == 0)
        #expect(try value("http.client.waiting_requests", [a]) == 0)
        task.cancel()
        await task.value
    }

    @Test func outcomesAreDistinguished() async throws {
        let monitor = MetricsMonitor(factory: metrics)
        let mock = MockTransport(stubs: [
            Stub(.get, "/a", .redirect(to: "/b")), Stub(.get, "/b", .status(503), .text("ok")),
            Stub(.get, "/c", .failure(.cannotConnect)),
        ])
        let session = Session(
            interceptor: RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0), eventMonitors: [monitor],
            transport: mock)
        _ = await session.request("http://mock.test/a").validate().serializingString().response
        _ = await session.request("http://mock.test/c").serializingString().response
        await settle(monitor)
        func count(_ last: (String, String)) throws -> Int {
            try metrics.expectTimer("http.client.request.duration", dimensions("mock.test", last)).values.count
        }
        #expect(try count(("http.response.status_class", "3xx")) == 2)
        #expect(try count(("http.response.status_class", "5xx")) == 1)
        #expect(try count(("http.response.status_class", "2xx")) == 1)
        #expect(try metrics.expectCounter("http.client.retries").totalValue == 2)
        let failed = dimensions("mock.test", ("error.type", "cannotConnect"))
        #expect(try metrics.expectRecorder("http.client.request.body.size", failed).values.count == 2)
    }

    @Test func requestsInFlightAreCounted() async throws {
        let monitor = MetricsMonitor(factory: metrics)
        let session = Session(
            eventMonitors: [monitor], transport: MockTransport { _ in .text("late").delayed(by: .seconds(60)) })
        let requests = (0..<3).map { session.request("http://mock.test/\($0)") }
        let tasks = requests.map { $0.serializingData() }
        requests[0].suspend()
        requests[0].resume()
        let meter = try metrics.expectMeter("http.client.active_requests")
        while meter.lastValue != 3 { try await Task.sleep(for: .milliseconds(1)) }
        for request in requests { request.cancel() }
        for task in tasks { _ = await task.response }
        while meter.lastValue != 0 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(meter.values.max() == 3)
    }

    @Test(arguments: [Int.min, -1, 0, .max]) func datesAndLimitsCanHaveAnyValue(hostLimit: Int) async throws {
        let monitor = MetricsMonitor(factory: metrics, hostLimit: hostLimit)
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://a.test/")
        _ = await request.serializingData().response
        for (start, end) in [
            (Date.distantPast, Date.distantFuture), (.distantFuture, .distantPast),
            (Date(timeIntervalSince1970: .nan), Date()), (Date(), Date(timeIntervalSince1970: .infinity)),
        ] {
            var transaction = try #require(request.metrics?.transactionMetrics.last)
            (transaction.fetchStartDate, transaction.responseEndDate) = (start, end)
            (transaction.responseStartDate, transaction.requestEndDate) = (end, start)
            monitor.request(
                request,
                didGatherMetrics: TaskMetrics(
                    transactionMetrics: [transaction], taskInterval: DateInterval(), redirectCount: hostLimit))
        }
        await settle(monitor)
    }

    @Test func hostsBeyondTheLimitAreGrouped() async throws {
        let monitor = MetricsMonitor(factory: metrics, hostLimit: 2)
        let session = Session(eventMonitors: [monitor], transport: MockTransport { _ in .text("ok") })
        for host in ["a", "b", "c", "d", "a"] {
            _ = await session.request("http://\(host).test/").serializingData().response
        }
        await settle(monitor)
        let status = ("http.response.status_class", "2xx")
        for (host, count) in [("a.test", 2), ("b.test", 1), ("other", 2)] {
            let timer = try metrics.expectTimer("http.client.request.duration", dimensions(host, status))
            #expect(timer.values.count == count, "\(host)")
        }
    }
}

/// A transport that only reports connections.
private struct Counted: Transport {
    let statistics: Locked<[ConnectionStatistics.Host]>
    let capabilities = TransportCapabilities(name: "counted", features: [])
    func send(_ exchange: Exchange) async throws -> TransportResponse { throw CancellationError() }
    var connectionStatistics: ConnectionStatistics? { get async { .init(hosts: statistics.withLock { $0 }) } }
}

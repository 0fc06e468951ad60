#if Metrics
    import AfarResilience
    import AfarTesting
    import Foundation
    import MetricsTestKit
    import Testing

    @Suite struct MetricsTests {
        @Test func eventsAndCircuitsAreReported() async throws {
            let metrics = TestMetrics()
            let resilience = Resilience(retrier: .immediate(1), circuitBreaker: .strict)
            resilience.reportMetrics(to: metrics, hostLimit: 1)
            let log = EventLog(resilience)
            let service = Service(resilience) { _ in .status(500) }
            _ = await service.statuses(2)
            _ = await service.get("http://other.test/")
            // Retried, opened, rejected, retried, opened.
            _ = await log.next(5)
            func count(_ event: String) throws -> Int64 {
                let dimensions = [("key", Service.host), ("event", event)]
                return try metrics.expectCounter("http.client.resilience.events", dimensions).totalValue
            }
            #expect(try count("retried") == 1)
            #expect(try count("circuitOpened") == 1)
            #expect(try count("rejectedByCircuit") == 1)
            let circuit = try metrics.expectRecorder("http.client.resilience.circuit", [("key", Service.host)])
            #expect(circuit.values == [1])
            #expect(throws: (any Error).self) {
                try metrics.expectRecorder("http.client.resilience.circuit", [("key", "http://other.test")])
            }
        }
    }
#endif

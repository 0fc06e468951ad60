import Afar
import AfarResilience
import AfarTestServer
import AfarTransport
import Foundation
import Measurement

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends 200 requests per second to a flaky server, with and without the policies of AfarResilience. Measures the latencies when 5 % of the
/// responses take 500 ms, and the load on the server during an outage. Fails if the policies miss their targets.
///
/// With `--write`, it also updates the table and the chart in Docs/Resilience.md. With `--quick`, the runs are shorter.
@main struct ResilienceBench {
    static func main() async throws {
        let isQuick = CommandLine.arguments.contains("--quick")
        let server = try await FlakyServer.start()
        var targets: [(name: String, isMet: Bool)] = []

        var latencies: [LatencyResult] = []
        let hedgings: [(String, Hedging?)] = [
            ("without hedging", nil), ("hedging after 50 ms", Hedging(delay: .fixed(.milliseconds(50)))),
            ("hedging after the 90th percentile", Hedging(delay: .percentile(0.9))),
        ]
        for (name, hedging) in hedgings {
            let resilience = Resilience(circuitBreaker: nil, hedging: hedging)
            server.mode = .slowAtTimes
            let load = Load(resilience, server, seconds: isQuick ? 5 : 30)
            try await load.run()
            latencies.append(LatencyResult(name: name, load))
        }
        for result in latencies.dropFirst() {
            targets.append(("\(result.name) halves the 99th percentile", result.p99 * 2 <= latencies[0].p99))
            targets.append(("\(result.name) sends at most 10 % more requests", result.ratio <= 1.1))
        }

        var outages: [OutageResult] = []
        let retries = RetryPolicy(exponentialBackoffScale: 0.1, jitter: .full)
        let unlimited = RetryBudget(capacity: 1e9)
        let probeInterval = 1.0
        var breaker = CircuitBreaker()
        breaker.openDuration = .seconds(probeInterval)
        let policies: [(String, Resilience)] = [
            ("retries only", Resilience(retrier: retries, retryBudget: unlimited, circuitBreaker: nil)),
            ("with a retry budget", Resilience(retrier: retries, circuitBreaker: nil)),
            ("with a circuit breaker", Resilience(retrier: retries, circuitBreaker: breaker)),
        ]
        for (name, resilience) in policies {
            let pause = isQuick ? 2.0 : 5
            let load = Load(resilience, server, seconds: pause + 10 + pause)
            server.mode = .healthy
            async let run: Void = load.run()
            try await Task.sleep(for: .seconds(pause))
            server.mode = .out
            let start = load.mark()
            try await Task.sleep(for: .seconds(10))
            server.mode = .healthy
            let end = load.mark()
            try await run
            outages.append(OutageResult(name: name, load, from: start, to: end))
        }
        targets.append(("the budget limits the server's load to 120 %", outages[1].ratio <= 1.2))
        targets.append(("the circuit breaker limits the server's load to 5 %", outages[2].ratio <= 0.05))
        targets.append(("recovery takes at most one probe interval", outages[2].recovery <= probeInterval + 0.05))

        print("\n\(Load.rate) requests per second, 5 % of the responses take 500 ms")
        print(LatencyResult.table(latencies).text)
        print("\n\(Load.rate) requests per second, an outage of 10 s with the status 503")
        print(OutageResult.table(outages).text)
        print("\n" + targets.map { "\($0.isMet ? "met   " : "MISSED")  \($0.name)" }.joined(separator: "\n"))
        if CommandLine.arguments.contains("--write") { try Guide.write(latencies, outages) }
        await server.stop()
        exit(targets.allSatisfy(\.isMet) ? 0 : 1)
    }
}

struct LatencyResult {
    let name: String
    let p50: Double
    let p99: Double
    /// The requests that the server received per request of the callers.
    let ratio: Double

    init(name: String, _ load: Load) {
        self.name = name
        let latencies = load.calls.map { $0.end - $0.start }.sorted()
        (p50, p99) = (latencies[latencies.count / 2], latencies[latencies.count * 99 / 100])
        ratio = Double(load.arrivals.count) / Double(load.calls.count)
    }

    static func table(_ results: [LatencyResult]) -> Table {
        Table(
            columns: ["", "median", "99th percentile", "load on the server"],
            rows: results.map { [$0.name, $0.p50.milliseconds, $0.p99.milliseconds, $0.ratio.percent] })
    }
}

struct OutageResult {
    let name: String
    /// The requests that the server received during the outage per request of the callers.
    let ratio: Double
    /// The time from the end of the outage until the first success, in seconds.
    let recovery: Double

    init(name: String, _ load: Load, from start: Double, to end: Double) {
        self.name = name
        let outage = start..<end
        ratio =
            Double(load.arrivals.count { outage.contains($0) }) / Double(load.calls.count { outage.contains($0.start) })
        recovery = (load.calls.filter { $0.isSuccess && $0.end >= end }.map(\.end).min() ?? .infinity) - end
    }

    static func table(_ results: [OutageResult]) -> Table {
        Table(
            columns: ["", "load on the server", "recovery after"],
            rows: results.map { [$0.name, $0.ratio.percent, $0.recovery.milliseconds] })
    }
}

extension Double {
    fileprivate var milliseconds: String { String(format: self < 0.1 ? "%.1f ms" : "%.0f ms", self * 1000) }
    fileprivate var percent: String { String(format: self < 0.1 ? "%.1f %%" : "%.0f %%", self * 100) }
}

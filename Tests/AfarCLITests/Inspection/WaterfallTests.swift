import Afar
import AfarTestServer
import Foundation
import Testing

@testable import AfarCLI

struct WaterfallTests {
    private var metrics: TransactionMetrics {
        var metrics = TransactionMetrics()
        let start = Date(timeIntervalSinceReferenceDate: 1000)
        metrics.fetchStartDate = start
        metrics.domainLookupStartDate = start
        metrics.domainLookupEndDate = start.addingTimeInterval(0.01)
        metrics.connectStartDate = metrics.domainLookupEndDate
        metrics.connectEndDate = start.addingTimeInterval(0.025)
        metrics.requestStartDate = metrics.connectEndDate
        metrics.responseStartDate = start.addingTimeInterval(0.1)
        metrics.responseEndDate = start.addingTimeInterval(0.2)
        metrics.countOfResponseBodyBytesReceived = 1_000_000
        metrics.countOfResponseBodyBytesAfterDecoding = 3_000_000
        return metrics
    }

    private func lines(isUTF8: Bool = true, columns: Int = 60) -> [String] {
        Waterfall(style: .plain, isUTF8: isUTF8, columns: columns).lines(metrics, isSecure: false)
    }

    @Test func barsAreScaledToTheTotal() {
        #expect(
            lines() == [
                "DNS      █▉                                       10.0 ms",
                "Connect   ███▊                                    15.0 ms",
                "TLS      none, this is plain HTTP",
                "Waiting      ███████████████                      75.0 ms",
                "Body                        ███████████████████  100.0 ms",
                "Total    1.0 MB (3.0 MB decoded), 5.0 MB/s       200.0 ms",
            ])
    }

    @Test func asciiHasOtherBars() {
        #expect(lines(isUTF8: false)[3] == "Waiting      ###############                      75.0 ms")
        #expect(lines(isUTF8: false).joined().allSatisfy { $0.isASCII })
    }

    @Test func barsFitTheWidth() {
        for columns in [0, 1, 50, 80, 1000] {
            for line in lines(columns: columns).dropLast() { #expect(line.count <= max(33, min(columns, 80))) }
        }
    }

    @Test func aClockChangeIsHandled() {
        var odd = metrics
        odd.requestStartDate = .distantFuture
        odd.responseEndDate = odd.fetchStartDate?.addingTimeInterval(1e-6)
        for isUTF8 in [true, false] {
            let lines = Waterfall(style: .plain, isUTF8: isUTF8, columns: 60).lines(odd, isSecure: true)
            #expect(lines.count == 6 || lines.count == 7)
        }
    }

    @Test func severalRequestsAreNumbered() {
        let task = TaskMetrics(
            transactionMetrics: [metrics, metrics], taskInterval: DateInterval(start: .now, duration: 1))
        let text = Waterfall(style: .plain, isUTF8: true, columns: 80).text(task, isSecure: false)
        #expect(text.contains("  Request 1 of 2\n"))
        #expect(text.contains("  Request 2 of 2\n"))
    }

    @Test func timingIsWrittenOnlyToTheErrorStream() async throws {
        let server = try await TestServer.start()
        let url = server.url("/bytes/1000").absoluteString
        let outcome = try await Tool.run("get", url, "--timing", environment: ["LC_ALL": "C.UTF-8"])
        #expect(outcome.output.count == 1000)
        let names = outcome.errors.split(separator: "\n").compactMap { $0.split(separator: " ").first }
        #expect(
            names.filter { $0 != "Queued" }
                == ["DNS", "Connect", "TLS", "Waiting", "Body", "Total", "Server", "Sent", "Received"])
        #expect(outcome.errors.contains("new, http/1.1, no TLS") && outcome.errors.contains(", body 1.0 kB\n"))
        #expect(outcome.errors.contains("none, this is plain HTTP"))
        #expect(outcome.errors.contains("1.0 kB, "))
        #expect(outcome.errors.contains("█"))
        #expect(!outcome.errors.contains("\u{1B}"))
        let ascii = try await Tool.run("get", url, "--timing", environment: ["LC_ALL": "C"])
        #expect(ascii.errors.contains("#"))
        #expect(ascii.errors.allSatisfy { $0.isASCII })
    }

    @Test func aTerminalReceivesColorsInItsWidth() async throws {
        let server = try await TestServer.start()
        let url = server.url("/delay/0.05").absoluteString
        let coloured = try await Tool.runWithErrorsOnTerminal("get", url, "--timing")
        #expect(coloured.errors.contains("\u{1B}[33m"))
        let plain = try await Tool.runWithErrorsOnTerminal(
            "get", url, "--timing", columns: 50, environment: ["NO_COLOR": "1"])
        #expect(!plain.errors.contains("\u{1B}"))
        let bars = plain.errors.split(separator: "\n").prefix { !$0.contains("Server") }
        #expect(bars.map(\.count).max() == 49)
    }

    @Test func aFailureIsTimedToo() async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let outcome = try await Tool.run("get", server.url.absoluteString, "--timing", "--timeout", "0.3")
        #expect(outcome.status == 5)
        #expect(outcome.errors.contains("Body     not reached"))
        #expect(outcome.errors.contains("\nafar: "))
    }
}

import Afar
import Foundation
import Histogram

/// The results of a run, as text and for a report.
struct BenchSummary {
    let plan: RequestPlan
    let load: LoadOptions
    let result: BenchResult

    private static let percentiles = [("p50", 50.0), ("p90", 90), ("p95", 95), ("p99", 99), ("p99.9", 99.9)]

    private var throughput: Double { result.seconds > 0 ? Double(result.responses) / result.seconds : 0 }

    /// The results as lines of names and values.
    var text: String {
        let tally = result.tally
        func list(_ counts: [(String, Int)]) -> String { counts.map { "\($0.0): \($0.1)" }.joined(separator: ", ") }
        var lines = [
            (
                "Requests",
                "\(result.responses + result.failures) in \(Self.seconds(result.seconds)), \(Self.rate(throughput)) responses per second"
            ),
            ("Statuses", result.responses > 0 ? list(statuses) : "none"),
            ("Errors", result.failures > 0 ? list(errors) : "none"),
        ]
        if tally.unfinished > 0 {
            lines.append(("Unfinished", "\(tally.unfinished), whose time until the end counts as latency"))
        }
        lines += [
            ("Sent", Self.amount(result.bytesSent, in: result.seconds)),
            ("Received", Self.amount(result.bytesReceived, in: result.seconds)),
        ]
        if tally.latencies.totalCount > 0 {
            lines.append(("Latency", "mean \(Quantity.milliseconds(tally.meanSeconds))"))
            lines += Self.percentiles.map { ("  " + $0.0, Quantity.milliseconds(result.percentile($0.1))) }
            lines.append(("  max", Quantity.milliseconds(tally.longestSeconds)))
        }
        return lines.map { $0.padding(toLength: 11, withPad: " ", startingAt: 0) + $1 + "\n" }.joined()
    }

    /// The members of the JSON report.
    var members: [(String, JSONOutput)] {
        let tally = result.tally
        func object(_ counts: [(String, Int)]) -> JSONOutput { .object(counts.map { ($0.0, .integer(Int64($0.1))) }) }
        func milliseconds(_ seconds: Double) -> JSONOutput {
            tally.latencies.totalCount > 0 ? .milliseconds(seconds) : .null
        }
        return [
            ("concurrency", .integer(Int64(load.concurrency))),
            ("rate", load.rate.map { .number($0) } ?? .null),
            ("duration", .milliseconds(result.seconds)),
            ("requests", .integer(Int64(result.responses + result.failures))),
            ("responses", .integer(Int64(result.responses))),
            ("failures", .integer(Int64(result.failures))),
            ("unfinished", .integer(Int64(tally.unfinished))),
            ("responsesPerSecond", .number(throughput)),
            ("statuses", object(statuses)),
            ("errors", object(errors)),
            ("bytesSent", .integer(result.bytesSent)),
            ("bytesReceived", .integer(result.bytesReceived)),
            (
                "latency",
                .object(
                    [("mean", milliseconds(tally.meanSeconds))]
                        + Self.percentiles.map { ($0.0, milliseconds(result.percentile($0.1))) }
                        + [("max", milliseconds(tally.longestSeconds))])
            ),
        ]
    }

    private var statuses: [(String, Int)] {
        result.tally.statuses.sorted { $0.key < $1.key }.map { ("\($0.key)", $0.value) }
    }

    private var errors: [(String, Int)] { result.tally.errors.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

    private static func seconds(_ seconds: Double) -> String { String(format: "%.1f s", seconds) }

    private static func rate(_ rate: Double) -> String { String(format: rate < 100 ? "%.1f" : "%.0f", rate) }

    private static func amount(_ bytes: Int64, in seconds: Double) -> String {
        Quantity.bytes(bytes) + (Quantity.rate(bytes, in: seconds).map { ", \($0)" } ?? "")
    }
}

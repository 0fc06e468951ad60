import Foundation
import Measurement

/// The results of all clients for one workload.
struct WorkloadResult {
    let workload: Workload
    let figures: [Figures]

    var title: String {
        let connections =
            workload.inFlight == 1 || workload.isShared ? "one connection" : "\(workload.inFlight) connections"
        return "\(workload.title) (\(workload.name), \(connections))"
    }

    /// Returns the processor time per request, in the workload's unit.
    func cpu(_ figures: Figures) -> Double {
        figures.cpuSecondsPerRequest * (workload.isBulk ? 1e3 : 1e6)
    }

    var cpuUnit: String { workload.isBulk ? "ms" : "µs" }

    var table: Table {
        let yardstick = figures.first { $0.client == workload.yardstick }
        let hasCounts = figures.contains { $0.counts != nil }
        var columns = ["client", workload.isBulk ? "MB/s" : "requests/s", "CPU \(cpuUnit)"]
        if hasCounts { columns += ["instructions", "allocations"] }
        if !workload.isBulk { columns.append("switches") }
        columns += ["peak MB", "rate ÷ \(workload.yardstick)'s", "CPU ÷ \(workload.yardstick)'s"]
        let rows = figures.map { figures in
            let rate = figures.requestsPerSecond * (workload.isBulk ? Double(Site.gibibyte) / 1e6 : 1)
            var row = [figures.client, rate.text(decimals: 0), cpu(figures).text(decimals: workload.isBulk ? 0 : 1)]
            if hasCounts {
                row.append(figures.counts?.instructions.text(decimals: 0) ?? "–")
                row.append(figures.counts?.allocations.text(decimals: 0) ?? "–")
            }
            if !workload.isBulk { row.append(figures.switchesPerRequest.text(decimals: 1)) }
            row.append(figures.peakMegabytes.text(decimals: 0))
            guard let yardstick else { return row + ["–", "–"] }
            row.append((figures.requestsPerSecond / yardstick.requestsPerSecond).text(decimals: 2))
            row.append((figures.cpuSecondsPerRequest / yardstick.cpuSecondsPerRequest).text(decimals: 2))
            return row
        }
        return Table(columns: columns, rows: rows)
    }
}

extension Double {
    /// Formats a number with grouping separators, such as 12,345.6.
    func text(decimals: Int) -> String {
        formatted(.number.precision(.fractionLength(decimals)).locale(Locale(identifier: "en_US")))
    }
}

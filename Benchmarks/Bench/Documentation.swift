import Foundation
import Measurement
import Servers

/// Updates the performance page and the charts.
enum Documentation {
    private static let begin = "<!-- figures: written by make bench -->"
    private static let end = "<!-- end of figures -->"

    /// The workloads in the chart of the README.
    private static let mainWorkloads = ["tiny-1", "tiny-64"]

    /// Inserts the tables between the page's markers and draws the charts: one with all workloads, and a small one.
    static func write(_ results: [WorkloadResult], _ machine: Machine) throws {
        let folder = Repository.root.appending(path: "Docs")
        let page = folder.appending(path: "Performance.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        guard let begins = text.range(of: begin), let ends = text.range(of: end), begins.upperBound < ends.lowerBound
        else { throw Failure("\(page.path) contains no markers for the figures") }

        let tables = results.map { "**\($0.title)**\n\n\($0.table.markdown)" }
        let figures = ([machine.lines.joined(separator: "\n")] + tables).joined(separator: "\n\n")
        let written = "\(text[..<begins.upperBound])\n\(figures)\n\(text[ends.lowerBound...])"
        try written.write(to: page, atomically: true, encoding: .utf8)
        let main = results.filter { mainWorkloads.contains($0.workload.name) }
        for (name, results) in [("performance", results), ("performance-small", main)] {
            try Chart(results: results).svg
                .write(to: folder.appending(path: "\(name).svg"), atomically: true, encoding: .utf8)
        }
    }
}

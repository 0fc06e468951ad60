import Foundation
import Measurement
import Servers

/// Updates the performance page and its chart.
enum Documentation {
    private static let begin = "<!-- figures: written by make bench -->"
    private static let end = "<!-- end of figures -->"

    /// Inserts the tables between the page's markers and draws the chart.
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
        try Chart(results: results).svg
            .write(to: folder.appending(path: "performance.svg"), atomically: true, encoding: .utf8)
    }
}

import Foundation
import Measurement
import Servers

/// Updates the table and the chart of the guide.
enum Guide {
    private static let begin = "<!-- figures: written by make bench-resilience ARGS=--write -->"
    private static let end = "<!-- end of figures -->"

    static func write(_ latencies: [LatencyResult], _ outages: [OutageResult]) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Docs").standardized
        let page = folder.appending(path: "Resilience.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        guard let begins = text.range(of: begin), let ends = text.range(of: end), begins.upperBound < ends.lowerBound
        else { throw Failure("\(page.path) contains no markers for the figures") }
        let tables = [LatencyResult.table(latencies), OutageResult.table(outages)].map(\.markdown)
        let written = "\(text[..<begins.upperBound])\n\(tables.joined(separator: "\n\n"))\n\(text[ends.lowerBound...])"
        try written.write(to: page, atomically: true, encoding: .utf8)
        try chart(latencies, outages)
            .write(to: folder.appending(path: "resilience.svg"), atomically: true, encoding: .utf8)
    }

    private struct Bar {
        let name: String
        let value: Double
        let text: String
    }

    private static func chart(_ latencies: [LatencyResult], _ outages: [OutageResult]) -> String {
        let groups: [(title: String, bars: [Bar])] = [
            (
                "99th percentile of the latencies",
                latencies.map { Bar(name: $0.name, value: $0.p99, text: "\(Int(($0.p99 * 1000).rounded())) ms") }
            ),
            (
                "Requests to the server during an outage, per request of the callers",
                outages.map { Bar(name: $0.name, value: $0.ratio, text: "\(Int(($0.ratio * 100).rounded())) %") }
            ),
        ]
        var y = 0
        var shapes: [String] = []
        for group in groups {
            y += 24
            shapes.append(#"<text class="title" x="0" y="\#(y - 6)">\#(group.title)</text>"#)
            let largest = group.bars.map(\.value).max() ?? 1
            for (index, bar) in group.bars.enumerated() {
                let length = max(1, Int(bar.value / largest * 400))
                shapes.append(
                    """
                    <g\(index == 0 ? "" : #" class="policy""#)><text x="220" y="\(y + 13)" text-anchor="end">\(bar.name)</text>\
                    <rect x="230" y="\(y + 1)" width="\(length)" height="16" rx="2"/>\
                    <text x="\(238 + length)" y="\(y + 13)">\(bar.text)</text></g>
                    """)
                y += 22
            }
            y += 16
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 \(y)" width="760" \
            role="img" aria-label="Latencies and load with and without resilience policies; the figures are in the tables">
            <style>
            text { font: 13px system-ui, sans-serif; fill: #1f2328 }
            .title { font-weight: 600 }
            rect { fill: #afb8c1 }
            .policy rect { fill: #e8590c }
            @media (prefers-color-scheme: dark) {
            text { fill: #e6edf3 }
            rect { fill: #484f58 }
            .policy rect { fill: #ff922b }
            }
            </style>
            \(shapes.joined(separator: "\n"))
            </svg>

            """
    }
}

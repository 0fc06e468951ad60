/// A bar chart of processor time per request, with one group per workload and one bar per client.
struct Chart {
    let results: [WorkloadResult]

    private static let width = 760
    private static let barStart = 140
    private static let barEnd = 660
    private static let rowHeight = 22
    private static let groupHeight = 44

    var svg: String {
        var y = 48
        var shapes: [String] = []
        for result in results where result.figures.count > 1 {
            y += Self.groupHeight
            shapes.append(#"<text class="title" x="0" y="\#(y - 10)">\#(result.workload.title)</text>"#)
            let largest = result.figures.map(result.cpu).max() ?? 1
            for figures in result.figures {
                shapes.append(bar(figures, of: result, largest: largest, y: y))
                y += Self.rowHeight
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(y + 12)" width="\(Self.width)" \
            role="img" aria-label="Processor time of HTTP clients; the figures are in the tables">
            <style>
            text { font: 13px system-ui, sans-serif; fill: #1f2328 }
            .heading { font-size: 17px; font-weight: 600 }
            .title { font-weight: 600 }
            .note { fill: #656d76 }
            rect { fill: #afb8c1 }
            .afar rect { fill: #e8590c }
            .afar text { font-weight: 600 }
            @media (prefers-color-scheme: dark) {
            text { fill: #e6edf3 }
            .note { fill: #8d96a0 }
            rect { fill: #484f58 }
            .afar rect { fill: #ff922b }
            }
            </style>
            <text class="heading" x="0" y="20">Processor time of the client</text>
            <text class="note" x="0" y="42">µs a request, or ms for 1 GiB; shorter is better</text>
            \(shapes.joined(separator: "\n"))
            </svg>

            """
    }

    private func bar(_ figures: Figures, of result: WorkloadResult, largest: Double, y: Int) -> String {
        let cpu = result.cpu(figures)
        let length = max(1, Int(cpu / largest * Double(Self.barEnd - Self.barStart)))
        let value = "\(cpu.text(decimals: cpu < 100 ? 1 : 0)) \(result.cpuUnit)"
        let group = figures.client == "Afar" ? #"<g class="afar">"# : "<g>"
        return """
            \(group)<text x="\(Self.barStart - 10)" y="\(y + 13)" text-anchor="end">\(figures.client)</text>\
            <rect x="\(Self.barStart)" y="\(y + 1)" width="\(length)" height="16" rx="2"/>\
            <text x="\(Self.barStart + length + 8)" y="\(y + 13)">\(value)</text></g>
            """
    }
}

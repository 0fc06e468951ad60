import Foundation

/// Prints a trial's resource samples as a table.
enum Table {
    private static let titles = [
        "requests", "seconds", "per s", "descriptors", "threads", "heap kB", "resident kB", "handles", "made",
    ]

    static func printTitles() { print(titles.map(column).joined()) }

    static func printRow(_ sample: Sample) {
        let rate = sample.seconds > 0 ? Int(Double(sample.requests) / sample.seconds) : 0
        let cells = [
            "\(sample.requests)", String(format: "%.1f", sample.seconds), "\(rate)", "\(sample.descriptors)",
            "\(sample.threads)", String(format: "%.1f", Double(sample.heapBytes) / 1024),
            "\(sample.residentBytes / 1024)", "\(sample.handles)", "\(sample.handlesMade)",
        ]
        print(cells.map(column).joined())
        // Output to a pipe is buffered.
        fflush(nil)
    }

    private static func column(_ text: String) -> String {
        String(repeating: " ", count: max(1, 12 - text.count)) + text
    }
}

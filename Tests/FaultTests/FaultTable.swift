import Foundation
import Testing

/// The figures in Docs/Faults.md. Faults with more than one allowed outcome are counted separately, so that the table
/// is stable.
enum FaultTable {
    static func check(_ transport: String, _ faults: [Probe.Listing], _ results: Probe.Results) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Docs/Faults.md")
        let table = Self.table(faults)
        let text = try String(contentsOf: file, encoding: .utf8)
        if ProcessInfo.processInfo.environment["AFAR_UPDATE_DOCS"] == "1" {
            try replaced(in: text, with: table).write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(text.contains(table), "Docs/Faults.md is out of date: run AFAR_UPDATE_DOCS=1 make test")
        }
    }

    private static let (begin, end) = ("<!-- table -->\n", "<!-- end of table -->")

    private static func replaced(in text: String, with table: String) -> String {
        guard let start = text.range(of: begin), let stop = text.range(of: end) else { return text }
        return text[..<start.upperBound] + table + text[stop.lowerBound...]
    }

    static func table(_ faults: [Probe.Listing]) -> String {
        var families: [String] = []
        for fault in faults where families.last != fault.family && !families.contains(fault.family) {
            families.append(fault.family)
        }
        var rows = [
            "| Family | Faults | libcurl, HTTPTransport: error | either | success | URLSession: error | either | success | may end the process | may not end |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        func row(_ name: String, _ faults: [Probe.Listing]) -> String {
            func counts(_ outcomes: (Probe.Listing) -> Set<Probe.Outcome>) -> [Int] {
                [[.error], [.error, .success], [.success]].map { kind in faults.count { outcomes($0) == kind } }
            }
            let cells =
                [faults.count] + counts(\.own) + counts(\.urlSession) + [
                    faults.count(where: \.mayTrap), faults.count(where: \.mayHang),
                ]
            return "| \(name) | \(cells.map(String.init).joined(separator: " | ")) |"
        }
        rows += families.map { family in row(family, faults.filter { $0.family == family }) }
        return (rows + [row("**All**", faults)]).joined(separator: "\n") + "\n"
    }
}

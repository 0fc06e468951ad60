import AfarConformance
import Foundation
import Testing

/// Compares the table in Docs/Conformance.md with the conformance cases.
@Suite struct ConformanceTable {
    private static let (begin, end) = ("<!-- table -->\n", "<!-- end of table -->")

    @Test func theDocumentedTableMatchesTheSuite() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Docs/Conformance.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        if ProcessInfo.processInfo.environment["AFAR_UPDATE_DOCS"] == "1",
            let start = text.range(of: Self.begin), let stop = text.range(of: Self.end)
        {
            try (text[..<start.upperBound] + Self.table + text[stop.lowerBound...])
                .write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(
                text.contains(Self.table), "Docs/Conformance.md is out of date: run AFAR_UPDATE_DOCS=1 make test")
        }
    }

    private static var table: String {
        let subjects = ConformanceSubject.all
        let names = subjects.map(\.name).joined(separator: " | ")
        var lines = [
            "| Cases about | All | \(names) |", "|---|---|\(String(repeating: "---|", count: subjects.count))",
        ]
        func row(_ name: String, _ cases: [ConformanceCase]) -> String {
            let counts = subjects.map { subject in cases.count { subject.exclusionReason(for: $0) == nil } }
            return "| \(name) | \(cases.count) | \(counts.map(String.init).joined(separator: " | ")) |"
        }
        for area in ConformanceCase.Area.allCases {
            lines.append(row(area.rawValue, ConformanceCase.all.filter { $0.area == area }))
        }
        lines += [
            row("**All**", ConformanceCase.all), "", "Left out:", "", "| Transport | Case | Reason |", "|---|---|---|",
        ]
        for subject in subjects {
            let reasons = Dictionary(grouping: ConformanceCase.all) { subject.exclusionReason(for: $0) }
            for (reason, cases) in reasons.sorted(by: { ($0.key ?? "") < ($1.key ?? "") }) {
                guard let reason else { continue }
                let names = cases.count > 5 ? "\(cases.count) cases" : cases.map(\.name).joined(separator: "; ")
                lines.append("| \(subject.name) | \(names) | \(reason) |")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

import Foundation

extension TransactionMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    /// The connection, how long each phase took, and the bytes, in one line.
    public var description: String {
        let times = measuredPhases.map { "\($0.name) \(Quantity.milliseconds($0.seconds))" }
        let total = "total \(Quantity.milliseconds(duration))"
        let facts = ConnectionSummary(self, isSecure: nil)
        return [facts.connection, (times + [total]).joined(separator: ", "), facts.traffic]
            .compactMap { $0 }.joined(separator: "; ")
    }

    /// The same as a small table: a line for each phase.
    public var debugDescription: String {
        let rows = measuredPhases + [("Total", duration)]
        let nameWidth = rows.map(\.name.count).max() ?? 0
        let times = rows.map { Quantity.milliseconds($0.seconds) }
        let timeWidth = times.map(\.count).max() ?? 0
        let table = zip(rows, times).map { row, time in
            "  \(row.name)" + String(repeating: " ", count: nameWidth - row.name.count + 2 + timeWidth - time.count)
                + time
        }
        return (ConnectionSummary(self, isSecure: nil).lines + table).joined(separator: "\n")
    }

    private var measuredPhases: [(name: String, seconds: Double)] {
        phases(isSecure: secureConnectionStartDate != nil).compactMap { phase in
            guard case .measured(let time) = phase.time else { return nil }
            return (phase.name.rawValue, time.upperBound - time.lowerBound)
        }
    }
}

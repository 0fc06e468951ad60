import Foundation

extension TransactionMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    /// The connection, how long each stage took, and the bytes, in one line.
    public var description: String {
        let times = measuredStages.map { "\($0.name) \(Quantity.milliseconds($0.seconds))" }
        let total = "total \(Quantity.milliseconds(duration))"
        let facts = ConnectionFacts(self, isSecure: nil)
        return [facts.connection, (times + [total]).joined(separator: ", "), facts.traffic]
            .compactMap { $0 }.joined(separator: "; ")
    }

    /// The same as a small table: a line for each stage.
    public var debugDescription: String {
        let rows = measuredStages + [("Total", duration)]
        let nameWidth = rows.map(\.name.count).max() ?? 0
        let times = rows.map { Quantity.milliseconds($0.seconds) }
        let timeWidth = times.map(\.count).max() ?? 0
        let table = zip(rows, times).map { row, time in
            "  \(row.name)" + String(repeating: " ", count: nameWidth - row.name.count + 2 + timeWidth - time.count)
                + time
        }
        return (ConnectionFacts(self, isSecure: nil).lines + table).joined(separator: "\n")
    }

    private var measuredStages: [(name: String, seconds: Double)] {
        stages(isSecure: secureConnectionStartDate != nil).compactMap { stage in
            guard case .measured(let time) = stage.time else { return nil }
            return (stage.name.rawValue, time.upperBound - time.lowerBound)
        }
    }
}

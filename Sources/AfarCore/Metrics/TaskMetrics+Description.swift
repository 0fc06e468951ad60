import Foundation

extension TaskMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    /// How many requests went out, how long all took, and each of them, in one line.
    public var description: String {
        ([summary] + transactionMetrics.map(\.description)).joined(separator: " | ")
    }

    /// The same as small tables, one for each request that went out.
    public var debugDescription: String {
        let count = transactionMetrics.count
        let tables = transactionMetrics.enumerated().map { index, transaction in
            (count > 1 ? "Request \(index + 1) of \(count)\n" : "") + transaction.debugDescription
        }
        return ([summary] + tables).joined(separator: "\n")
    }

    /// How many requests went out, and how long all took.
    var summary: String {
        let parts = [
            Quantity.count(transactionMetrics.count, of: "request"),
            redirectCount > 0 ? Quantity.count(redirectCount, of: "redirect") : nil,
        ]
        return parts.compactMap { $0 }.joined(separator: ", ") + " in " + Quantity.milliseconds(taskInterval.duration)
    }
}

public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How one attempt of a request went, hop by hop.
public struct TaskMetrics: Sendable, Hashable {
    /// One for each request that went out, in order.
    public var transactionMetrics: [TransactionMetrics]
    /// From the attempt's start to its end.
    public var taskInterval: DateInterval
    /// How many redirects were followed.
    public var redirectCount: Int

    /// Makes metrics.
    public init(transactionMetrics: [TransactionMetrics], taskInterval: DateInterval, redirectCount: Int = 0) {
        self.transactionMetrics = transactionMetrics
        self.taskInterval = taskInterval
        self.redirectCount = redirectCount
    }
}

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

/// What was measured of one attempt of a request.
struct AttemptReport {
    var start: Date
    var end: Date
    var report: TransportReport
    /// What was asked for; nil when nothing was sent.
    var request: URLRequest?
    /// What came in the end; nil when nothing did.
    var response: ResponseHead?

    var metrics: TaskMetrics {
        // A clock that was set back must not make an interval that ends before it starts.
        TaskMetrics(
            transactionMetrics: transactions,
            taskInterval: DateInterval(start: start, duration: max(0, end.timeIntervalSince(start))),
            redirectCount: report.redirects.count)
    }

    private var transactions: [TransactionMetrics] {
        var transactions = report.transactions
        guard let last = transactions.indices.last, transactions[last].heads == nil, let request else {
            return transactions
        }
        let sent = report.redirects.last.map(request.following) ?? request
        if let head = try? HTTPRequest(sent, bodyLength: nil) {
            transactions[last].heads = TransactionHeads(request: head, response: response)
        }
        return transactions
    }
}

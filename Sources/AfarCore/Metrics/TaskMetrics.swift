public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The metrics of one attempt of a request, hop by hop.
public struct TaskMetrics: Sendable, Hashable {
    /// The metrics of each request that was sent, in order.
    public var transactionMetrics: [TransactionMetrics]
    /// The time from the attempt's start to its end.
    public var taskInterval: DateInterval
    /// The number of redirects that were followed.
    public var redirectCount: Int

    /// Creates metrics.
    public init(transactionMetrics: [TransactionMetrics], taskInterval: DateInterval, redirectCount: Int = 0) {
        self.transactionMetrics = transactionMetrics
        self.taskInterval = taskInterval
        self.redirectCount = redirectCount
    }
}

extension TaskMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    /// The number of requests sent, the total time, and the metrics of each request, on one line.
    public var description: String {
        ([summary] + transactionMetrics.map(\.description)).joined(separator: " | ")
    }

    /// The same as tables, one for each request sent.
    public var debugDescription: String {
        let count = transactionMetrics.count
        let tables = transactionMetrics.enumerated().map { index, transaction in
            (count > 1 ? "Request \(index + 1) of \(count)\n" : "") + transaction.debugDescription
        }
        return ([summary] + tables).joined(separator: "\n")
    }

    /// The number of requests sent and the total time.
    var summary: String {
        let parts = [
            Quantity.count(transactionMetrics.count, of: "request"),
            redirectCount > 0 ? Quantity.count(redirectCount, of: "redirect") : nil,
        ]
        return parts.compactMap { $0 }.joined(separator: ", ") + " in " + Quantity.milliseconds(taskInterval.duration)
    }
}

/// The measurements of one attempt of a request.
struct AttemptReport {
    var start: Date
    var end: Date
    var report: TransportReport
    /// The request; nil if nothing was sent.
    var request: URLRequest?
    /// The final response; nil if none arrived.
    var response: ResponseHead?

    var metrics: TaskMetrics {
        // If the clock was set back, the interval must not end before it starts.
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

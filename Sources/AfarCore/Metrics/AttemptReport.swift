import AfarTransport
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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

import Foundation

/// What was measured of one attempt of a request.
struct AttemptReport {
    var start: Date
    var end: Date
    var report: TransportReport

    var metrics: TaskMetrics {
        // A clock that was set back must not make an interval that ends before it starts.
        TaskMetrics(
            transactionMetrics: report.transactions,
            taskInterval: DateInterval(start: start, duration: max(0, end.timeIntervalSince(start))),
            redirectCount: report.redirects.count)
    }
}

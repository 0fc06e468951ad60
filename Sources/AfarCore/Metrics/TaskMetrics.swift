public import Foundation

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

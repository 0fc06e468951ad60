public import HTTPTypes

/// A transport's report on an exchange that has ended, whether it succeeded or failed.
public struct TransportReport: Sendable {
    /// The metrics of the exchange's requests and responses, in order. There is more than one if redirects were followed or
    /// challenges answered.
    public var transactions: [TransactionMetrics]
    /// The redirects that were followed, in order.
    public var redirects: [Redirect] = []
    /// The trailer fields after a chunked body (RFC 9110, section 6.5).
    public var trailers: HTTPFields

    /// Creates a report.
    public init(transactions: [TransactionMetrics] = [], trailers: HTTPFields = HTTPFields()) {
        self.transactions = transactions
        self.trailers = trailers
    }

    /// Appends the report of the next hop.
    package mutating func append(_ next: TransportReport) {
        transactions += next.transactions
        redirects += next.redirects
        trailers = next.trailers
    }
}

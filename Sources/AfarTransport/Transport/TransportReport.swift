public import HTTPTypes

/// What a transport reports when an exchange has ended, whether it succeeded or failed.
public struct TransportReport: Sendable {
    /// The requests and responses that the exchange took, in order: one, or more when redirects were followed and
    /// challenges answered.
    public var transactions: [TransactionMetrics]
    /// The redirects that were followed, in order.
    public var redirects: [Redirect] = []
    /// Fields that came after a chunked body (RFC 9110, section 6.5).
    public var trailers: HTTPFields

    /// Makes a report.
    public init(transactions: [TransactionMetrics] = [], trailers: HTTPFields = HTTPFields()) {
        self.transactions = transactions
        self.trailers = trailers
    }

    /// Adds the report of the hop after this one.
    package mutating func append(_ next: TransportReport) {
        transactions += next.transactions
        redirects += next.redirects
        trailers = next.trailers
    }
}

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
}

extension TransportReport {
    /// Whether nothing was measured.
    var isEmpty: Bool { transactions.isEmpty && redirects.isEmpty }

    /// Goes on with the report of what came after.
    mutating func append(_ next: TransportReport) {
        transactions += next.transactions
        redirects += next.redirects
        trailers = next.trailers
    }

    /// An error that came after this, with the report of all.
    func followed(by error: any Error) -> any Error {
        guard var error = error as? TransportError else { return error }
        var whole = self
        whole.append(error.report)
        error.report = whole
        return error
    }
}

extension TransportResponse {
    /// This response, with the report of what came before it as well.
    func preceded(by report: TransportReport) -> TransportResponse {
        var response = self
        if case .stream(let stream) = body { stream.precede(by: report) }
        response.report = report
        response.report.append(self.report)
        return response
    }
}

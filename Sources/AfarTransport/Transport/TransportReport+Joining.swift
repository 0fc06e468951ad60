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

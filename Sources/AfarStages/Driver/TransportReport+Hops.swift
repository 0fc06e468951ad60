extension TransportReport {
    /// Whether the report contains no measurements.
    var isEmpty: Bool { transactions.isEmpty && redirects.isEmpty }

    /// Returns an error of a later hop, with the report of all hops.
    func followed(by error: any Error) -> any Error {
        guard var error = error as? TransportError else { return error }
        var whole = self
        whole.append(error.report)
        error.report = whole
        return error
    }

    /// Returns the report of a hop that isn't the last one, with its request and response.
    func describing(_ hop: Hop, _ response: ResponseHead?) -> TransportReport {
        guard let last = transactions.indices.last, transactions[last].heads == nil else { return self }
        var copy = self
        copy.transactions[last].heads = TransactionHeads(request: hop.exchange.request, response: response)
        return copy
    }
}

extension TransportResponse {
    /// Returns this response with the report of the previous hops added.
    func preceded(by report: TransportReport) -> TransportResponse {
        var response = self
        if case .stream(let stream) = body { stream.precede(by: report) }
        response.report = report
        response.report.append(self.report)
        return response
    }
}

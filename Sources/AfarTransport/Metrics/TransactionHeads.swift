package import HTTPTypes

/// The heads of a request and of the response to it.
package final class TransactionHeads: Sendable, Hashable, CustomReflectable {
    package let request: HTTPRequest
    /// Nil when none came.
    package let response: ResponseHead?

    package init(request: HTTPRequest, response: ResponseHead?) {
        self.request = request
        self.response = response
    }

    /// Nothing: header fields may be credentials.
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    package static func == (lhs: TransactionHeads, rhs: TransactionHeads) -> Bool {
        lhs.request == rhs.request && lhs.response === rhs.response
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(request) }
}

extension TransportReport {
    /// This report of a hop that is not the last one, with what was sent and what came.
    func describing(_ hop: Hop, _ response: ResponseHead?) -> TransportReport {
        guard let last = transactions.indices.last, transactions[last].heads == nil else { return self }
        var copy = self
        copy.transactions[last].heads = TransactionHeads(request: hop.exchange.request, response: response)
        return copy
    }
}

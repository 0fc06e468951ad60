package import HTTPTypes

/// The heads of a request and of the response to it.
package final class TransactionHeads: Sendable, Hashable, CustomReflectable {
    package let request: HTTPRequest
    /// Nil if no response arrived.
    package let response: ResponseHead?

    package init(request: HTTPRequest, response: ResponseHead?) {
        self.request = request
        self.response = response
    }

    /// Empty, because header fields can contain credentials.
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    package static func == (lhs: TransactionHeads, rhs: TransactionHeads) -> Bool {
        lhs.request == rhs.request && lhs.response === rhs.response
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(request) }
}

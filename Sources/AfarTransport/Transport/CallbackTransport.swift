/// A transport that calls back instead of having a task wait for it, which saves a task and a switch of threads per
/// request. Afar's own are such; ``Transport/send(_:)`` is a line over it.
package protocol CallbackTransport: Transport {
    /// Makes an exchange ready. Nothing is sent yet.
    ///
    /// - Throws: A ``TransportError`` when the exchange cannot be begun.
    func prepare(_ hop: Hop) throws -> any PreparedExchange
}

/// An exchange that is ready to be started.
package protocol PreparedExchange: AnyObject, Sendable {
    /// Starts the exchange; to be called once. It returns at once and runs nobody else's code.
    ///
    /// - Parameter completion: Called once, wherever the transport reads the network, so it must be quick.
    func start(completion: @escaping @Sendable (Result<TransportResponse, any Error>) -> Void)

    /// Ends the exchange, at whatever stage it is, even before its start.
    func cancel()
}

extension PreparedExchange {
    /// Performs the exchange, for whoever waits for it; to be called once.
    package func response() async throws -> TransportResponse {
        let outcome = Deferred<Result<TransportResponse, any Error>>()
        return try await withTaskCancellationHandler {
            start { outcome.fulfil($0) }
            return try await outcome.value.get()
        } onCancel: {
            cancel()
        }
    }
}

/// How exchanges are given to a transport; looked up once.
package enum ExchangeSender: Sendable {
    case callback(any CallbackTransport)
    /// A custom transport, or a decorator around another.
    case awaited(any Transport)

    package init(_ transport: any Transport) {
        self = (transport as? any CallbackTransport).map { .callback($0) } ?? .awaited(transport)
    }
}

/// A transport that can perform an exchange without a task that waits for it, which saves a task and a switch of threads
/// per request.
package protocol DirectTransport: Transport {
    /// Makes an exchange ready whose response is collected. Nothing is sent yet.
    ///
    /// - Throws: A ``TransportError`` when the exchange cannot be begun.
    func prepare(_ exchange: Exchange) throws -> any PreparedExchange

    /// Whether the response to a prepared exchange is the last one. If not, ``finish(_:after:elapsed:)`` gets that.
    func isFinal(_ response: TransportResponse) -> Bool

    /// Goes on, in a task, with an exchange whose first response is not the last one.
    ///
    /// - Parameters:
    ///   - exchange: What was prepared.
    ///   - elapsed: The time that this took.
    func finish(
        _ exchange: Exchange, after response: TransportResponse, elapsed: Duration
    ) async throws -> TransportResponse
}

extension DirectTransport {
    package func isFinal(_ response: TransportResponse) -> Bool { true }

    package func finish(
        _ exchange: Exchange, after response: TransportResponse, elapsed: Duration
    ) async throws -> TransportResponse { response }
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

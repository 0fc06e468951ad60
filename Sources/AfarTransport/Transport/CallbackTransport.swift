/// A transport that calls a completion handler. Compared with suspending a task, this saves a task and a thread switch per
/// request.
///
/// Afar's own transports are callback transports. For them, ``Transport/send(_:)`` is one line on top.
package protocol CallbackTransport: Transport {
    /// Prepares an exchange without sending anything.
    ///
    /// - Throws: A ``TransportError`` if the exchange can't be started.
    func prepare(_ hop: Hop) throws -> any PreparedExchange
}

/// An exchange that is ready to be started.
package protocol PreparedExchange: AnyObject, Sendable {
    /// Starts the exchange and returns immediately, without running user code. Call it once.
    ///
    /// - Parameter completion: Called once, on the thread that reads from the network, so it must be quick.
    func start(completion: @escaping @Sendable (Result<TransportResponse, any Error>) -> Void)

    /// Ends the exchange in any state, even before its start.
    func cancel()
}

extension PreparedExchange {
    /// Performs the exchange and returns its response. Call it once.
    package func response() async throws -> TransportResponse {
        let outcome = Deferred<Result<TransportResponse, any Error>>()
        return try await withTaskCancellationHandler {
            start { outcome.fulfill($0) }
            return try await outcome.value.get()
        } onCancel: {
            cancel()
        }
    }
}

/// The way in which exchanges are passed to a transport. Determined once for each transport.
package enum ExchangeSender: Sendable {
    case callback(any CallbackTransport)
    /// A custom transport, or a wrapper around another.
    case awaited(any Transport)
    /// The first transport that has the required features, or the last one.
    case firstCapable([Candidate])

    /// One of several transports.
    package final class Candidate: Sendable {
        fileprivate let sender: ExchangeSender
        fileprivate let features: TransportCapabilities.Features

        fileprivate init(_ transport: any Transport) {
            (sender, features) = (ExchangeSender(transport), transport.capabilities.features)
        }
    }

    package init(_ transport: any Transport) {
        switch transport {
        case let choice as FirstCapableTransport where !choice.transports.isEmpty:
            self = .firstCapable(choice.transports.map { Candidate($0) })
        case let transport as any CallbackTransport: self = .callback(transport)
        default: self = .awaited(transport)
        }
    }

    /// The sender for a hop, which is never ``firstCapable(_:)``. Exchanges are large, so this doesn't copy the hop's.
    package func sender(for hop: Hop) -> ExchangeSender {
        guard case .firstCapable(let candidates) = self, let last = candidates.last else { return self }
        let features = hop.exchange.requiredFeatures
        return (candidates.first { $0.features.isSuperset(of: features) } ?? last).sender.sender(for: hop)
    }
}

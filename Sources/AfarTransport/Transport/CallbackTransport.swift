/// A transport that calls a completion handler. Compared with an async method, a completion handler saves a task and a thread
/// switch per request.
///
/// Afar's own transports are callback transports. The requirements of ``Transport`` apply here too: the transport must respect the
/// exchange's options and control, and must notify its observer. The transport must also call ``Exchange/headArrived(_:)`` for each final
/// head, even if the response is already complete. Otherwise the exchange fails with ``TransportError/Code-swift.struct/invalidUse``.
public protocol CallbackTransport: Transport {
    /// Prepares an exchange without sending anything. This method can be called on any thread, even one that drives connections, so it must
    /// return quickly.
    ///
    /// - Parameter hop: The hop to prepare. Send its ``Hop/exchangeToSend``.
    /// - Throws: A ``TransportError`` if the exchange can't be started, such as an error of ``TransportCapabilities/check(_:)``.
    func prepare(_ hop: Hop) throws -> any PreparedExchange
}

extension CallbackTransport {
    /// Prepares an exchange, starts it, and waits for its response. Canceling the task cancels the exchange.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        let hop = Hop(exchange)
        return try await hop.response(of: try prepare(hop))
    }
}

/// An exchange that is ready to be started.
public protocol PreparedExchange: AnyObject, Sendable {
    /// Starts the exchange and returns immediately, without running user code. This method is called at most once.
    ///
    /// - Parameter completion: A closure to call once, on any thread, with the response or a ``TransportError``. The closure returns
    ///   quickly. You can call it before this method returns.
    func start(completion: @escaping @Sendable (Result<TransportResponse, any Error>) -> Void)

    /// Ends the exchange in any state, even before its start, with ``TransportError/Code-swift.struct/cancelled``. This method can be
    /// called on any thread, more than once, and after the exchange has ended.
    func cancel()
}

extension PreparedExchange {
    /// Performs the exchange and returns its response. Call this method only once.
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

/// The interface through which exchanges are passed to a transport. It is determined once for each transport.
package enum ExchangeSender: Sendable {
    case callback(any CallbackTransport)
    /// A custom transport, or a wrapper around another transport.
    case awaited(any Transport)
    /// The first transport that has the required features. If none has them, the last transport, which is checked before it is used.
    case firstCapable([Candidate], last: any Transport)

    package struct Candidate: Sendable {
        let sender: ExchangeSender
        let features: TransportCapabilities.Features
    }

    package init(_ transport: any Transport) {
        switch transport {
        case let choice as FirstCapableTransport:
            guard let last = choice.transports.last else {
                self = .awaited(choice)
                return
            }
            self = .firstCapable(
                choice.transports.map { Candidate(sender: ExchangeSender($0), features: $0.capabilities.features) },
                last: last)
        case let transport as any CallbackTransport: self = .callback(transport)
        default: self = .awaited(transport)
        }
    }

    /// Returns the sender for a hop. The sender is never ``firstCapable(_:last:)``.
    package func sender(for hop: Hop) -> ExchangeSender {
        guard case .firstCapable(let candidates, let last) = self else { return self }
        let features = hop.exchange.requiredFeatures
        let capable = candidates.first { $0.features.isSuperset(of: features) }
        return capable?.sender.sender(for: hop) ?? .awaited(last)
    }
}

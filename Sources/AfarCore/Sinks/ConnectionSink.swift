import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Opens a connection for the request's owner to read from and write to.
final class ConnectionSink: ResponseSink {
    let pendingConnection = PendingConnection<any Connection>()
    /// Fulfilled when the connection has been closed or lost.
    let closed = Deferred<Result<Void, any Error>>()
    private let wasOpen = Locked(false)

    func httpForm(of urlRequest: URLRequest) -> URLRequest { urlRequest.replacingScheme(StreamAddress.httpSchemes) }

    func openDelivery(for request: Request) -> ResponseDelivery { .connection }

    func prepare(_ exchange: inout Exchange) { exchange.request.method = .connect }

    func stages(of stack: TransportStack) -> [any ExchangeStage] { stack.connectionStages }

    func read(_ response: TransportResponse, for request: Request) async throws {
        let connection = try connection(of: response, for: request)
        defer {
            pendingConnection.close()
            connection.close()
        }
        wasOpen.withLock { $0 = true }
        pendingConnection.open(connection)
        try await closed.value(ifCancelled: .success(())).get()
    }

    func receive(_ response: TransportResponse, for request: Request) throws {
        _ = try connection(of: response, for: request)
    }

    private func connection(of response: TransportResponse, for request: Request) throws -> any Connection {
        guard case .connection(let connection) = response.body else {
            throw receive(
                TransportError(
                    .unsupportedByTransport, phase: .awaitingResponse, url: response.head.url,
                    message: "the \(request.stack.capabilities.name) transport didn't return a connection"),
                for: request)
        }
        return connection
    }

    /// False after the connection has opened, because a new connection can't continue the byte stream.
    var canBeRetried: Bool { wasOpen.withLock { !$0 } }

    func end() {
        closed.fulfill(.success(()))
        pendingConnection.end()
    }
}

/// A connection that opens later. A retry of the request can replace the connection. The waiting closures are called when the
/// connection opens, or with nil when no connection can open anymore.
final class PendingConnection<Connection: Sendable>: Sendable {
    typealias Waiter = @Sendable (Connection?) -> Void

    private struct State {
        var connection: Connection?
        var waiters: [Waiter] = []
        var isEnded = false
    }

    private let state = Locked(State())

    deinit { for waiter in state.withLock({ $0.waiters }) { waiter(nil) } }

    /// The connection, or nil if none is open.
    var connection: Connection? { state.withLock { $0.connection } }
    var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// Calls the waiting closures in order. Closures added later are called immediately.
    func open(_ connection: Connection) {
        while true {
            let waiters = state.withLock { state in
                if state.waiters.isEmpty { state.connection = connection }
                return Swift.exchange(&state.waiters, with: [])
            }
            guard !waiters.isEmpty else { return }
            for waiter in waiters { waiter(connection) }
        }
    }

    /// Removes the connection. Another connection can follow.
    func close() { state.withLock { $0.connection = nil } }

    /// Calls the waiting closures with nil. No other connection follows.
    func end() {
        let waiters = state.withLock { state in
            state.isEnded = true
            return Swift.exchange(&state.waiters, with: [])
        }
        for waiter in waiters { waiter(nil) }
    }

    /// Calls a closure with the connection as soon as it is open. Calls the closure with nil if no connection will open.
    func whenOpen(_ waiter: @escaping Waiter) {
        let (connection, mustWait) = state.withLock { state -> (Connection?, Bool) in
            guard state.connection == nil, !state.isEnded else { return (state.connection, false) }
            state.waiters.append(waiter)
            return (nil, true)
        }
        if !mustWait { waiter(connection) }
    }
}

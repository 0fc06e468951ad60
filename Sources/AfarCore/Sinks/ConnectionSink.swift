import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Opens a connection, which the request's owner reads from and writes to.
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
        try await withTaskCancellationHandler {
            try await closed.value.get()
        } onCancel: { [closed] in
            closed.fulfill(.success(()))
        }
    }

    func receive(_ response: TransportResponse, for request: Request) throws {
        _ = try connection(of: response, for: request)
    }

    private func connection(of response: TransportResponse, for request: Request) throws -> any Connection {
        guard case .connection(let connection) = response.body else {
            throw receive(
                TransportError(
                    .unsupportedByTransport, phase: .awaitingResponse, url: response.head.url,
                    message: "the \(request.stack.capabilities.name) transport has delivered no connection"),
                for: request)
        }
        return connection
    }

    /// Another connection would not have the bytes that were read and written.
    var mayBeRetried: Bool { wasOpen.withLock { !$0 } }

    func end() {
        closed.fulfill(.success(()))
        pendingConnection.end()
    }
}

import AfarTransport
import Foundation
import HTTPTypes

/// Where a transport leaves a connection for the request that wants it. One that nobody takes is closed.
final class ConnectionSlot<Opened: Sendable>: Sendable {
    private struct State {
        var content: (opened: Opened, connection: any Connection)?
        var isOver = false
    }

    private let state = Locked(State())

    func put(_ opened: Opened, over connection: any Connection) {
        let unwanted = state.withLock { state -> (any Connection)? in
            guard !state.isOver else { return connection }
            return Swift.exchange(&state.content, with: (opened, connection))?.connection
        }
        unwanted?.close()
    }

    func take() -> Opened? { state.withLock { $0.content.take()?.opened } }

    /// The request is over.
    func end() {
        let unwanted = state.withLock { state in
            state.isOver = true
            return state.content.take()?.connection
        }
        unwanted?.close()
    }
}

extension Transport {
    /// This as a transport that makes connections.
    ///
    /// - Throws: A ``TransportError`` when it makes none.
    func makingConnections(for url: String?) throws -> any ConnectionTransport {
        if let transport = self as? any ConnectionTransport, capabilities.features.contains(.connections) {
            return transport
        }
        throw TransportError(
            .unsupportedByTransport, phase: .queued, url: url,
            message: "the \(capabilities.name) transport makes no connections for WebSockets and raw streams")
    }
}

extension TransportResponse {
    /// A response after which the connection is somebody else's.
    init(openedBy connection: any Connection, head: ResponseHead) {
        self.init(withoutBody: head, TransportReport(transactions: [connection.metrics]))
    }

    /// A streamed response of which nothing more comes.
    init(withoutBody head: ResponseHead, _ report: TransportReport) {
        let (stream, source) = ResponseBodyStream.make(highWaterMark: 1, onDemand: {}, onCancel: {})
        source.finish(throwing: nil, report: report)
        self.init(head: head, body: .stream(stream), report: report)
    }
}

extension ConnectionTarget {
    /// Where an exchange goes.
    init(_ exchange: Exchange, applicationProtocols: [String] = []) {
        let authority = exchange.request.authority ?? ""
        let isSecure = exchange.request.scheme == "https"
        self.init(
            host: HostName(ofAuthority: authority).text,
            port: HostName.port(ofAuthority: authority) ?? (isSecure ? 443 : 80), isSecure: isSecure,
            applicationProtocols: applicationProtocols, options: exchange.options)
        proxyAuthorization = exchange.request.headerFields[.proxyAuthorization]
    }
}

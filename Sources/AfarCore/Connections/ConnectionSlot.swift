import AfarTransport
import Foundation
import HTTPTypes

/// Where a transport leaves a connection for the request that wants it.
final class ConnectionSlot<Opened: Sendable>: Sendable {
    private let content = Locked<Opened?>(nil)

    func put(_ opened: Opened) { content.withLock { $0 = opened } }

    func take() -> Opened? { content.withLock { $0.take() } }
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
    }
}

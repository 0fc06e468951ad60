import Afar
import HTTPTypes

/// Checks the destination when a response's head is there, before any of its body is taken: nobody wants to wait for a
/// file that has no place.
struct DestinationCheckTransport: Transport {
    let base: any Transport
    let target: DownloadTarget
    /// Called with a head whose body is going to be taken.
    let onFinalHead: @Sendable (ResponseHead) -> Void

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        var exchange = exchange
        exchange.onHead = { [next = exchange.onHead, target, onFinalHead] head in
            try next?(head)
            // What leads elsewhere brings no file.
            guard !head.isRedirect else { return }
            onFinalHead(head)
            if (200..<300).contains(head.status) {
                try target.checkOverwrite(of: target.path(contentDisposition: head.value(for: .contentDisposition)))
            }
        }
        return try await base.send(exchange)
    }

    func closeIdleConnections() { base.closeIdleConnections() }
}

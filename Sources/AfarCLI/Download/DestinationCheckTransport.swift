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
        exchange.decide = { [next = exchange.decide, target, onFinalHead] head in
            let decision = next?(head) ?? .take()
            // What leads elsewhere brings no file.
            guard case .take = decision, !head.isRedirect else { return decision }
            onFinalHead(head)
            guard (200..<300).contains(head.status) else { return decision }
            do {
                try target.checkOverwrite(of: target.path(contentDisposition: head.value(for: .contentDisposition)))
            } catch {
                return .refuse(error)
            }
            return decision
        }
        return try await base.send(exchange)
    }

    func closeIdleConnections() { base.closeIdleConnections() }
}

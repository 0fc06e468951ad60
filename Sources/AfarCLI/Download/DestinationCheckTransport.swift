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
        exchange.verdict = { [next = exchange.verdict, target, onFinalHead] head in
            let verdict = next?(head) ?? .take()
            // What leads elsewhere brings no file.
            guard case .take = verdict, !head.isRedirect else { return verdict }
            onFinalHead(head)
            guard (200..<300).contains(head.status) else { return verdict }
            do {
                try target.checkOverwrite(of: target.path(contentDisposition: head.value(for: .contentDisposition)))
            } catch {
                return .refuse(error)
            }
            return verdict
        }
        return try await base.send(exchange)
    }

    func closeIdleConnections() { base.closeIdleConnections() }
}

import Afar
import HTTPTypes

/// Writes down every exchange that goes through a transport, while it happens.
struct VerboseTransport: Transport {
    let base: any Transport
    let log: VerboseLog

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        let isSecure = exchange.request.scheme == "https"
        var exchange = exchange
        exchange.observer = HeadObserver(log: log, next: exchange.observer)
        log.sending(exchange)
        do {
            let response = try await base.send(exchange)
            log.ended(response.report, isSecure: isSecure)
            return response
        } catch let error as TransportError {
            if error.underlying is UndecidedTrust { log.certificatesArrived() } else { log.failed(error) }
            log.ended(error.report, isSecure: isSecure)
            throw error
        }
    }

    func closeIdleConnections() { base.closeIdleConnections() }
}

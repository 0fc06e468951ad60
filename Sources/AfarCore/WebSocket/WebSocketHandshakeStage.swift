import AfarTransport
import AfarWebSocket
import HTTPTypes

/// Adds the fields that ask for a WebSocket to each request on its way to the transport (RFC 6455, section 4.1), and checks the
/// answer of a server that agrees.
struct WebSocketHandshakeStage: ExchangeStage {
    func begin(_ hop: Hop) -> (any StageRun)? { Run() }

    private final class Run: StageRun {
        private let handshake = Locked<WebSocketHandshake?>(nil)

        func before(_ hop: Hop) -> Reply<Departure> {
            var exchange = hop.exchange
            let handshake = WebSocketHandshake(for: exchange.request.headerFields)
            handshake.complete(&exchange.request.headerFields)
            self.handshake.withLock { $0 = handshake }
            return .now(.change(exchange))
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<Disposition> {
            guard head.status == 101, let handshake = handshake.withLock(\.self) else { return .now(.pass) }
            do {
                try handshake.agreement(in: head.fields)
                return .now(.pass)
            } catch {
                return .now(
                    .fail(
                        TransportError(
                            .malformedResponse, phase: .awaitingResponse, url: hop.exchange.url,
                            message: error.description)))
            }
        }
    }
}

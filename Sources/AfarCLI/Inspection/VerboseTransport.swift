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
            log.failed(error)
            log.ended(error.report, isSecure: isSecure)
            throw error
        }
    }

    func closeIdleConnections() { base.closeIdleConnections() }
}

/// Writes down heads as they arrive, and passes everything on.
private final class HeadObserver: ExchangeObserver {
    private let log: VerboseLog
    private let next: (any ExchangeObserver)?

    init(log: VerboseLog, next: (any ExchangeObserver)?) {
        self.log = log
        self.next = next
    }

    func exchangeDidReceiveInformational(_ head: ResponseHead) {
        log.received(head)
        next?.exchangeDidReceiveInformational(head)
    }

    func exchangeDidReceiveHead(_ head: ResponseHead) {
        log.received(head)
        next?.exchangeDidReceiveHead(head)
    }

    func exchangeDidSend(bytes: Int64, expected: Int64?) { next?.exchangeDidSend(bytes: bytes, expected: expected) }

    func exchangeWillFollow(_ redirect: Redirect) { next?.exchangeWillFollow(redirect) }

    func exchangeWillAnswerChallenge(in head: ResponseHead) { next?.exchangeWillAnswerChallenge(in: head) }

    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        next?.exchangeDidReceive(bytes: bytes, expected: expected)
    }
}

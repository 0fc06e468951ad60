import Afar
import HTTPTypes

/// Writes down heads as they arrive, and passes everything on.
final class HeadObserver: ExchangeObserver {
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

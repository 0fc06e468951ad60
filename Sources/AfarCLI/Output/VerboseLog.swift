import Afar
import AfarCore
import Foundation
import HTTPTypes

/// Logs every exchange of a transport as it happens, and records the last request.
struct WatchedTransport: Transport {
    let base: any Transport
    let log: VerboseLog?
    let record: SentRequestRecord?

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        let isSecure = exchange.request.scheme == "https"
        let observer = HeadObserver(log: log, record: record, exchange: exchange)
        var exchange = exchange
        exchange.observer = observer
        exchange.context[SentHeadReceiver.self] = { observer.sent($0) }
        log?.sending(exchange)
        do {
            let response = try await base.send(exchange)
            observer.ended()
            if case .stream(let body) = response.body {
                log?.ended(with: body, isSecure: isSecure)
            } else {
                log?.ended(response.report, isSecure: isSecure)
            }
            return response
        } catch let error as TransportError {
            if error.underlying is UndecidedTrust { log?.certificatesArrived() } else { log?.failed(error) }
            log?.ended(error.report, isSecure: isSecure)
            throw error
        }
    }

    func closeIdleConnections() { base.closeIdleConnections() }
}

/// Logs the heads of requests and responses as they are sent and received, and forwards all events.
final class HeadObserver: ExchangeObserver {
    private let log: VerboseLog?
    private let record: SentRequestRecord?
    private let exchange: Exchange
    private let next: (any ExchangeObserver)?
    private let hasSent = Locked(false)

    /// - Parameter exchange: The exchange, with the observer that receives all events.
    init(log: VerboseLog?, record: SentRequestRecord?, exchange: Exchange) {
        (self.log, self.record, self.exchange, next) = (log, record, exchange, exchange.observer)
    }

    /// Records a head that the transport has sent.
    func sent(_ head: SentHead) {
        hasSent.withLock { $0 = true }
        let request = SentRequest(head: head, body: exchange.body)
        record?.set(request)
        log?.sent(request)
    }

    /// Assumes that the request was sent, if the transport hasn't reported this by the end of the exchange.
    func ended() { completeRequest(version: nil) }

    /// If the transport hasn't reported what it sent, assumes that it sent the usual head.
    private func completeRequest(version: String?) {
        guard !hasSent.withLock({ $0 }) else { return }
        var head = SentHead(expectedFor: exchange)
        head.version = version.flatMap { $0.isEmpty ? nil : $0 }
        sent(head)
    }

    func exchangeDidReceiveInformational(_ head: ResponseHead) {
        completeRequest(version: head.httpVersion)
        log?.received(head)
        next?.exchangeDidReceiveInformational(head)
    }

    func exchangeDidReceiveHead(_ head: ResponseHead) {
        completeRequest(version: head.httpVersion)
        log?.received(head)
        next?.exchangeDidReceiveHead(head)
    }

    func exchangeDidSend(bytes: Int64, expected: Int64?) { next?.exchangeDidSend(bytes: bytes, expected: expected) }

    func exchangeWillFollow(_ redirect: Redirect) { next?.exchangeWillFollow(redirect) }

    func exchangeWillAnswerChallenge(in head: ResponseHead) { next?.exchangeWillAnswerChallenge(in: head) }

    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        next?.exchangeDidReceive(bytes: bytes, expected: expected)
    }
}

/// Logs exchanges line by line in the style of `curl -v`: `>` marks sent lines, `<` received lines, and `*` other information.
struct VerboseLog: Sendable {
    let style: Style
    let redaction: Redaction
    let write: @Sendable (String) -> Void
    /// The exchanges whose bodies were still arriving when their responses were returned.
    private let streams = Locked<[Task<Void, Never>]>([])

    func sending(_ exchange: Exchange) { print("*", [redaction.url(exchange.url)]) }

    /// Logs a request as it was sent.
    func sent(_ request: SentRequest) {
        print(
            ">",
            RequestPrinter.lines(of: request.head, Style(isPretty: true, isColored: style.isColored), redaction) + [""])
        let body = RequestPrinter.loggedBody(of: request, style, redaction)
        if !body.isEmpty { write(body + "\n") }
    }

    /// Logs a final or informational head.
    func received(_ head: ResponseHead) {
        let status = style.paint(StatusLine.text(of: head.status), StatusLine.paint(for: head.status))
        let fields = head.fields.map { line($0.name.rawName, $0.value) }
        print("<", ["\(TerminalText.line(head.httpVersion)) \(status)"] + fields + [""])
    }

    /// Logs the trailers and measurements at the end of an exchange.
    func ended(_ report: TransportReport, isSecure: Bool) {
        for field in report.trailers { print("<", ["trailer \(line(field.name.rawName, field.value))"]) }
        print("*", report.transactions.flatMap { ConnectionSummary($0, isSecure: isSecure).lines })
    }

    /// Logs the trailers and measurements when a body has arrived.
    func ended(with body: ResponseBodyStream, isSecure: Bool) {
        let end = Task {
            var report = await body.report()
            // The report begins with the redirects before this exchange, which are already logged.
            report.transactions = report.transactions.suffix(1)
            ended(report, isSecure: isSecure)
        }
        streams.withLock { $0.append(end) }
    }

    /// Waits until the ends of all exchanges are logged. The requests must have finished.
    func finish() async {
        for end in streams.withLock({ $0 }) { await end.value }
    }

    /// Logs that the transport closed the connection before it sent anything, because trust hasn't been evaluated yet.
    func certificatesArrived() {
        print("*", ["Evaluating the server's certificates. Nothing has been sent yet."])
    }

    func failed(_ error: TransportError) {
        print("*", [style.paint(TerminalText.line(error.description), .red)])
    }

    private func line(_ name: String, _ value: String) -> String {
        "\(style.paint(name, .cyan)): \(TerminalText.line(redaction.value(value, of: name)))"
    }

    private func print(_ mark: String, _ lines: [String]) {
        write(
            lines.map { $0.isEmpty ? style.paint(mark, .dim) : "\(style.paint(mark, .dim)) \($0)" }
                .map { $0 + "\n" }.joined())
    }
}

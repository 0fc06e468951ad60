import Afar
import AfarCore
import Foundation
import HTTPTypes

/// Collects the outcome of a command's requests for a report.
final class ReportMonitor: EventMonitor {
    private struct State {
        /// The requests that aren't included in `totals`, in the order of their starts.
        var requests: [Request] = []
        var totals = RequestTotals()
        var start: ContinuousClock.Instant?
        var end: ContinuousClock.Instant?
        var certificate: Certificate?
    }

    let queue = DispatchQueue(label: "afar.report")
    private let redaction: Redaction
    private let state = Locked(State())

    init(redaction: Redaction) { self.redaction = redaction }

    func requestDidResume(_ request: Request) {
        state.withLock { state in
            state.start = state.start ?? .now
            guard !state.requests.contains(request) else { return }
            // A command can send many requests, whose bodies don't need to stay in memory.
            for request in state.requests where request.isFinished { state.totals.add(request) }
            state.requests.removeAll { $0.isFinished }
            state.requests.append(request)
        }
    }

    func requestDidFinish(_ request: Request) { state.withLock { $0.end = .now } }

    func record(_ certificate: Certificate) { state.withLock { $0.certificate = certificate } }

    /// Returns the members of the report, and the error of the last request.
    func report() -> (members: [(String, JSONOutput)], failure: ReportedFailure?) {
        // Waits for pending events.
        queue.sync {}
        return state.withLock { state in
            var totals = state.totals
            for request in state.requests { totals.add(request) }
            let request = state.requests.last
            let isRunning = request.map { !$0.isFinished } ?? false
            let end = isRunning ? .now : state.end ?? .now
            let report = RequestReport(
                request: request, totals: totals, seconds: state.start.map { end.seconds(since: $0) },
                certificate: state.certificate, redaction: redaction)
            // Validation only triggers retries.
            let error = request?.error.flatMap { $0.isResponseValidationError ? nil : ReportedFailure($0) }
            return (report.members, error)
        }
    }
}

/// Sums over the requests of a command, including retries and redirects.
struct RequestTotals {
    private(set) var attempts = 0
    private(set) var requestHeader: Int64 = 0
    private(set) var requestBody: Int64 = 0
    private(set) var responseHeader: Int64 = 0
    private(set) var responseBody: Int64 = 0
    private(set) var decodedBody: Int64 = 0

    mutating func add(_ request: Request) {
        attempts += request.retryCount + 1
        for transaction in request.allMetrics.flatMap(\.transactionMetrics) {
            requestHeader += transaction.countOfRequestHeaderBytesSent
            requestBody += transaction.countOfRequestBodyBytesSent
            responseHeader += transaction.countOfResponseHeaderBytesReceived
            responseBody += transaction.transferredBodyBytes
            decodedBody += transaction.countOfResponseBodyBytesAfterDecoding
        }
    }

    var json: JSONOutput {
        .object([
            ("requestHeader", .integer(requestHeader)), ("requestBody", .integer(requestBody)),
            ("responseHeader", .integer(responseHeader)), ("responseBody", .integer(responseBody)),
            ("decodedBody", .integer(decodedBody)),
        ])
    }
}

/// The report on a request.
struct RequestReport {
    /// The last request of the command, or nil if none was created.
    let request: Request?
    let totals: RequestTotals
    /// The time from the start of the first request to the end of the last one, in seconds.
    let seconds: Double?
    /// The certificate of the last server that was evaluated.
    let certificate: Certificate?
    let redaction: Redaction

    /// The members that every command with a request reports.
    var members: [(String, JSONOutput)] {
        let head = request?.responseHead
        let transactions = request?.metrics?.transactionMetrics ?? []
        let last = transactions.last
        return [
            ("method", .text(request?.firstRequest?.httpMethod)),
            ("url", url(request?.firstRequest?.url)),
            ("finalURL", head == nil ? .null : url(last?.request.url ?? request?.lastRequest?.url)),
            ("status", head.map { .integer(Int64($0.status)) } ?? .null),
            ("httpVersion", .text(head.map { TerminalText.line($0.httpVersion) })),
            ("fields", .array(head.map { $0.fields.map(field) } ?? [])),
            ("redirects", .array(transactions.dropLast().filter { $0.responseHead?.isRedirect == true }.map(redirect))),
            ("attempts", .integer(Int64(totals.attempts))),
            ("remoteAddress", .text(last.flatMap(remoteAddress))),
            ("tls", last.map(tls) ?? .null),
            ("timings", timings(last)),
            ("sizes", totals.json),
        ]
    }

    private func url(_ url: URL?) -> JSONOutput {
        .text(url.map { TerminalText.line(redaction.url($0.absoluteString)) })
    }

    private func field(_ field: HTTPField) -> JSONOutput {
        .object([
            ("name", .string(field.name.rawName)),
            ("value", .string(redaction.value(field.value, of: field.name.rawName))),
        ])
    }

    private func redirect(_ transaction: TransactionMetrics) -> JSONOutput {
        .object([
            ("url", url(transaction.request.url)),
            ("status", transaction.responseHead.map { .integer(Int64($0.status)) } ?? .null),
        ])
    }

    private func remoteAddress(_ transaction: TransactionMetrics) -> String? {
        transaction.remoteAddress.map { address in
            transaction.remotePort.map { HostName.authority(address, port: $0) } ?? address
        }
    }

    private func tls(_ transaction: TransactionMetrics) -> JSONOutput {
        guard let version = transaction.tlsProtocolVersion else { return .null }
        return .object([
            ("version", .string(version)), ("cipher", .text(transaction.tlsCipherSuite)),
            ("alpn", .text(transaction.networkProtocolName)),
            (
                "certificate",
                certificate.map { certificate in
                    .object([
                        ("subject", .string(TerminalText.line(certificate.subject))),
                        ("expires", .string(certificate.notValidAfter.formatted(.iso8601))),
                    ])
                } ?? .null
            ),
        ])
    }

    private func timings(_ transaction: TransactionMetrics?) -> JSONOutput {
        func span(_ start: Date?, _ end: Date?) -> JSONOutput {
            guard let start, let end else { return .null }
            return .milliseconds(max(0, end.timeIntervalSince(start)))
        }
        return .object([
            ("dns", span(transaction?.domainLookupStartDate, transaction?.domainLookupEndDate)),
            (
                "connect",
                span(
                    transaction?.connectStartDate,
                    transaction?.secureConnectionStartDate ?? transaction?.connectEndDate)
            ),
            ("tls", span(transaction?.secureConnectionStartDate, transaction?.secureConnectionEndDate)),
            ("firstByte", span(transaction?.fetchStartDate, transaction?.responseStartDate)),
            ("total", .milliseconds(seconds)),
        ])
    }
}

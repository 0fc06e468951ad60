import AfarTransport
import Foundation
import HTTPTypes

/// Collects the entries of an archive. It can be used from any thread.
final class ArchiveRecorder: Sendable {
    private let redaction: HAR.Redaction
    private let entries = Locked<[HAR.Entry]>([])

    init(redaction: HAR.Redaction) { self.redaction = redaction }

    /// The entries recorded so far, redacted.
    var archive: HAR { HAR(entries: entries.withLock { $0 }.map(redaction.redacted)) }

    /// Adds an incomplete entry.
    ///
    /// - Returns: The number of the entry, for later changes.
    func add(_ entry: HAR.Entry) -> Int {
        entries.withLock { entries in
            entries.append(entry)
            return entries.count - 1
        }
    }

    func change(_ number: Int, _ change: (inout HAR.Entry) -> Void) {
        entries.withLock { change(&$0[number]) }
    }
}

extension HAR.Request {
    init(_ exchange: Exchange) {
        self.init(
            method: exchange.request.method.rawValue, url: exchange.url, headers: exchange.fields.map(HAR.Field.init),
            body: nil)
    }
}

extension HAR.Field {
    init(_ field: HTTPField) { self.init(name: field.name.rawName, value: field.value) }
}

extension HAR.Response {
    /// - Parameter body: The body, or `nil` if it isn't recorded or hasn't arrived.
    mutating func take(_ head: ResponseHead, body: Data? = nil) {
        status = head.status
        httpVersion = head.httpVersion
        headers = head.fields.map(HAR.Field.init)
        take(body, type: head.value(for: .contentType) ?? "")
    }

    mutating func take(_ body: Data?, type: String) {
        content =
            body.map { HAR.Content(mimeType: type, data: $0) } ?? HAR.Content(mimeType: type, text: nil, encoding: nil)
    }
}

extension HAR.Entry {
    /// Sets the times and sizes from the metrics of an exchange.
    mutating func take(_ metrics: TransactionMetrics) {
        timings = HAR.Timings(metrics)
        time = [timings.blocked, timings.dns, timings.connect, timings.send, timings.wait, timings.receive]
            .filter { $0 > 0 }.reduce(0, +)
        serverIPAddress = metrics.remoteAddress
        if metrics.countOfRequestHeaderBytesSent > 0 {
            request.headersSize = Int(metrics.countOfRequestHeaderBytesSent)
        }
        if metrics.countOfResponseHeaderBytesReceived > 0 {
            response.headersSize = Int(metrics.countOfResponseHeaderBytesReceived)
            response.bodySize = Int(metrics.countOfResponseBodyBytesReceived)
        }
        if let version = metrics.networkProtocolName, !version.isEmpty {
            let name = version.lowercased() == "h2" ? "HTTP/2" : version.uppercased()
            (request.httpVersion, response.httpVersion) = (name, name)
        }
    }
}

extension HAR.Timings {
    init(_ metrics: TransactionMetrics) {
        self.init()
        func milliseconds(_ start: Date?, _ end: Date?) -> Double? {
            guard let start, let end, end >= start else { return nil }
            return (end.timeIntervalSince(start) * 1_000_000).rounded() / 1000
        }
        let begun = metrics.domainLookupStartDate ?? metrics.connectStartDate ?? metrics.requestStartDate
        blocked = milliseconds(metrics.fetchStartDate, begun) ?? -1
        dns = milliseconds(metrics.domainLookupStartDate, metrics.domainLookupEndDate) ?? -1
        connect = milliseconds(metrics.connectStartDate, metrics.connectEndDate) ?? -1
        ssl = milliseconds(metrics.secureConnectionStartDate, metrics.secureConnectionEndDate) ?? -1
        send = milliseconds(metrics.requestStartDate, metrics.requestEndDate) ?? 0
        let sent = metrics.requestEndDate ?? metrics.requestStartDate ?? metrics.fetchStartDate
        wait = milliseconds(sent, metrics.responseStartDate) ?? 0
        receive = milliseconds(metrics.responseStartDate, metrics.responseEndDate) ?? 0
    }
}

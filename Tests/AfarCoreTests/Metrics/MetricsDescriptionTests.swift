import AfarCore
import Foundation
import Testing

/// Descriptions of metrics.
@Suite struct MetricsDescriptionTests {
    private let start = Date(timeIntervalSinceReferenceDate: 1000)

    private func at(_ milliseconds: Double) -> Date { start.addingTimeInterval(milliseconds / 1000) }

    private var secure: TransactionMetrics {
        var metrics = TransactionMetrics()
        metrics.fetchStartDate = start
        (metrics.domainLookupStartDate, metrics.domainLookupEndDate) = (start, at(10))
        (metrics.connectStartDate, metrics.secureConnectionStartDate) = (at(10), at(20))
        (metrics.secureConnectionEndDate, metrics.connectEndDate) = (at(40), at(40))
        (metrics.requestStartDate, metrics.responseStartDate, metrics.responseEndDate) = (at(40), at(140), at(141))
        (metrics.remoteAddress, metrics.remotePort) = ("2001:db8::1", 443)
        (metrics.networkProtocolName, metrics.tlsProtocolVersion) = ("http/1.1", "TLSv1.3")
        (
            metrics.countOfRequestHeaderBytesSent, metrics.countOfResponseHeaderBytesReceived,
            metrics.countOfResponseBodyBytesReceived
        ) = (213, 200, 1000)
        return metrics
    }

    private var reused: TransactionMetrics {
        var metrics = TransactionMetrics()
        metrics.fetchStartDate = start
        metrics.isReusedConnection = true
        (metrics.requestStartDate, metrics.responseStartDate, metrics.responseEndDate) = (start, at(2), at(3))
        (metrics.remoteAddress, metrics.remotePort) = ("192.0.2.7", 80)
        return metrics
    }

    private func task(_ transactions: [TransactionMetrics], redirects: Int = 0) -> TaskMetrics {
        TaskMetrics(
            transactionMetrics: transactions, taskInterval: DateInterval(start: start, end: at(150)),
            redirectCount: redirects)
    }

    @Test func aTransactionIsOneLine() {
        #expect(
            secure.description
                == "[2001:db8::1]:443, new, http/1.1, TLSv1.3; DNS 10.0 ms, Connect 10.0 ms, TLS 20.0 ms, "
                + "Waiting 100.0 ms, Body 1.0 ms, total 141.0 ms; 213 bytes sent, 1.2 kB received")
        #expect(reused.description == "192.0.2.7:80, used before; Waiting 2.0 ms, Body 1.0 ms, total 3.0 ms")
        #expect(TransactionMetrics().description == "total 0.0 ms")
    }

    @Test func aTransactionIsATable() {
        #expect(
            secure.debugDescription == """
                Connection: [2001:db8::1]:443, new, http/1.1, TLSv1.3
                213 bytes sent, 1.2 kB received
                  DNS       10.0 ms
                  Connect   10.0 ms
                  TLS       20.0 ms
                  Waiting  100.0 ms
                  Body       1.0 ms
                  Total    141.0 ms
                """)
    }

    @Test func aTaskDescribesAllItsRequests() {
        #expect(task([reused]).description == "1 request in 150.0 ms | \(reused)")
        #expect(task([]).description == "0 requests in 150.0 ms")
        #expect(
            task([secure, reused], redirects: 1).debugDescription == """
                2 requests, 1 redirect in 150.0 ms
                Request 1 of 2
                \(secure.debugDescription)
                Request 2 of 2
                \(reused.debugDescription)
                """)
    }
}

import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestServers
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct MetricsTests {
        private let transport = makeTransport()

        @Test func timestampsAreOrdered() async throws {
            try await withServer { server in
                let before = Date()
                let response = try await transport.send(Exchange(server.url("/delay/0.05")))
                let after = Date()
                let metrics = try #require(response.report.transactions.first)
                let moments = [
                    before, metrics.fetchStartDate, metrics.domainLookupStartDate, metrics.domainLookupEndDate,
                    metrics.connectStartDate, metrics.connectEndDate, metrics.requestStartDate,
                    metrics.responseStartDate,
                    metrics.responseEndDate, after,
                ].compactMap { $0 }
                #expect(moments.count == 10)
                // libcurl's clock differs slightly from the wall clock.
                for (earlier, later) in zip(moments, moments.dropFirst()) {
                    #expect(later.timeIntervalSince(earlier) > -0.002)
                }
                let waited = try #require(metrics.responseStartDate).timeIntervalSince(
                    try #require(metrics.requestStartDate))
                #expect(waited > 0.045)
                #expect(metrics.secureConnectionStartDate == nil)
                #expect(metrics.networkProtocolName == "http/1.1")
                #expect(!metrics.isReusedConnection)
            }
        }

        @Test func aReusedConnectionHasNoConnectPhases() async throws {
            try await withServer { server in
                _ = try await transport.send(Exchange(server.url("/get")))
                let response = try await transport.send(Exchange(server.url("/get")))
                let metrics = try #require(response.report.transactions.first)
                #expect(metrics.isReusedConnection)
                #expect(metrics.domainLookupStartDate == nil)
                #expect(metrics.connectStartDate == nil)
                #expect(metrics.connectEndDate == nil)
                #expect(metrics.requestStartDate != nil)
                #expect(metrics.remotePort == server.url.port)
            }
        }

        @Test func bytesAndAddressesAreCounted() async throws {
            try await withServer { server in
                let body = RequestBody.data(Data(count: 1234))
                let response = try await transport.send(
                    Exchange(server.url("/gzip-bomb?bytes=100000"), .post, body: body))
                let metrics = try #require(response.report.transactions.first)
                #expect(metrics.countOfRequestBodyBytesSent == 1234)
                #expect(metrics.countOfResponseBodyBytesReceived == response.head.contentLength)
                #expect(metrics.countOfResponseBodyBytesAfterDecoding == Int64(try response.data.count))
                #expect(metrics.countOfResponseBodyBytesReceived < metrics.countOfResponseBodyBytesAfterDecoding)
                #expect(metrics.countOfRequestHeaderBytesSent > 50)
                #expect(metrics.countOfResponseHeaderBytesReceived > 50)
                #expect(metrics.remoteAddress == "127.0.0.1")
                #expect(metrics.remotePort == server.url.port)
                #expect(metrics.localAddress == "127.0.0.1")
                #expect(metrics.localPort ?? 0 > 0)
            }
        }

        @Test func aTimedOutExchangeWasNotQueued() async throws {
            try await withRawServer([.receiveHead]) { server in
                var exchange = Exchange(server.url)
                exchange.options.idleTimeout = 0.5
                let error = try await transportError { try await transport.send(exchange) }
                #expect(error.code == .timedOut)
                let phases = try #require(error.report.transactions.first).phases(isSecure: false)
                func time(of name: TransactionPhase.Name) -> Double {
                    guard case .measured(let range)? = phases.first(where: { $0.name == name })?.time else { return 0 }
                    return range.upperBound - range.lowerBound
                }
                #expect(time(of: .queued) < 0.25 && time(of: .awaitingResponse) > 0.25, "\(phases)")
            }
        }

        @Test func failuresHaveMetrics() async throws {
            try await withRawServer([.respond("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close]) { server in
                let error = try await transportError { try await transport.send(Exchange(server.url)) }
                let metrics = try #require(error.report.transactions.first)
                #expect(metrics.countOfResponseBodyBytesReceived == 4)
                #expect(metrics.responseEndDate != nil)
            }
        }

        @Test func trailersAreReported() async throws {
            let answer =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\nX-Sum: 8\r\n\r\n"
            try await withRawServer([.respond(answer)], [.respond(answer)]) { server in
                let name = try #require(HTTPField.Name("X-Sum"))
                let response = try await transport.send(Exchange(server.url))
                #expect(response.report.trailers[values: name] == ["7", "8"])
                #expect(response.head.fields[name] == nil)
                let stream = try await makeTransport().send(Exchange(server.url, delivery: .stream())).stream
                #expect(try await collect(stream) == Data("abc".utf8))
                #expect(await stream.report().trailers[values: name] == ["7", "8"])
            }
        }

        private final class Recorder: ExchangeObserver {
            let events = Locked<[String]>([])

            func exchangeDidReceiveInformational(_ head: ResponseHead) { note("informational \(head.status)") }
            func exchangeDidReceiveHead(_ head: ResponseHead) { note("head \(head.status)") }
            func exchangeDidSend(bytes: Int64, expected: Int64?) { note("sent \(bytes) of \(expected ?? -1)") }
            func exchangeDidReceive(bytes: Int64, expected: Int64?) { note("received \(bytes) of \(expected ?? -1)") }

            private func note(_ event: String) { events.withLock { $0.append(event) } }
        }

        @Test func theObserverIsNotifiedInOrder() async throws {
            let answer = "HTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            try await withRawServer([.receiveHead, .receive(3), .send(answer)]) { server in
                let recorder = Recorder()
                var exchange = Exchange(server.url, .post, body: .data(Data("abc".utf8)))
                exchange.observer = recorder
                _ = try await transport.send(exchange)
                let events = recorder.events.withLock { $0 }
                // libcurl reports a small body when the response arrives.
                let beginning = ["informational 103", "sent 3 of 3"]
                let isCurl = TestedTransport.current == .curl
                #expect(events == (isCurl ? beginning : beginning.reversed()) + ["head 200", "received 2 of 2"])
            }
        }

        @Test func progressReachesTheTotal() async throws {
            try await withServer { server in
                let recorder = Recorder()
                var exchange = Exchange(server.url("/upload"), .post, body: .data(Data(count: 1_000_000)))
                exchange.observer = recorder
                _ = try await transport.send(exchange)
                let sent = recorder.events.withLock { $0 }.filter { $0.hasPrefix("sent") }
                #expect(sent.count > 1)
                #expect(sent.last == "sent 1000000 of 1000000")
            }
        }
    }
}

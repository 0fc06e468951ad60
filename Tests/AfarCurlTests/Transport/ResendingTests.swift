import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestServers
import Testing

@testable import AfarCurl

extension TransportTests {
    /// libcurl resends requests automatically. It must not resend those that a server could process twice, or those
    /// that have received a response.
    @Suite struct ResendingTests {
        private let transport = makeTransport()
        private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

        /// Responds to one request, receives the next one, and closes the connection without a response.
        private static let keepsAndCloses: [RawServer.Step] = [.respond(ok), .receiveHead, .close]

        @Test(arguments: [
            (HTTPRequest.Method.post, RequestBody.data(Data("pay".utf8))), (.patch, .data(Data("pay".utf8))),
            (.post, .none), (.post, .data(Data(count: 100_000))), (.post, ChunkSource.body([Data("pay".utf8)])),
            (.init("TRANSFER")!, .none),
        ])
        func requestsThatMayHaveBeenProcessedAreSentOnce(_ method: HTTPRequest.Method, _ body: RequestBody) async throws
        {
            try await withRawServer(Self.keepsAndCloses, [.loop([.respond(Self.ok)])]) { server in
                _ = try await transport.send(Exchange(server.url))
                let error = try await transportError {
                    try await transport.send(Exchange(server.url, method, body: body))
                }
                #expect(error.code == .connectionLost)
                #expect(error.urlError.code == .networkConnectionLost)
                #expect(server.requests.filter { $0.hasPrefix(method.rawValue) }.count == 1)
                #expect(try await transport.text(of: Exchange(server.url)) == "ok")
            }
        }

        @Test(arguments: [
            (HTTPRequest.Method.get, RequestBody.none), (.put, .data(Data("value".utf8))), (.delete, .none),
            (.put, .data(Data(count: 100_000))),
        ])
        func idempotentRequestsAreResentAndCounted(_ method: HTTPRequest.Method, _ body: RequestBody) async throws {
            try await withRawServer(Self.keepsAndCloses, [.loop([.respond(Self.ok)])]) { server in
                let first = try await transport.send(Exchange(server.url))
                #expect(first.report.transactions.first?.resendCount == 0)
                let response = try await transport.send(Exchange(server.url, method, body: body))
                #expect(try response.text == "ok")
                #expect(response.report.transactions.first?.resendCount == 1)
            }
        }

        /// On the second connection, the SOCKS proxy accepts none of the offered authentication methods.
        @Test(.onlyOverHTTP("libcurl offers the proxy other methods"))
        func aFailedResendHasNoDatesOfTheFirstConnection() async throws {
            let host = "origin.invalid"
            let tunnel: [RawServer.Step] = [
                .receive(3), .send([5, 0]), .receive(7 + host.utf8.count), .send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
            ]
            try await withRawServer(tunnel + Self.keepsAndCloses, [.receive(3), .send([5, 0xFF])]) { proxy in
                let proxies = ProxySettings(try Proxy("socks5h://127.0.0.1:\(proxy.port)"))
                let url = try #require(URL(string: "http://\(host)/"))
                let exchange = Exchange(url).with { $0.network.proxies = proxies }
                _ = try await transport.send(exchange)
                let error = try await transportError { try await transport.send(exchange) }
                #expect(error.code == .proxyFailed, "\(error)")
                #expect(proxy.connectionCount == 2 && proxy.requests.count == 2)
                let metrics = try #require(error.report.transactions.first)
                let start = try #require(metrics.fetchStartDate)
                let dates = [
                    metrics.domainLookupStartDate, metrics.domainLookupEndDate, metrics.connectStartDate,
                    metrics.connectEndDate, metrics.requestStartDate, metrics.responseEndDate,
                ].compactMap(\.self)
                #expect(dates.count > 3 && dates.allSatisfy { $0 >= start }, "\(start) \(dates)")
            }
        }

        @Test func aNewConnectionThatClosesIsLost() async throws {
            try await withRawServer([.receiveHead, .close]) { server in
                let error = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect(error.code == .connectionLost)
                #expect(error.systemError == nil)
            }
        }

        private static let refusal = "HTTP/1.1 417 No\r\nContent-Length: 7\r\n\r\nrefused"

        /// The request is resent without the expectation (RFC 9110, section 15.5.18). The second response isn't mixed
        /// with the rejection.
        @Test(
            arguments: [
                (RequestBody.data(Data("small".utf8)), 5), (.data(Data(count: 100_000)), 100_000),
                (ChunkSource.body([Data(count: 90_000)], length: 90_000), 90_000),
            ], [ResponseDelivery.collect(), .stream()])
        func aRejectedExpectationIsDropped(_ body: (RequestBody, Int), _ delivery: ResponseDelivery) async throws {
            let again: [RawServer.Step] = [.receiveHead, .receive(body.1), .send(Self.ok)]
            try await withRawServer([.respond(Self.refusal)] + again, again) { server in
                let heads = Heads()
                var exchange = Exchange(
                    server.url, .post, fields: [("Expect", "100-continue")], body: body.0, delivery: delivery)
                exchange.observer = heads
                let response = try await transport.send(exchange)
                #expect(response.head.status == 200)
                if case .stream(let stream) = response.body {
                    #expect(try await collect(stream) == Data("ok".utf8))
                } else {
                    #expect(try response.text == "ok")
                    #expect(response.report.transactions.first?.resendCount == 1)
                }
                #expect(server.requests.map { $0.contains("Expect: 100-continue") } == [true, false])
                #expect(heads.statuses == [200])
            }
        }

        @Test func aRejectedExpectationOfARequestWithoutABodyIsDropped() async throws {
            let again: [RawServer.Step] = [.receiveHead, .send(Self.ok)]
            try await withRawServer([.respond(Self.refusal)] + again, again) { server in
                let response = try await transport.send(
                    Exchange(server.url, .post, fields: [("Expect", "100-continue")]))
                #expect([200, 417].contains(response.head.status))
            }
        }

        @Test(
            .onlyOverCurl("libcurl doesn't repeat the request if the connection closes"),
            arguments: [ResponseDelivery.collect(), .stream()])
        func aFinalRejectionIsTheResponse(_ delivery: ResponseDelivery) async throws {
            let refusal = "HTTP/1.1 417 No\r\nConnection: close\r\nContent-Length: 7\r\n\r\nrefused"
            try await withRawServer([.respond(refusal)]) { server in
                let response = try await transport.send(
                    Exchange(
                        server.url, .post, fields: [("Expect", "100-continue")], body: .data(Data(count: 100)),
                        delivery: delivery))
                #expect(response.head.status == 417)
                if case .stream(let stream) = response.body {
                    #expect(try await collect(stream) == Data("refused".utf8))
                } else {
                    #expect(try response.text == "refused")
                }
                #expect(server.requests.count == 1)
            }
        }

        @Test(arguments: [ResponseDelivery.collect(), .stream()], [true, false])
        func aRejectionWithoutABodyIsTheResponseOrRejected(_ delivery: ResponseDelivery, _ isWanted: Bool)
            async throws
        {
            let refusal = "HTTP/1.1 417 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            try await withRawServer([.respond(refusal)]) { server in
                var exchange = Exchange(
                    server.url, .post, fields: [("Expect", "100-continue")], body: .data(Data(count: 100)),
                    delivery: delivery)
                exchange.decide = { _ in isWanted ? .take() : .refuse(Intended()) }
                if isWanted {
                    #expect(try await transport.send(exchange).head.status == 417)
                } else {
                    let error = try await transportError { try await transport.send(exchange) }
                    #expect(error.underlying is Intended)
                }
            }
        }

        /// The server rejects the request after the transport has stopped waiting for 100 Continue and has sent part of
        /// the body.
        @Test func aLateRejectionOfAOneShotBodyFails() async throws {
            try await withRawServer([.receiveHead, .receive(1_000), .send(Self.refusal), .receiveAll]) { server in
                let body = RequestBodyStream(isReplayable: false) {
                    let chunks = ChunkSource([Data(count: 1_000)])
                    return {
                        if let chunk = try chunks.next() { return chunk }
                        try await Task.sleep(for: .seconds(60))
                        return nil
                    }
                }
                let exchange = Exchange(server.url, .post, fields: [("Expect", "100-continue")], body: .stream(body))
                let error = try await transportError {
                    try await transport.send(exchange.with { $0.totalTimeout = 20 })
                }
                #expect(error.code == .requestBodyFailed)
                #expect(error.message.contains("417"), "\(error)")
            }
        }

        /// A libcurl handle stores the number of the last system error, and later transfers reuse the handle.
        @Test func aFailureDoesNotReportThePreviousError() async throws {
            let port = try ClosedPort()
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            try await withRawServer([.respond(head + "zz\r\nabc")], [.receiveHead, .close]) { server in
                let refused = try await transportError { try await transport.send(Exchange(port.url)) }
                #expect(refused.systemError == ECONNREFUSED)
                let malformed = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect(malformed.code == .malformedResponse)
                #expect(malformed.systemError == nil)
                let lost = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect(lost.code == .connectionLost)
                #expect(lost.systemError == nil)
            }
        }

        /// Records the statuses of all response heads.
        private final class Heads: ExchangeObserver {
            private let seen = Locked<[Int]>([])
            var statuses: [Int] { seen.withLock { $0 } }
            func exchangeDidReceiveHead(_ head: ResponseHead) { seen.withLock { $0.append(head.status) } }
        }
    }
}

import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestServers
import TestSupport
import Testing

extension TransportTests {
    /// Requests that wait for a connection, and connections that fail at the worst moment.
    @Suite struct ContentionTests {
        private let transport = makeTransport { $0.maximumConnectionsPerHost = 1 }

        private static func ok(_ body: String, _ fields: String = "") -> String {
            "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }

        // MARK: Bytes on the wire

        /// A server would parse bytes beyond the announced length as the next request.
        @Test func aBodyIsSentOnceAfterARejectedExpectation() async throws {
            let refusal = "HTTP/1.1 417 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            let script: [RawServer.Step] = [
                .receiveHead, .receive(5), .send(Self.ok("", "Connection: close\r\n")), .receiveAll,
            ]
            let first: [RawServer.Step] = [.respond(refusal), .close]
            try await withRawServer(TestedTransport.current == .curl ? script : first, script) { server in
                let fields = TestedTransport.current == .curl ? [] : [("Expect", "100-continue")]
                let exchange = Exchange(server.url, .post, fields: fields, body: .data(Data("value".utf8)))
                #expect(try await transport.send(exchange).head.status == 200)
                let connection = server.connectionCount - 1
                try await server.peerClosed(connection)
                let head = try #require(server.requests.last)
                #expect(!head.lowercased().contains("expect"))
                #expect(server.received(by: connection).dropFirst(head.utf8.count) == Data("value".utf8))
            }
        }

        @Test func aFileRemovedWhileQueuedIsNotAnEmptyBody() async throws {
            let file = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
            try Data("value".utf8).write(to: file)
            let gate = RawServer.Gate()
            let script: [RawServer.Step] = [.receiveHead, .mark("asked"), .hold(gate), .send(Self.ok("A"))]
            try await withRawServer(script + [.loop([.respond(Self.ok("B"))])]) { server in
                let first = Task { try await transport.text(of: Exchange(server.url)) }
                try await server.reached("asked")
                let put = Task { try await transport.send(Exchange(server.url, .put, body: .file(file))) }
                try await waitWhile { await transport.connectionStatistics?.waiting != 1 }
                try FileManager.default.removeItem(at: file)
                gate.open()
                #expect(try await first.value == "A")
                let error = try await transportError { try await put.value }
                #expect(error.code == .requestBodyFailed)
                #expect(try await transport.text(of: Exchange(server.url)) == "B")
                #expect(server.requests.allSatisfy { $0.hasPrefix("GET") })
            }
        }

        // MARK: Decisions

        @Test(arguments: ["204 No", "304 Same", "200 OK\r\nContent-Length: 0"], [true, false])
        func aResponseWithoutABodyEndsWithItsDecision(_ head: String, _ isTaken: Bool) async throws {
            try await withRawServer([.loop([.respond("HTTP/1.1 \(head)\r\n\r\n")])]) { server in
                for method in [HTTPRequest.Method.get, .head] {
                    var exchange = Exchange(server.url, method).with { $0.idleTimeout = 20 }
                    exchange.decide = { _ in
                        let pending = PendingHeadDecision()
                        Task {
                            try await Task.sleep(for: .milliseconds(20))
                            pending.fulfill(isTaken ? .take() : .discard(upTo: 1_000))
                        }
                        return .deferred(pending)
                    }
                    let clock = ContinuousClock.now
                    _ = try await transport.send(exchange)
                    #expect(clock.duration(to: .now) < .seconds(0.9))
                }
                #expect(server.connectionCount == 1)
            }
        }

        // MARK: Waiters

        /// A request that is resent must not wait for all requests that are already queued.
        @Test func resentRequestsAreNotStarved() async throws {
            let transport = makeTransport { $0.maximumConnectionsPerHost = 2 }
            let gate = RawServer.Gate()
            let both = RawServer.Gate()
            let old: [RawServer.Step] = [
                .receiveHead, .mark("first"), .hold(both), .send(Self.ok("1")), .receiveHead, .mark("asked"),
                .hold(gate),
                .close,
            ]
            try await withRawServer(old, old, [.loop([.respond(Self.ok("2"))])]) { server in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // Two concurrent requests, so that two connections become idle.
                    for _ in 0..<2 { group.addTask { _ = try await transport.send(Exchange(server.url)) } }
                    for connection in 0..<2 { try await server.reached("first", connection: connection) }
                    both.open()
                    try await group.waitForAll()
                    for _ in 0..<2 {
                        group.addTask {
                            let exchange = Exchange(server.url).with { $0.connectTimeout = 10 }
                            _ = try await transport.send(exchange)
                        }
                    }
                    for connection in 0..<2 { try await server.reached("asked", connection: connection) }
                    for _ in 0..<20 {
                        group.addTask {
                            let exchange = Exchange(server.url).with { $0.connectTimeout = 10 }
                            let text = try await transport.text(of: exchange)
                            #expect(text == "2")
                        }
                    }
                    try await waitWhile { await transport.connectionStatistics?.waiting != 20 }
                    gate.open()
                    try await group.waitForAll()
                }
            }
        }

        /// Bytes after a response aren't used as the response to the next request.
        @Test(arguments: [Self.ok("evil"), ""])
        func connectionsWithSurplusBytesOrAnEndAreNotReused(_ surplus: String) async throws {
            let gate = RawServer.Gate()
            let end: [RawServer.Step] = surplus.isEmpty ? [.close] : [.waitForever]
            let script: [RawServer.Step] = [
                .receiveHead, .mark("asked"), .hold(gate), .send(Self.ok("good") + surplus),
            ]
            try await withRawServer(script + end, [.loop([.receiveHead, .receive(3), .send(Self.ok("fresh"))])]) {
                server in
                let first = Task { try await transport.text(of: Exchange(server.url)) }
                try await server.reached("asked")
                let body = RequestBody.data(Data("pay".utf8))
                let second = Task { try await transport.text(of: Exchange(server.url, .post, body: body)) }
                try await waitWhile { await transport.connectionStatistics?.waiting != 1 }
                gate.open()
                #expect(try await first.value == "good")
                // A POST isn't resent if the connection ends after the request has been sent.
                if let text = try? await second.value { #expect(text == "fresh") } else { #expect(surplus.isEmpty) }
            }
        }

        // MARK: Rejected uploads

        @Test(
            .onlyOverHTTP("libcurl treats the failed write as the end"), arguments: [200, 413], [true, false])
        func aCompleteResponseIsAcceptedAlthoughTheServerCloses(_ status: Int, _ isReset: Bool) async throws {
            let answer = "HTTP/1.1 \(status) S\r\nContent-Length: 2\r\n\r\nok"
            let end: RawServer.Step = isReset ? .reset : .close
            try await withRawServer([.receiveHead, .receive(100_000), .send(answer), .mark("sent"), .wait(0.1), end]) {
                server in
                let exchange = Exchange(server.url, .post, body: .data(Data(count: 20_000_000)))
                let response = try? await transport.send(exchange.with { $0.idleTimeout = 10 })
                // A reset can discard received data before it is read.
                if !isReset || response != nil { #expect(response?.head.status == status) }
            }
        }

        @Test func aLargeUploadDoesNotBlockOthers() async throws {
            let transport = makeTransport { $0.maximumThreads = 1 }
            let body = Data(count: 200_000_000)
            let ok = Self.ok("")
            try await withRawServer([.receiveHead, .mark("begun"), .receive(body.count), .mark("done"), .send(ok)]) {
                sink in
                try await withServer { server in
                    let upload = Task { try await transport.send(Exchange(sink.url, .put, body: .data(body))) }
                    try await sink.reached("begun")
                    for _ in 0..<5 { _ = try await transport.send(Exchange(server.url("/get"))) }
                    #expect(sink.received(by: 0).count < body.count)
                    _ = try await upload.value
                }
            }
        }

        // MARK: Time

        @Test(
            .onlyOverHTTP("libcurl's transport restarts its timer with each byte"),
            arguments: [
                ResponseDelivery.collect(), .stream(),
            ])
        func aSlowHeadHasADeadline(_ delivery: ResponseDelivery) async throws {
            let steps: [RawServer.Step] = [.receiveHead, .repeat("HTTP/1.1 103 H\r\n\r\n", every: 0.3, times: 3)]
            try await withRawServer(steps + [.send("HTTP/1.1 200 OK\r\n"), .repeat("x", every: 0.05, times: 200)]) {
                server in
                let exchange = Exchange(server.url, delivery: delivery).with {
                    ($0.idleTimeout, $0.minimumTransferRate) = (0.6, 0)
                }
                let error = try await transportError { try await transport.send(exchange) }
                #expect(error.code == .timedOut)
                #expect(error.message.contains("head was not complete"), "\(error)")
            }
        }

        @Test(.onlyOverHTTP("libcurl ignores the field before 7.88 and closes late"))
        func theServersKeepAliveTimeoutIsHonored() async throws {
            let short = Self.ok("a", "Keep-Alive: timeout=1\r\n")
            try await withRawServer([.respond(short), .waitForever], [.loop([.respond(Self.ok("b"))])]) { server in
                #expect(try await transport.text(of: Exchange(server.url)) == "a")
                try await server.peerClosed(0)
                #expect(try await transport.text(of: Exchange(server.url)) == "b")
            }
        }

        @Test(.onlyOverHTTP("libcurl delivers the 408"), arguments: [HTTPRequest.Method.get, .post])
        func aLate408OnAnIdleConnectionIsIgnored(_ method: HTTPRequest.Method) async throws {
            let late = "HTTP/1.1 408 Late\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            let script: [RawServer.Step] = [.respond(Self.ok("a")), .respond(late), .close]
            try await withRawServer(script, [.loop([.respond(Self.ok("b"))])]) { server in
                #expect(try await transport.text(of: Exchange(server.url)) == "a")
                let response = try await transport.send(Exchange(server.url, method))
                #expect(response.head.status == (method == .get ? 200 : 408))
                #expect(response.report.transactions.first?.resendCount == (method == .get ? 1 : 0))
            }
        }

        @Test(.onlyOverHTTP("libcurl delivers the 421"), arguments: [HTTPRequest.Method.get, .post])
        func aRequestThatIsRefusedOverAReusedConnectionIsSentOverAnother(_ method: HTTPRequest.Method) async throws {
            let refusal = "HTTP/1.1 421 Misdirected\r\nContent-Length: 0\r\n\r\n"
            let script: [RawServer.Step] = [.respond(Self.ok("a")), .respond(refusal), .waitForever]
            try await withRawServer(script, [.respond(Self.ok("b"))], [.loop([.respond(refusal)])]) { server in
                #expect(try await transport.text(of: Exchange(server.url)) == "a")
                let response = try await transport.send(Exchange(server.url, method))
                #expect(response.head.status == 200)
                #expect(response.report.transactions.first?.resendCount == 1)
                try await server.peerClosed(0)
                // Over a fresh connection, the response is delivered.
                transport.closeIdleConnections()
                #expect(try await transport.send(Exchange(server.url, method)).head.status == 421)
                #expect(server.connectionCount == 3)
            }
        }
    }
}

import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestServers
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct BrokenConnectionTests {
        private let transport = makeTransport()

        private func expectItStillWorks() async throws {
            try await withServer { server in
                let response = try await transport.send(Exchange(server.url("/get")))
                #expect(response.head.status == 200)
            }
        }

        @Test func aRefusedConnectionFails() async throws {
            let port = try ClosedPort()
            let error = try await transportError { try await transport.send(Exchange(port.url)) }
            #expect(error.code == .cannotConnect)
            #expect(error.phase == .connecting)
            #expect(error.systemError == ECONNREFUSED)
            #expect(error.transportCode == (TestedTransport.current == .curl ? 7 : nil))
            #expect(error.urlError.code == .cannotConnectToHost)
            try await expectItStillWorks()
        }

        @Test func aNameWithoutAnAddressFails() async throws {
            let url = try #require(URL(string: "http://no-such-host.invalid/"))
            let error = try await transportError { try await transport.send(Exchange(url)) }
            #expect(error.code == .cannotFindHost)
            #expect(error.phase == .resolving)
            #expect(error.peer == nil)
            try await expectItStillWorks()
        }

        @Test(arguments: [
            "http://[::1", "http://a..b/", "http://127.0.0.1:99999/", "http://127.0.0.1:x/", "http://%00/",
        ])
        func anInvalidAuthorityFails(_ text: String) async throws {
            let rest = text.dropFirst(7)
            let request = HTTPRequest(
                method: .get, scheme: "http", authority: String(rest.prefix { $0 != "/" }), path: "/")
            let error = try await transportError { try await transport.send(Exchange(request: request)) }
            #expect([.invalidURL, .cannotFindHost].contains(error.code), "\(error)")
        }

        @Test func aServerThatClosesBeforeReadingFails() async throws {
            try await withRawServer([.close]) { server in
                let error = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect([.malformedResponse, .connectionLost].contains(error.code), "\(error)")
                try await expectItStillWorks()
            }
        }

        @Test func aServerThatResetsFails() async throws {
            try await withRawServer([.receiveHead, .reset]) { server in
                let error = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect(error.code == .connectionLost)
                #expect(error.systemError == ECONNRESET)
                #expect(error.phase == .awaitingResponse)
            }
        }

        @Test func aResetWhileSendingFails() async throws {
            try await withRawServer([.receiveHead, .receive(100_000), .reset]) { server in
                let body = RequestBody.data(Data(count: 50_000_000))
                let error = try await transportError {
                    try await transport.send(Exchange(server.url, .post, body: body))
                }
                #expect(error.code == .connectionLost)
                #expect(error.phase == .sending)
            }
        }

        @Test func aResponseBeforeTheBodysEndIsAccepted() async throws {
            let answer = "HTTP/1.1 413 Too large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig"
            try await withRawServer([.respond(answer), .receiveAll]) { server in
                let body = RequestBody.data(Data(count: 50_000_000))
                let response = try await transport.send(Exchange(server.url, .post, body: body))
                #expect(response.head.status == 413)
                #expect(try response.text == "big")
            }
        }

        /// A body's producer can be idle for a long time. A rejection or a redirect must not wait for the producer.
        @Test(
            arguments: [true, false],
            [
                "413 X\r\nContent-Length: 3", "303 X\r\nLocation: /\r\nContent-Length: 3", "413 X\r\nConnection: close",
                "413 X\r\nConnection: close\r\nContent-Length: 3", "307 X",
            ])
        func aResponseEndsAnUploadWithABlockedProducer(_ hasBegun: Bool, _ head: String) async throws {
            let ending: [RawServer.Step] = head.contains("Length") ? [.receiveAll] : [.halfClose, .receiveAll]
            let answer: [RawServer.Step] = [.respond("HTTP/1.1 \(head)\r\n\r\n"), .wait(0.05), .send("big")]
            try await withRawServer(answer + ending) { server in
                let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
                if hasBegun { continuation.yield(Data("first".utf8)) }
                let body = RequestBodyStream(isReplayable: false) {
                    {
                        for await chunk in chunks { return chunk }; return nil
                    }
                }
                let exchange = Exchange(server.url, .post, body: .stream(body)).with { $0.totalTimeout = 5 }
                let response = try await transport.send(exchange)
                #expect("\(response.head.status)" == head.prefix(3))
                #expect(try response.text == "big")
                continuation.finish()
            }
        }

        @Test func aServerThatNeverRespondsTriggersTheIdleTimeout() async throws {
            try await withRawServer([.receiveHead, .waitForever]) { server in
                let exchange = Exchange(server.url).with { $0.idleTimeout = 0.3 }
                var error: TransportError?
                let time = try await seconds { error = try await transportError { try await transport.send(exchange) } }
                #expect(error?.code == .timedOut)
                #expect(error?.phase == .awaitingResponse)
                #expect(error?.message.contains("idle") == true)
                #expect((0.25...3).contains(time))
                try await server.peerClosed(0)
                try await expectItStillWorks()
            }
        }

        @Test func aServerThatStopsReadingTriggersTheIdleTimeout() async throws {
            try await withRawServer([.receiveHead, .waitForever]) { server in
                let exchange = Exchange(server.url, .post, body: .data(Data(count: 50_000_000)))
                let error = try await transportError {
                    try await transport.send(exchange.with { $0.idleTimeout = 0.3 })
                }
                #expect(error.code == .timedOut)
                #expect(error.phase == .sending)
            }
        }

        @Test func theConnectTimeoutEndsConnecting() async throws {
            let port = try UnacceptingPort()
            let exchange = Exchange(port.url).with { $0.connectTimeout = 0.3 }
            var error: TransportError?
            let time = try await seconds { error = try await transportError { try await transport.send(exchange) } }
            #expect(error?.code == .timedOut)
            #expect(error?.phase == .connecting)
            #expect((0.25...3).contains(time))
            try await expectItStillWorks()
        }

        @Test func theTotalTimeoutCoversConnecting() async throws {
            let port = try UnacceptingPort()
            let error = try await transportError {
                try await transport.send(Exchange(port.url).with { $0.totalTimeout = 0.3 })
            }
            #expect(error.message.contains("total"))
        }

        @Test func aSlowServerTriggersTheTotalTimeout() async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
            try await withRawServer([.respond(head), .repeat("a", every: 0.02, times: 100_000)]) { server in
                let exchange = Exchange(server.url).with { ($0.idleTimeout, $0.totalTimeout) = (5, 0.4) }
                var error: TransportError?
                let time = try await seconds { error = try await transportError { try await transport.send(exchange) } }
                #expect(error?.code == .timedOut)
                #expect(error?.phase == .receiving)
                #expect(error?.message.contains("total") == true)
                #expect((0.35...3).contains(time))
            }
        }

        @Test func aServerBelowTheMinimumRateIsIdle() async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
            let steps: [RawServer.Step] = [.loop([.respond(head), .repeat("a", every: 0.02, times: 100)])]
            try await withRawServer(steps) { server in
                let exchange = Exchange(server.url).with { ($0.idleTimeout, $0.minimumTransferRate) = (1, 1_000) }
                let error = try await transportError { try await transport.send(exchange) }
                #expect(error.code == .timedOut)
                #expect(error.phase == .receiving)
                #expect(error.message.contains("idle"), "\(error)")
                let patient = exchange.with { $0.minimumTransferRate = 0 }
                #expect(try await transport.send(patient).data.count == 100)
                var streamed = exchange
                streamed.delivery = .stream()
                #expect(try await collect(transport.send(streamed).stream).count == 100)
            }
        }

        @Test func waitingForAConnectionIsNotIdle() async throws {
            let transport = makeTransport { $0.maximumConnectionsPerHost = 1 }
            try await withServer { server in
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<4 {
                        let exchange = Exchange(server.url("/drip?seconds=0.5&bytes=30")).with { $0.idleTimeout = 1 }
                        group.addTask { try await transport.send(exchange).data.count }
                    }
                    for try await count in group { #expect(count == 30) }
                }
            }
        }

        @Test func theTotalTimeoutCoversTheQueue() async throws {
            let transport = makeTransport { $0.maximumConnectionsPerHost = 1 }
            try await withRawServer([.receiveHead, .waitForever]) { server in
                let first = Task { try await transport.send(Exchange(server.url)) }
                try await server.head()
                let error = try await transportError {
                    try await transport.send(Exchange(server.url).with { $0.totalTimeout = 0.2 })
                }
                #expect(error.phase == .queued)
                #expect(error.message.contains("total"))
                first.cancel()
                _ = await first.result
            }
        }
    }
}

import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestServers
import TestSupport
import Testing

@testable import AfarCurl

extension TransportTests {
    /// A canceled exchange and its connection end quickly at every stage.
    @Suite struct CancellationTests {
        private let transport = makeTransport()

        /// Starts an exchange synchronously, cancels it when `isReady` returns, and expects it to fail.
        private func expectCancellation(
            of exchange: Exchange, in phase: TransportError.Phase, on transport: (any TestableTransport)? = nil,
            when isReady: () async throws -> Void
        ) async throws {
            let transport = transport ?? self.transport
            let task = Task.immediate { try await transport.send(exchange) }
            try await isReady()
            task.cancel()
            var error: TransportError?
            let time = try await seconds { error = try await transportError { try await task.value } }
            #expect(error?.code == .cancelled)
            #expect(error?.phase == phase)
            #expect(time < 2)
        }

        @Test func beforeSending() async throws {
            try await withServer { server in
                let (opened, continuation) = AsyncStream.makeStream(of: Void.self)
                let task = Task {
                    for await _ in opened {}
                    return try await transport.send(Exchange(server.url("/get")))
                }
                task.cancel()
                continuation.finish()
                let error = try await transportError { try await task.value }
                #expect(error.code == .cancelled)
                #expect(error.phase == .queued)
                #expect(server.requestCount == 0)
            }
        }

        @Test func anUnstartedExchangeIsReleased() throws {
            weak var owner: (any TestableTransport)?
            weak var exchange: (any PreparedExchange)?
            do {
                let transport = makeTransport()
                let url = try #require(URL(string: "http://127.0.0.1/"))
                let hop = Hop(Exchange(url, delivery: .stream()))
                let prepared = try transport.prepare(hop)
                (owner, exchange) = (transport, prepared)
                #expect(exchange != nil)
            }
            #expect(exchange == nil)
            #expect(owner == nil)
        }

        @Test func whileItIsQueued() async throws {
            let transport = makeTransport { $0.maximumConnectionsPerHost = 1 }
            let gate = RawServer.Gate()
            try await withRawServer([.receiveHead, .hold(gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])
            { server in
                let first = Task { try await transport.send(Exchange(server.url)) }
                try await server.head()
                try await expectCancellation(of: Exchange(server.url), in: .queued, on: transport) {}
                gate.open()
                #expect(try await first.value.head.status == 200)
                #expect(server.requests.count == 1)
            }
        }

        /// An observer that blocks the transport's thread for a short time for every chunk.
        private final class SlowObserver: ExchangeObserver {
            let hasBegun = Deferred<Void>()

            func exchangeDidReceive(bytes: Int64, expected: Int64?) {
                usleep(500)
                if bytes > 1 << 20 { hasBegun.fulfill(()) }
            }
        }

        /// Data is always available, but neither the cancellation nor another exchange has to wait for the end of the
        /// body.
        @Test(.timeLimit(.minutes(1))) func whileTheServerSendsFasterThanTheReader() async throws {
            try await withServer { server in
                let piece = Data(repeating: 1, count: 1 << 18)
                server.route("/endless") { _ in ServerResponse { body in while true { try body.write(piece) } } }
                let observer = SlowObserver()
                var exchange = Exchange(server.url("/endless"), delivery: .collect(limit: .max))
                exchange.observer = observer
                try await expectCancellation(of: exchange, in: .receiving) {
                    await observer.hasBegun.value
                    let other = try await transport.send(Exchange(server.url("/get")))
                    #expect(other.head.status == 200)
                }
            }
        }

        @Test func whileItConnects() async throws {
            let port = try UnacceptingPort()
            // When `catchUp()` returns, the first exchange is connecting.
            try await expectCancellation(of: Exchange(port.url), in: .connecting) { try await transport.catchUp() }
        }

        @Test(.onlyOverCurl("TLS")) func duringTheTLSHandshake() async throws {
            try await withRawServer([.receive(1), .waitForever]) { server in
                let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
                try await expectCancellation(of: Exchange(url), in: .tlsHandshake) {
                    try await server.connection(0)
                    try await waitWhile { server.received(by: 0).isEmpty }
                }
                try await server.peerClosed(0)
            }
        }

        @Test func whileItSends() async throws {
            let gate = RawServer.Gate()
            try await withRawServer([.receiveHead, .hold(gate), .receiveAll]) { server in
                let exchange = Exchange(server.url, .post, body: .data(Data(count: 50_000_000)))
                try await expectCancellation(of: exchange, in: .sending) { try await server.head() }
                // The server must read the buffered bytes before it detects the end.
                gate.open()
                try await server.peerClosed(0)
            }
        }

        @Test func whileTheBodysProducerWaits() async throws {
            try await withRawServer([.receiveHead, .receiveAll]) { server in
                let (started, ended) = (Deferred<Void>(), Deferred<Void>())
                let body = RequestBodyStream(isReplayable: false) {
                    {
                        started.fulfill(())
                        defer { ended.fulfill(()) }
                        try await Task.sleep(for: .seconds(3600))
                        return nil
                    }
                }
                let exchange = Exchange(server.url, .post, body: .stream(body))
                try await expectCancellation(of: exchange, in: .sending) {
                    try await server.head()
                    await started.value
                }
                await ended.value
                try await server.peerClosed(0)
            }
        }

        @Test func whileItWaitsForTheHead() async throws {
            try await withRawServer([.receiveHead, .waitForever]) { server in
                try await expectCancellation(of: Exchange(server.url), in: .awaitingResponse) {
                    try await server.head()
                }
                try await server.peerClosed(0)
            }
        }

        /// The exchange is canceled while the transport's thread is busy. The timeout passes before the thread
        /// continues.
        @Test func beforeATimeout() async throws {
            let transport = makeTransport { $0.maximumThreads = 1 }
            try await withRawServer([.receiveHead, .waitForever]) { server in
                var exchange = Exchange(server.url)
                exchange.options.idleTimeout = 0.5
                try await expectCancellation(
                    of: exchange, in: .awaitingResponse, on: transport
                ) {
                    try await server.head()
                    let isBusy = Deferred<Void>()
                    Task(executorPreference: try transport.taskExecutor) {
                        isBusy.fulfill(())
                        usleep(1_000_000)
                    }
                    await isBusy.value
                }
            }
        }

        @Test(arguments: [false, true])
        func whileTheBodyArrives(_ isSuspended: Bool) async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
            try await withRawServer([.respond(head), .waitForever]) { server in
                var exchange = Exchange(server.url)
                let (heads, continuation) = AsyncStream.makeStream(of: Void.self)
                exchange.decide = { [control = exchange.control] _ in
                    if isSuspended { control.suspend() }
                    continuation.yield()
                    return .take()
                }
                try await expectCancellation(of: exchange, in: .receiving) {
                    for await _ in heads { break }
                }
                try await server.peerClosed(0)
            }
        }

        @Test func cancellingAfterTheEndHasNoEffect() async throws {
            try await withServer { server in
                let task = Task { try await transport.send(Exchange(server.url("/get"))) }
                _ = try await task.value
                task.cancel()
                #expect(try await task.value.head.status == 200)
                #expect(try await transport.send(Exchange(server.url("/get"))).head.status == 200)
                #expect(server.connectionCount == 1)
            }
        }

        /// libcurl resolves names in threads that can't be canceled.
        @Test func whileTheNameIsResolved() async throws {
            let url = try #require(URL(string: "http://slow.invalid/"))
            var generator = SeededGenerator(seed: 3)
            for _ in 0..<50 {
                let pause = Int.random(in: 0...2_000, using: &generator)
                let task = Task { try await transport.send(Exchange(url)) }
                try await Task.sleep(for: .microseconds(pause))
                task.cancel()
                var error: TransportError?
                let time = try await seconds { error = try await transportError { try await task.value } }
                #expect(error?.code == .cancelled || error?.code == .cannotFindHost)
                #expect(time < 2)
            }
        }

        @Test func aQueueOfThousandsIsCancelledQuickly() async throws {
            try await withRawServer([.receiveHead, .waitForever]) { server in
                let tasks = (0..<5_000).map { _ in Task { try await transport.send(Exchange(server.url)) } }
                try await server.head(0, connection: 5)
                var codes: Set<TransportError.Code> = []
                let time = await seconds {
                    for task in tasks { task.cancel() }
                    for task in tasks {
                        if case .failure(let error as TransportError) = await task.result { codes.insert(error.code) }
                    }
                }
                #expect(codes == [.cancelled])
                #expect(time < 5)
            }
        }

        @Test func atAnyMoment() async throws {
            try await withServer { server in
                var generator = SeededGenerator(seed: 11)
                var counts: [String: Int] = [:]
                try await withThrowingTaskGroup(of: String.self) { group in
                    for number in 0..<300 {
                        let pause = Int.random(in: 0...20_000, using: &generator)
                        let delivery: ResponseDelivery = number % 3 == 0 ? .stream(highWaterMark: 5_000) : .collect()
                        let body: RequestBody =
                            number % 2 == 0 ? .none : ChunkSource.body([Data(count: 300_000), Data("x".utf8)])
                        let exchange = Exchange(
                            server.url(["/large/2000000", "/drip?seconds=0.01", "/delay/0.01"][number % 3]), .post,
                            body: body,
                            delivery: delivery)
                        group.addTask {
                            let task = Task {
                                let response = try await transport.send(exchange)
                                if case .stream(let stream) = response.body { _ = try await collect(stream) }
                            }
                            try await Task.sleep(for: .microseconds(pause))
                            task.cancel()
                            switch await task.result {
                            case .success: return "done"
                            case .failure(let error):
                                return "\((error as? TransportError)?.code.description ?? "\(error)")"
                            }
                        }
                    }
                    for try await end in group { counts[end, default: 0] += 1 }
                }
                #expect(counts.values.reduce(0, +) == 300)
                #expect(Set(counts.keys).isSubset(of: ["done", "cancelled"]), "\(counts)")
                #expect(try await transport.send(Exchange(server.url("/get"))).head.status == 200)
            }
        }
    }
}

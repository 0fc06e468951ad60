import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct StreamTests {
        private let transport = makeTransport()

        private func stream(_ url: URL, highWaterMark: Int = 64 * 1024) async throws -> ResponseBodyStream {
            try await transport.send(Exchange(url, delivery: .stream(highWaterMark: highWaterMark))).stream
        }

        @Test(arguments: [1, 10_000, 10_000_000])
        func aStreamContainsTheCompleteBody(_ highWaterMark: Int) async throws {
            try await withServer { server in
                let body = try await stream(server.url("/large/5000000"), highWaterMark: highWaterMark)
                #expect(try await collect(body) == PatternBytes.bytes(5_000_000))
                let report = await body.report()
                #expect(report.transactions.first?.countOfResponseBodyBytesReceived == 5_000_000)
            }
        }

        @Test func anEmptyBodyEndsImmediately() async throws {
            try await withServer { server in
                let body = try await stream(server.url("/empty"))
                #expect(try await collect(body).isEmpty)
            }
        }

        @Test func theResponseIsAvailableBeforeItsBody() async throws {
            let gate = RawServer.Gate()
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
            try await withRawServer([.respond(head + "abc"), .hold(gate), .send("def")]) { server in
                let body = try await stream(server.url)
                var iterator = body.makeAsyncIterator()
                #expect(try await iterator.next() == Data("abc".utf8))
                gate.open()
                #expect(try await iterator.next() == Data("def".utf8))
                #expect(try await iterator.next() == nil)
                #expect(try await iterator.next() == nil)
            }
        }

        /// A single read can exceed the limit, but no read follows until the stream has room.
        @Test func aFullStreamIsNotRead() async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
            let block = String(repeating: "x", count: 1 << 20)
            try await withRawServer([.respond(head), .repeat(block, every: 0, times: 900)]) { server in
                let received = ReceivedBytes()
                var exchange = Exchange(server.url, delivery: .stream(highWaterMark: 64 * 1024))
                exchange.observer = received
                let body = try await transport.send(exchange).stream
                try await waitWhile { received.count < 64 * 1024 }
                // The transport's thread responds after its pending reads.
                _ = await transport.connectionStatistics
                body.cancel()
                let transaction = try #require(await body.report().transactions.first)
                #expect(transaction.countOfResponseBodyBytesReceived <= 2 * 64 * 1024)
            }
        }

        private final class ReceivedBytes: ExchangeObserver {
            private let state = Locked<Int64>(0)
            var count: Int64 { state.withLock { $0 } }

            func exchangeDidReceive(bytes: Int64, expected: Int64?) { state.withLock { $0 = bytes } }
        }

        /// 200 MB exceed the total size of all buffers between server and reader.
        @Test func anUnreadStreamAppliesBackpressure() async throws {
            let total = 200_000_000
            let written = Locked(0)
            try await withServer { server in
                server.route("/body/{isCounted}") { request in
                    ServerResponse(length: total) { [isCounted = request.parameters["isCounted"] == "counted"] body in
                        let block = Data(repeating: 1, count: 1_000_000)
                        for _ in 0..<(total / block.count) {
                            try body.write(block)
                            if isCounted { written.withLock { $0 += block.count } }
                        }
                    }
                }
                let body = try await stream(server.url("/body/counted"), highWaterMark: 100_000)
                // Without backpressure, the unread stream would complete first.
                for try await _ in try await stream(server.url("/body/other")) {}
                #expect(written.withLock { $0 } < total / 2)
                var count = 0
                for try await chunk in body { count += chunk.count }
                #expect(count == total)
            }
        }

        @Test func aTruncatedBodyIsTheReadersError() async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
            try await withRawServer([.respond(head + "half"), .close]) { server in
                let body = try await stream(server.url)
                let error = try await transportError { try await collect(body) }
                #expect(error.code == .bodyIncomplete)
                #expect(error.phase == .receiving)
                #expect(await body.report().transactions.first?.countOfResponseBodyBytesReceived == 4)
            }
        }

        @Test func aSecondReaderIsRejected() async throws {
            let gate = RawServer.Gate()
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
            try await withRawServer([.respond(head), .hold(gate), .send("x")]) { server in
                let body = try await stream(server.url)
                let results = await withTaskGroup(of: Result<Data, any Error>.self) { group in
                    for _ in 0..<2 {
                        group.addTask {
                            do { return .success(try await collect(body)) } catch { return .failure(error) }
                        }
                    }
                    var results: [Result<Data, any Error>] = []
                    for await result in group {
                        results.append(result)
                        gate.open()
                    }
                    return results
                }
                let refusal = #expect(throws: TransportError.self) { try results[0].get() }
                #expect(refusal?.code == .invalidUse)
                #expect(try results[1].get() == Data("x".utf8))
            }
        }

        private static let endless: [RawServer.Step] = [
            .respond("HTTP/1.1 200 OK\r\n\r\n"),
            .repeat([UInt8](repeating: 65, count: 10_000), every: 0, times: 1_000_000),
        ]

        @Test func droppingTheStreamEndsTheExchange() async throws {
            try await withRawServer(Self.endless) { server in
                do { _ = try await stream(server.url) }
                try await server.peerClosed(0)
            }
        }

        @Test func droppingAWaitingStreamEndsTheExchange() async throws {
            try await withRawServer([.respond("HTTP/1.1 200 OK\r\n\r\n"), .waitForever]) { server in
                do { _ = try await stream(server.url) }
                try await server.peerClosed(0)
            }
        }

        @Test func leavingTheLoopEndsTheExchange() async throws {
            try await withRawServer(Self.endless) { server in
                do {
                    for try await _ in try await stream(server.url) { break }
                }
                try await server.peerClosed(0)
            }
        }

        @Test func cancellingTheStreamEndsIt() async throws {
            try await withRawServer(Self.endless) { server in
                let body = try await stream(server.url)
                body.cancel()
                body.cancel()
                let error = try await transportError { try await collect(body) }
                #expect(error.code == .cancelled)
                _ = await body.report()
                try await server.peerClosed(0)
            }
        }

        @Test func cancellingTheReadersTaskEndsTheExchange() async throws {
            try await withRawServer([.respond("HTTP/1.1 200 OK\r\n\r\n"), .waitForever]) { server in
                let body = try await stream(server.url)
                let task = Task { try await collect(body) }
                task.cancel()
                let error = try await transportError { try await task.value }
                #expect(error.code == .cancelled)
                try await server.peerClosed(0)
            }
        }

        @Test func aStreamOutlivesItsTransport() async throws {
            try await withServer { server in
                let exchange = Exchange(server.url("/large/5000000"), delivery: .stream(highWaterMark: 1000))
                var transport: (any TestableTransport)? = makeTransport()
                let body = try await transport?.send(exchange).stream
                transport = nil
                #expect(try await collect(try #require(body)) == PatternBytes.bytes(5_000_000))
            }
        }
    }
}

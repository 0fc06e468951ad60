import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestServers
import TestSupport
import Testing

@testable import AfarCurl

extension TransportTests {
    /// Neither a fast server nor the cleanup of that server's exchange delays other exchanges.
    @Suite(.timeLimit(.minutes(1))) struct FairnessTests {
        private let transport = makeTransport()

        enum Flood: String, CaseIterable {
            case chunksOfOneByte, deflatedZeros, zstandardZeros, plain, plainOfKnownLength

            private static let runs = 8_000_000
            private static let blocks = 160_000

            /// The minimum size of the body.
            var size: Int64 {
                switch self {
                case .deflatedZeros: Int64(Self.runs) * 258
                case .zstandardZeros: Int64(Self.blocks) * 128 * 1024
                case .chunksOfOneByte, .plain, .plainOfKnownLength: .max
                }
            }

            /// Steps that send as fast as possible, for seconds or forever, without ever completing the body.
            var steps: [RawServer.Step] {
                switch self {
                case .chunksOfOneByte:
                    let chunks = String(repeating: "1\r\nx\r\n", count: 100_000)
                    return [
                        .respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                        .repeat(chunks, every: 0, times: 1_000_000),
                    ]
                case .deflatedZeros: return Self.steps(of: DeflatedZeros.data(runs: Self.runs), "deflate")
                case .zstandardZeros: return Self.steps(of: ZstandardZeros.data(blocks: Self.blocks), "zstd")
                case .plain, .plainOfKnownLength:
                    let length = self == .plain ? "" : "Content-Length: \(Int64.max)\r\n"
                    return [
                        .respond("HTTP/1.1 200 OK\r\n\(length)\r\n"),
                        .repeat(String(repeating: "x", count: 1 << 20), every: 0, times: 1_000_000),
                    ]
                }
            }

            private static func steps(of bomb: Data, _ coding: String) -> [RawServer.Step] {
                let head =
                    "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(bomb.count + 1)\r\n\r\n"
                return [.respond(head), .send(bomb), .waitForever]
            }
        }

        /// Counts the bytes of a body.
        private final class Counter: ExchangeObserver {
            private let count = Locked<Int64>(0)
            var bytes: Int64 { count.withLock { $0 } }

            func exchangeDidReceive(bytes: Int64, expected: Int64?) { count.withLock { $0 = bytes } }
        }

        private func withFlood(
            _ flood: Flood, _ body: (RawServer, Exchange, Counter) async throws -> Void
        ) async throws {
            let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
            defer { close(null) }
            try await withRawServer(flood.steps) { server in
                var exchange = Exchange(server.url, delivery: .file(descriptor: null))
                exchange.options.decompressionLimit = nil
                let counter = Counter()
                exchange.observer = counter
                try await body(server, exchange, counter)
            }
        }

        @Test(arguments: Flood.allCases)
        func otherExchangesContinueDuringAFlood(flood: Flood) async throws {
            try await withFlood(flood) { server, exchange, counter in
                try await withServer { other in
                    let task = Task { try await transport.send(exchange) }
                    try await server.head()
                    try await waitWhile { counter.bytes < 1_000_000 }
                    #expect(try await transport.send(Exchange(other.url("/get"))).head.status == 200)
                    #expect(counter.bytes < flood.size)
                    task.cancel()
                    let error = try await transportError { try await task.value }
                    #expect(error.code == .cancelled)
                }
            }
        }

        /// Counts the bytes of a body. After 16 MiB, the observer blocks the transport's thread until `open()` is
        /// called.
        private final class Blocker: ExchangeObserver {
            let isBlocking = Deferred<Void>()
            private let door = DispatchSemaphore(value: 0)
            private let count = Locked<Int64>(0)
            var bytes: Int64 { count.withLock { $0 } }

            func open() { door.signal() }

            func exchangeDidReceive(bytes: Int64, expected: Int64?) {
                let isReached = count.withLock { count in
                    defer { count = bytes }
                    return count < 16 << 20 && bytes >= 16 << 20
                }
                guard isReached else { return }
                isBlocking.fulfill(())
                door.wait()
            }
        }

        /// Records how much of the flood had arrived before each response.
        private final class ChunkRecorder: ExchangeObserver {
            let counts = Locked<[Int64]>([])
            private let flood: Blocker

            init(_ flood: Blocker) { self.flood = flood }

            func exchangeDidReceiveHead(_ head: ResponseHead) { counts.withLock { $0.append(flood.bytes) } }
        }

        /// Returns the number of this process's sockets that are connected to the port and readable.
        private func readableSocketCount(connectedTo port: UInt16) -> Int {
            (0..<4_096 as Range<Int32>).count { socket in
                var address = sockaddr_in()
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let code = withUnsafeMutablePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) }
                }
                guard code == 0, UInt16(bigEndian: address.sin_port) == port else { return false }
                var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                return poll(&entry, 1, 0) > 0
            }
        }

        /// After the three responses have arrived, the transport's thread reads from the flood's connection at most
        /// three more times before it reads the responses: in the rest of the current iteration of its loop, in the
        /// next iteration before it polls its sockets, and in the iteration in which it reads the responses.
        @Test(
            .onlyOverHTTP("libcurl determines how much it reads per iteration"),
            arguments: [Flood.plain, .plainOfKnownLength], [true, false])
        func aReusedConnectionReadsALimitedNumberOfBytesPerTurn(flood: Flood, isCollected: Bool) async throws {
            let transport = makeTransport { $0.maximumThreads = 1 }
            let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
            defer { close(null) }
            let empty = "HTTP/1.1 204 No Content\r\n\r\n"
            let gate = RawServer.Gate()
            // After the first 16 MiB, the system's buffers have room for more than one megabyte.
            let megabyte = RawServer.Step.send([UInt8](repeating: 0, count: 1 << 20))
            let start = [.respond(empty), flood.steps[0]] + Array(repeating: megabyte, count: 17) + [.mark("full")]
            try await withRawServer(start + flood.steps[1...]) { server in
                try await withRawServer([.receiveHead, .hold(gate), .send(empty)]) { other in
                    _ = try await transport.send(Exchange(server.url))
                    let blocker = Blocker()
                    defer { blocker.open() }
                    let notes = ChunkRecorder(blocker)
                    var small = Exchange(other.url)
                    small.observer = notes
                    let responses = (0..<3).map { [small] _ in Task { try await transport.send(small) } }
                    for connection in 0..<3 { try await other.head(connection: connection) }
                    var large = Exchange(
                        server.url, delivery: isCollected ? .collect() : .file(descriptor: null))
                    large.observer = blocker
                    let task = Task { [large] in try await transport.send(large) }
                    await blocker.isBlocking.value
                    let count = blocker.bytes
                    try await server.reached("full")
                    gate.open()
                    try await waitWhile { readableSocketCount(connectedTo: other.port) < 3 }
                    blocker.open()
                    for response in responses { #expect(try await response.value.head.status == 204) }
                    // Each iteration can exceed its limit by one small read.
                    let limit: Int64 = 3 * (256 + 64) * 1024
                    #expect(notes.counts.withLock { $0.map { $0 - count } }.allSatisfy { $0 <= limit })
                    #expect(server.connectionCount == 1 && other.connectionCount == 3)
                    task.cancel()
                    let error = try await transportError { try await task.value }
                    #expect(error.code == .cancelled)
                }
            }
        }

        @Test(arguments: Flood.allCases)
        func aFloodTimesOut(flood: Flood) async throws {
            try await withFlood(flood) { _, exchange, _ in
                let exchange = exchange.with { $0.totalTimeout = 1 }
                let error = try await transportError { try await transport.send(exchange) }
                #expect(error.code == .timedOut)
            }
        }

        @Test func aDeferredBodyIsComplete() async throws {
            let body = PatternBytes.bytes(200_000)
            let chunks =
                body.reduce(into: Data()) { $0 += [0x31, 0x0D, 0x0A, $1, 0x0D, 0x0A] } + Data("0\r\n\r\n".utf8)
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            try await withRawServer([.loop([.respond(head), .send(chunks)])]) { server in
                let file = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
                try Data().write(to: file)
                let handle = try FileHandle(forUpdating: file)
                defer { try? FileManager.default.removeItem(at: file) }
                let exchange = Exchange(server.url, delivery: .file(descriptor: handle.fileDescriptor))
                async let collected = transport.send(Exchange(server.url)).data
                async let streamed = collect(transport.send(Exchange(server.url, delivery: .stream())).stream)
                _ = try await transport.send(exchange)
                #expect(try Data(contentsOf: file) == body)
                #expect(try await collected == body)
                #expect(try await streamed == body)
            }
        }

        /// The response to the upload arrives in two pieces, the head and the body.
        @Test func aRejectedUploadIsReleased() async throws {
            /// Signals when the transport has released the observer.
            final class Owner: ExchangeObserver {
                let isGone: Deferred<Void>
                init(_ isGone: Deferred<Void>) { self.isGone = isGone }
                deinit { isGone.fulfill(()) }
            }
            let isGone = Deferred<Void>()
            let answer = "HTTP/1.1 500 E\r\nContent-Length: 4\r\n\r\n"
            let file = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
            try Data(count: 100).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let gate = RawServer.Gate()
            try await withRawServer([.respond(answer), .hold(gate), .send("body")]) { server in
                do {
                    var exchange = Exchange(server.url, .post, body: .file(file), delivery: .stream())
                    exchange.observer = Owner(isGone)
                    let stream = try await transport.send(exchange).stream
                    gate.open()
                    #expect(try await collect(stream) == Data("body".utf8))
                }
                // The release must not depend on a further event.
                await isGone.value
            }
        }
    }
}

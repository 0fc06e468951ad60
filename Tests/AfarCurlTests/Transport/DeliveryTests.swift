import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct DeliveryTests {
        private let transport = makeTransport()

        @Test(arguments: [0, 1, 16_384, 5_000_000])
        func bodiesAreCollected(_ count: Int) async throws {
            try await withServer { server in
                for path in ["/large/\(count)", "/drip?seconds=0.01&bytes=\(count)"] {
                    let response = try await transport.send(Exchange(server.url(path)))
                    #expect(try response.data == PatternBytes.bytes(count))
                }
            }
        }

        /// Bytes after a large body aren't part of any response, regardless of the kind of delivery.
        @Test(arguments: [false, true])
        func bytesAfterALargeBodyAreNotPartOfIt(_ isStreamed: Bool) async throws {
            let body = String(repeating: "0123456789abcdef", count: 40_000)
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            let server = try await RawServer.start([.respond(head + body + "surplus"), .waitForever])
            let delivery: ResponseDelivery = isStreamed ? .stream(highWaterMark: 256 * 1024) : .collect(limit: nil)
            let response = try await transport.send(Exchange(server.url, delivery: delivery))
            var received = Data()
            switch response.body {
            case .data(let data): received = data
            case .stream(let stream): for try await chunk in stream { received += chunk }
            default: throw WrongKind()
            }
            #expect(received == Data(body.utf8))
        }

        @Test func theLimitIsExact() async throws {
            try await withServer { server in
                let exact = Exchange(server.url("/large/1000"), delivery: .collect(limit: 1000))
                #expect(try await transport.send(exact).data.count == 1000)
                for path in ["/large/1001", "/drip?seconds=0.01&bytes=1001"] {
                    let over = Exchange(server.url(path), delivery: .collect(limit: 1000))
                    let error = try await transportError { try await transport.send(over) }
                    #expect(error.code == .responseTooLarge)
                    #expect(error.phase == .receiving)
                }
                let none = Exchange(server.url("/empty"), delivery: .collect(limit: 0))
                #expect(try await transport.send(none).data.isEmpty)
            }
        }

        private func withDescriptor(_ body: (Int32, URL) async throws -> Void) async throws {
            let url = FileManager.default.temporaryDirectory.appending(path: "download-\(UUID().uuidString)")
            let descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            try #require(descriptor >= 0)
            defer {
                close(descriptor)
                try? FileManager.default.removeItem(at: url)
            }
            try await body(descriptor, url)
        }

        @Test func aFileReceivesTheBodyAtItsPosition() async throws {
            try await withServer { server in
                try await withDescriptor { descriptor, url in
                    _ = write(descriptor, "start", 5)
                    let exchange = Exchange(server.url("/large/5000000"), delivery: .file(descriptor: descriptor))
                    let response = try await transport.send(exchange)
                    guard case .file(let byteCount) = response.body else { throw WrongKind() }
                    #expect(byteCount == 5_000_000)
                    #expect(try Data(contentsOf: url) == Data("start".utf8) + PatternBytes.bytes(5_000_000))
                }
            }
        }

        @Test func aFileHasItsLimit() async throws {
            try await withServer { server in
                try await withDescriptor { descriptor, url in
                    let delivery = ResponseDelivery.file(descriptor: descriptor, limit: 100_000)
                    let error = try await transportError {
                        try await transport.send(Exchange(server.url("/large/5000000"), delivery: delivery))
                    }
                    #expect(error.code == .responseTooLarge)
                    #expect(try Data(contentsOf: url).count <= 100_000)
                }
            }
        }

        @Test func aFullDiskFails() async throws {
            try await withServer { server in
                let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
                defer { close(full) }
                let exchange = Exchange(server.url("/large/100000"), delivery: .file(descriptor: full))
                let error = try await transportError { try await transport.send(exchange) }
                #expect(error.code == .deliveryFailed)
                #expect(error.systemError == ENOSPC)
                #expect(try await transport.send(Exchange(server.url("/get"))).head.status == 200)
            }
        }

        @Test func anInvalidDescriptorFails() async throws {
            try await withServer { server in
                let exchange = Exchange(server.url("/large/100000"), delivery: .file(descriptor: 1_000_000))
                let error = try await transportError { try await transport.send(exchange) }
                #expect(error.code == .deliveryFailed)
                #expect(error.systemError == EBADF)
            }
        }

        /// The process must not receive SIGPIPE when it writes to a pipe whose reader has closed it.
        @Test func aPipeWithoutAReaderFails() async throws {
            try await withServer { server in
                var ends: [Int32] = [0, 0]
                let answer = pipe(&ends)
                try #require(answer == 0)
                close(ends[0])
                defer { close(ends[1]) }
                let exchange = Exchange(server.url("/large/100000"), delivery: .file(descriptor: ends[1]))
                let error = try await transportError { try await transport.send(exchange) }
                #expect(error.systemError == EPIPE)
            }
        }

        private final class HeadRecorder: Sendable {
            let statuses = Locked<[Int]>([])
        }

        @Test func theHookReceivesTheFinalHead() async throws {
            try await withRawServer([.respond("HTTP/1.1 103 H\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno")])
            {
                server in
                let seen = HeadRecorder()
                var exchange = Exchange(server.url)
                exchange.decide = { head in
                    seen.statuses.withLock { $0.append(head.status) }
                    return .take()
                }
                let response = try await transport.send(exchange)
                #expect(try response.text == "no")
                #expect(seen.statuses.withLock { $0 } == [404])
            }
        }

        @Test(arguments: [ResponseDelivery.collect(), .stream()])
        func aHookThatThrowsEndsTheExchange(_ delivery: ResponseDelivery) async throws {
            try await withRawServer([.respond("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")]) { server in
                var exchange = Exchange(server.url, delivery: delivery)
                exchange.decide = { _ in .refuse(Intended()) }
                let refused = exchange
                let error = try await transportError { try await transport.send(refused) }
                #expect(error.underlying is Intended)
                try await server.peerClosed(0)
            }
        }
    }
}

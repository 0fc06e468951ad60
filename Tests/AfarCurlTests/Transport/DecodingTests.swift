import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct DecodingTests {
        private let transport = makeTransport()

        @Test(arguments: ["gzip", "deflate"])
        func codingsAreDecoded(_ coding: String) async throws {
            #expect(transport.capabilities.contentCodings.contains(coding))
            try await withServer { server in
                let exchange = Exchange(server.url("/" + coding), fields: [("Accept-Encoding", coding)])
                let response = try await transport.send(exchange)
                #expect(try response.json["encoding"] as? String == coding)
                #expect(try response.echoed("Accept-Encoding") == [coding])
                let raw = try await transport.send(exchange.with { $0.decodesContent = false })
                #expect(try response.data != raw.data)
                #expect(Int64(try raw.data.count) == raw.head.contentLength)
            }
        }

        private static func answer(_ coding: String, _ body: Data) -> [RawServer.Step] {
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n"
            return [.respond(head), .send(body)]
        }

        @Test(arguments: ["utf-8", "aws-chunked", "binary", "text", "zipzap", "gzip, zipzap"])
        func aBodyInAnUnknownCodingIsDeliveredUnchanged(_ coding: String) async throws {
            try await withRawServer([.loop(Self.answer(coding, Data("abc".utf8)))]) { server in
                for decodesContent in [true, false] {
                    let exchange = Exchange(server.url).with { $0.decodesContent = decodesContent }
                    let response = try await transport.send(exchange)
                    #expect(try response.text == "abc")
                    #expect(response.head.value(for: .contentEncoding) == coding)
                }
            }
        }

        /// "hello" twice.
        private static let hello = Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==") ?? Data()

        enum Delivery: CaseIterable { case collect, file, stream }

        /// Performs an exchange with one of three kinds of delivery and returns the body.
        private func body(_ exchange: Exchange, _ delivery: Delivery) async throws -> Data {
            var exchange = exchange
            switch delivery {
            case .collect: return try await transport.send(exchange).data
            case .stream:
                exchange.delivery = .stream()
                return try await collect(transport.send(exchange).stream)
            case .file:
                let file = FileManager.default.temporaryDirectory.appending(path: "decoded-\(UUID().uuidString)")
                let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                defer {
                    close(descriptor)
                    unlink(file.path)
                }
                exchange.delivery = .file(descriptor: descriptor)
                _ = try await transport.send(exchange)
                return try Data(contentsOf: file)
            }
        }

        @Test(arguments: Delivery.allCases) func severalMembersOfGzipAreDecoded(delivery: Delivery) async throws {
            for padding in [0, 1_000] {
                let body = Self.hello + Self.hello + Data(count: padding)
                try await withRawServer(Self.answer("gzip", body)) { server in
                    let decoded = try await self.body(Exchange(server.url), delivery)
                    #expect(decoded == Data("hellohello".utf8))
                }
                let chunks = body.reduce(into: Data()) { $0 += [0x31, 0x0D, 0x0A, $1, 0x0D, 0x0A] }
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                try await withRawServer([.respond(head), .send(chunks + Data("0\r\n\r\n".utf8))]) { server in
                    let decoded = try await self.body(Exchange(server.url), delivery)
                    #expect(decoded == Data("hellohello".utf8))
                }
            }
        }

        @Test(arguments: Delivery.allCases) func aTruncatedBodyFails(delivery: Delivery) async throws {
            for count in [1, 12, Self.hello.count - 1] {
                try await withRawServer(Self.answer("gzip", Self.hello.prefix(count))) { server in
                    let error = try await transportError { try await body(Exchange(server.url), delivery) }
                    #expect(error.code == .undecodableContent)
                    #expect(error.phase == .receiving)
                    #expect(error.message.contains("gzip"))
                }
            }
        }

        @Test(arguments: Delivery.allCases) func bytesAfterTheEndFail(delivery: Delivery) async throws {
            try await withRawServer(Self.answer("gzip", Self.hello + Data("excess".utf8))) { server in
                let error = try await transportError { try await body(Exchange(server.url), delivery) }
                #expect(error.code == .undecodableContent)
            }
        }

        /// Part of a compressed body can't be decoded separately (RFC 9110, section 14.4).
        @Test func aPartialBodyIsDeliveredUnchanged() async throws {
            let part = Self.hello.dropFirst(5).prefix(7)
            let fields = "Content-Encoding: gzip\r\nContent-Range: bytes 5-11/25\r\nContent-Length: 7\r\n"
            try await withRawServer([.respond("HTTP/1.1 206 Part\r\n\(fields)\r\n"), .send(Data(part))]) { server in
                let exchange = Exchange(server.url, fields: [("Range", "bytes=5-11")])
                let data = try await transport.send(exchange).data
                #expect(data == Data(part))
            }
        }

        @Test func responsesWithoutABodyAreComplete() async throws {
            let head = "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"
            try await withRawServer([.respond("HTTP/1.1 200 OK\r\n" + head)]) { server in
                let data = try await transport.send(Exchange(server.url)).data
                #expect(data.isEmpty)
            }
            for (method, status) in [(HTTPRequest.Method.head, "200"), (.get, "204"), (.get, "304")] {
                try await withRawServer([.respond("HTTP/1.1 \(status) X\r\nContent-Encoding: br\r\n\r\n")]) { server in
                    let data = try await transport.send(Exchange(server.url, method)).data
                    #expect(data.isEmpty)
                }
            }
        }

        @Test func theLimitOfDecodedBytesIsExact() async throws {
            let body = ZstandardZeros.data(blocks: 4)
            for (limit, fails) in [(Int64(4 * 128 * 1024), false), (4 * 128 * 1024 - 1, true)] {
                try await withRawServer(Self.answer("zstd", body)) { server in
                    let exchange = Exchange(server.url, delivery: .collect(limit: limit))
                    guard fails else {
                        let data = try await transport.send(exchange).data
                        #expect(data.count == limit)
                        return
                    }
                    let error = try await transportError { try await transport.send(exchange) }
                    #expect(error.code == .responseTooLarge)
                    #expect(error.report.transactions.first?.countOfResponseBodyBytesAfterDecoding ?? .max <= limit)
                }
            }
        }

        /// Data that libcurl delivers again after a pause is not decoded twice.
        @Test(arguments: ["collect", "file", "stream"]) func aSuspendedBodyIsComplete(delivery: String) async throws {
            let bomb = DeflatedZeros.data(runs: 100_000)
            try await withRawServer(Self.answer("deflate", bomb)) { server in
                let file = FileManager.default.temporaryDirectory.appending(path: "decoded-\(UUID().uuidString)")
                let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                defer {
                    close(descriptor)
                    unlink(file.path)
                }
                final class Pauser: ExchangeObserver {
                    let control: ExchangeControl
                    init(_ control: ExchangeControl) { self.control = control }
                    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
                        control.suspend()
                        DispatchQueue.global().async { [control] in control.resume() }
                    }
                }
                var exchange = Exchange(server.url, delivery: .collect(limit: nil))
                if delivery == "file" { exchange.delivery = .file(descriptor: descriptor) }
                if delivery == "stream" { exchange.delivery = .stream(highWaterMark: 100_000) }
                let pauser = Pauser(exchange.control)
                exchange.observer = pauser
                let response = try await transport.send(exchange)
                let size =
                    switch response.body {
                    case .data(let data): data.count
                    case .file(let count): Int(count)
                    case .stream(let stream): try await collect(stream).count
                    case .connection: 0
                    }
                #expect(size == 1 + 100_000 * 258)
            }
        }

        @Test(arguments: ["gzip", "deflate", "br", "zstd"])
        func aBrokenCodingFails(_ coding: String) async throws {
            let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 9\r\n\r\nnot coded"
            try await withRawServer([.loop([.respond(answer)])]) { server in
                let error = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect(error.code == .undecodableContent)
                #expect(error.phase == .receiving)
            }
        }

        @Test func moreThanFiveCodingsFail() async throws {
            let codings = Array(repeating: "gzip", count: 30).joined(separator: ", ")
            let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: \(codings)\r\nContent-Length: 3\r\n\r\nabc"
            try await withRawServer([.loop([.respond(answer)])]) { server in
                let error = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect(error.code == .undecodableContent)
            }
        }

        @Test func aBombStopsAtTheLimit() async throws {
            try await withServer { server in
                let exchange = Exchange(server.url("/gzip-bomb"), delivery: .collect(limit: 1_000_000))
                let error = try await transportError { try await transport.send(exchange) }
                #expect(error.code == .responseTooLarge)
                #expect(error.report.transactions.first?.countOfResponseBodyBytesAfterDecoding ?? .max <= 1_000_000)
                let whole = try await transport.send(Exchange(server.url("/gzip-bomb?bytes=3000000")))
                #expect(try whole.data.count == 3_000_000)
            }
        }

        /// 103 MB in 100 kB.
        private static let bomb = DeflatedZeros.data(runs: 400_000)

        private static func answer(_ bomb: Data, isChunked: Bool) -> [RawServer.Step] {
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n"
            guard isChunked else {
                return [.receiveHead, .send(Data((head + "Content-Length: \(bomb.count)\r\n\r\n").utf8) + bomb)]
            }
            let start = head + "Transfer-Encoding: chunked\r\n\r\n" + String(bomb.count, radix: 16) + "\r\n"
            return [.receiveHead, .send(Data(start.utf8) + bomb + Data("\r\n0\r\n\r\n".utf8))]
        }

        @Test(arguments: [ResponseDelivery.collect(limit: nil), .file(descriptor: -1), .stream()], [false, true])
        func aBombStopsForEveryDelivery(delivery: ResponseDelivery, isChunked: Bool) async throws {
            let file = FileManager.default.temporaryDirectory.appending(path: "bomb-\(UUID().uuidString)")
            let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            defer {
                close(descriptor)
                unlink(file.path)
            }
            try await withRawServer(Self.answer(Self.bomb, isChunked: isChunked)) { server in
                var exchange = Exchange(server.url).with {
                    $0.decompressionLimit = DecompressionLimit(size: 1_000_000, ratio: 100)
                }
                exchange.delivery = if case .file = delivery { .file(descriptor: descriptor) } else { delivery }
                let error = try await transportError {
                    let response = try await transport.send(exchange)
                    if case .stream(let stream) = response.body { for try await _ in stream {} }
                }
                #expect(error.code == .responseTooLarge)
                #expect(error.message.contains("decompressionLimit"))
                // A hundred times the number of received bytes.
                let most: Int64 = 10_500_000
                #expect(error.report.transactions.first?.countOfResponseBodyBytesAfterDecoding ?? .max <= most)
            }
        }

        @Test(arguments: [false, true])
        func aDenseBodyIsNotABomb(isChunked: Bool) async throws {
            try await withRawServer([.loop(Self.answer(Self.bomb, isChunked: isChunked))]) { server in
                let limits: [DecompressionLimit?] = [
                    DecompressionLimit(size: 1_000_000, ratio: 1_050), DecompressionLimit(size: 200_000_000, ratio: 1),
                    nil,
                ]
                for limit in limits {
                    var exchange = Exchange(server.url).with { $0.decompressionLimit = limit }
                    exchange.delivery = .collect(limit: nil)
                    let body = try await transport.send(exchange).data
                    #expect(body.count == 1 + 400_000 * 258)
                }
            }
        }

        @Test func anUndecodedBodyIsNotABomb() async throws {
            try await withRawServer([.respond("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain")]) { server in
                let exchange = Exchange(server.url).with {
                    $0.decompressionLimit = DecompressionLimit(size: 0, ratio: 0)
                }
                let text = try await transport.send(exchange).text
                #expect(text == "plain")
            }
        }

        @Test func theDensestBombIsReadSlowly() async throws {
            let runs = 400_000
            let bomb = DeflatedZeros.data(runs: runs)
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(bomb.count)\r\n\r\n"
            try await withRawServer([.receiveHead, .send(Data(head.utf8) + bomb)]) { server in
                let response = try await transport.send(Exchange(server.url, delivery: .stream(highWaterMark: 1024)))
                var count = 0
                for try await chunk in try response.stream { count += chunk.count }
                #expect(count == 1 + runs * 258)
            }
        }
    }
}

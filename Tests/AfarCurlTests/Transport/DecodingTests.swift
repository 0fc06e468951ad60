import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct DecodingTests {
        private let transport = CurlTransport()

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

        @Test func anUnknownCodingFails() async throws {
            let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: zipzap\r\nContent-Length: 3\r\n\r\nabc"
            try await withRawServer([.loop([.respond(answer)])]) { server in
                let error = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect(error.code == .undecodableContent)
                let raw = try await transport.send(Exchange(server.url).with { $0.decodesContent = false })
                #expect(try raw.text == "abc")
            }
        }

        @Test(arguments: ["gzip", "deflate", "br"])
        func aBrokenCodingFails(_ coding: String) async throws {
            let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 9\r\n\r\nnot coded"
            try await withRawServer([.loop([.respond(answer)])]) { server in
                let error = try await transportError { try await transport.send(Exchange(server.url)) }
                #expect(error.code == .undecodableContent)
                #expect(error.phase == .receiving)
            }
        }

        @Test func moreCodingsThanFiveFail() async throws {
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
        func aBombStopsWhereverItGoes(delivery: ResponseDelivery, isChunked: Bool) async throws {
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
                // What is in the middle of being counted is let through.
                let most: Int64 = isChunked ? 70_000_000 : 11_000_000
                #expect(error.report.transactions.first?.countOfResponseBodyBytesAfterDecoding ?? .max <= most)
            }
        }

        @Test(arguments: [false, true])
        func aDenseBodyIsNoBomb(isChunked: Bool) async throws {
            try await withRawServer([.loop(Self.answer(Self.bomb, isChunked: isChunked))]) { server in
                let limits = [
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

        @Test func whatIsNotDecodedIsNoBomb() async throws {
            try await withRawServer([.respond("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain")]) { server in
                let exchange = Exchange(server.url).with {
                    $0.decompressionLimit = DecompressionLimit(size: 0, ratio: 0)
                }
                let text = try await transport.send(exchange).text
                #expect(text == "plain")
            }
        }

        /// libcurl keeps up to 64 MB of what it has decoded while the reader is slow, and fails beyond.
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

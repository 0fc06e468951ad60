import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import Testing

@testable import AfarCurl

extension TransportTests {
    /// Malformed and malicious responses. Each one promptly causes a typed error, and the transport remains usable.
    @Suite struct BadResponseTests {
        struct Case: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let code: TransportError.Code
            let phase: TransportError.Phase
            let steps: [RawServer.Step]

            init(
                _ name: String, _ code: TransportError.Code, _ phase: TransportError.Phase = .awaitingResponse,
                _ steps: RawServer.Step...
            ) {
                testDescription = name
                self.code = code
                self.phase = phase
                self.steps = [.receiveHead] + steps
            }
        }

        private static let ok = "HTTP/1.1 200 OK\r\n"
        private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
        private static func length(_ value: String) -> RawServer.Step {
            .send(ok + "Content-Length: \(value)\r\n\r\nabcde")
        }

        private static let heads = [
            Case("nothing", .connectionLost, .awaitingResponse, .close),
            Case("half a status line", .connectionLost, .awaitingResponse, .send("HTTP/1.1 2"), .close),
            Case("half a head", .malformedResponse, .awaitingResponse, .send(ok + "Content-Le"), .close),
            Case(
                "a head without its blank line", .malformedResponse, .awaitingResponse,
                .send(ok + "Content-Length: 5\r\n"),
                .close),
            Case(
                "status 1000", .malformedResponse, .awaitingResponse,
                .send("HTTP/1.1 1000 X\r\nContent-Length: 0\r\n\r\n")),
            Case(
                "status 0", .malformedResponse, .awaitingResponse, .send("HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n")),
            Case("no status", .malformedResponse, .awaitingResponse, .send("HTTP/1.1\r\nContent-Length: 0\r\n\r\n")),
            Case("HTTP/0.9", .malformedResponse, .awaitingResponse, .send("<html>hello</html>\r\n\r\n"), .close),
            Case(
                "another protocol", .malformedResponse, .awaitingResponse, .send("SSH-2.0-OpenSSH_9.2\r\n"),
                .waitForever),
            Case(
                "binary", .malformedResponse, .awaitingResponse,
                .send([0x16, 3, 1, 0, 0, 0, 0xFF, 0x0A, 0x0D, 0x0A, 0]), .close),
            Case(
                "101", .malformedResponse, .awaitingResponse, .send("HTTP/1.1 101 X\r\nUpgrade: x\r\n\r\n"),
                .waitForever),
            Case(
                "endless 1xx", .malformedResponse, .awaitingResponse,
                .repeat("HTTP/1.1 102 X\r\n\r\n", every: 0, times: 9_999)),
            Case("1xx and no more", .connectionLost, .awaitingResponse, .send("HTTP/1.1 102 X\r\n\r\n"), .close),
            Case(
                "300 kB in lines", .headTooLarge, .awaitingResponse, .send(ok),
                .repeat(line(1_000), every: 0, times: 300)),
            Case(
                "300 kB in one line", .headTooLarge, .awaitingResponse, .send(ok + "A: "),
                .repeat(line(1_000, ""), every: 0, times: 300)),
            Case(
                "300 kB of status", .headTooLarge, .awaitingResponse, .send("HTTP/1.1 200 "),
                .repeat(line(1_000, ""), every: 0, times: 300)),
            Case(
                "5,000 fields", .headTooLarge, .awaitingResponse, .send(ok), .repeat("a: b\r\n", every: 0, times: 5_000)
            ),
            // More and shorter lines would take too long: libcurl copies the whole value for each line, unless it can
            // enlarge the memory in place.
            Case(
                "endless folds", .headTooLarge, .awaitingResponse, .send(ok + "A: b\r\n"),
                .repeat(" \(String(repeating: "c", count: 97))\r\n", every: 0, times: 9_999)),
        ]

        private static func line(_ count: Int, _ end: String = "\r\n") -> String {
            (end.isEmpty ? "" : "A: ") + String(repeating: "x", count: count) + end
        }

        private static let lengths = [
            Case("an overflowing length", .malformedResponse, .awaitingResponse, length("99999999999999999999999")),
            Case("a length of Int64 and one", .malformedResponse, .awaitingResponse, length("9223372036854775808")),
            Case("a negative length", .malformedResponse, .awaitingResponse, length("-5")),
            Case("a signed length", .malformedResponse, .awaitingResponse, length("+5")),
            Case("a hexadecimal length", .malformedResponse, .awaitingResponse, length("0x5")),
            Case("a length in words", .malformedResponse, .awaitingResponse, length("five")),
            Case("no length", .malformedResponse, .awaitingResponse, length("")),
            Case("two lengths in a line", .malformedResponse, .awaitingResponse, length("5, 6")),
            Case("two lengths", .malformedResponse, .awaitingResponse, length("5\r\nContent-Length: 6")),
            Case("a folded length", .malformedResponse, .awaitingResponse, length("\r\n 5")),
        ]

        private static let bodies = [
            Case("half a body", .bodyIncomplete, .receiving, length("9"), .close),
            Case("half a body and a reset", .connectionLost, .receiving, length("9"), .wait(0.05), .reset),
            Case("a huge length", .bodyIncomplete, .receiving, length("9223372036854775807"), .close),
            Case("an invalid chunk size", .malformedResponse, .receiving, .send(chunked + "zz\r\nabc")),
            Case("no chunk size", .malformedResponse, .receiving, .send(chunked + "\r\nabc")),
            Case(
                "an overflowing chunk size", .malformedResponse, .receiving,
                .send(chunked + "FFFFFFFFFFFFFFFFFF\r\nabc")),
            Case("a negative chunk size", .malformedResponse, .receiving, .send(chunked + "-5\r\nabcde\r\n0\r\n\r\n")),
            Case("a chunk that is longer", .malformedResponse, .receiving, .send(chunked + "3\r\nabcde\r\n0\r\n\r\n")),
            Case("half a chunk", .bodyIncomplete, .receiving, .send(chunked + "5\r\nabc"), .close),
            Case("no last chunk", .bodyIncomplete, .receiving, .send(chunked + "3\r\nabc\r\n"), .close),
            Case("half a trailer", .bodyIncomplete, .receiving, .send(chunked + "0\r\nA: b\r\n"), .close),
            Case(
                "endless trailers", .headTooLarge, .receiving, .send(chunked + "0\r\n"),
                .repeat(line(1_000), every: 0, times: 2_000)),
        ]

        @Test(arguments: heads + lengths + bodies)
        func isATypedError(_ given: Case) async throws {
            try await withRawServer(given.steps, [.respond(Self.ok + "Content-Length: 4\r\n\r\ngood")]) { server in
                let transport = makeTransport()
                let exchange = Exchange(server.url).with { $0.idleTimeout = 5 }
                var error: TransportError?
                let time = try await seconds { error = try await transportError { try await transport.send(exchange) } }
                #expect(error?.code == given.code, "\(String(describing: error))")
                #expect(error?.phase == given.phase, "\(String(describing: error))")
                #expect(error?.url == server.url.absoluteString)
                #expect(error?.peer == "127.0.0.1:\(server.port)")
                #expect(time < 4)
                #expect(try await transport.text(of: exchange) == "good")
            }
        }

        private static let hint = "HTTP/1.1 103 Hints\r\n\r\n"

        @Test(arguments: ["", hint], [200, 201])
        func theMaximumHeadSizeIncludesInformationalHeads(_ hint: String, _ size: Int) async throws {
            let (start, end) = (hint + Self.ok + "A: ", "\r\nContent-Length: 4\r\n\r\n")
            let value = String(repeating: "x", count: size - (start + end).utf8.count)
            try await withRawServer([.respond(start + value + end + "good")]) { server in
                let transport = makeTransport()
                let exchange = Exchange(server.url).with { $0.maximumResponseHeadSize = 200 }
                if size <= 200 {
                    #expect(try await transport.text(of: exchange) == "good")
                } else {
                    let error = try await transportError { try await transport.send(exchange) }
                    #expect(error.code == .headTooLarge, "\(error)")
                }
            }
        }

        @Test(arguments: [0, 1], [true, false])
        func theMaximumNumberOfInformationalResponsesIsConfigurable(_ maximum: Int, _ isWithin: Bool) async throws {
            let hints = String(repeating: Self.hint, count: isWithin ? maximum : maximum + 1)
            try await withRawServer([.respond(hints + Self.ok + "Content-Length: 4\r\n\r\ngood")]) { server in
                let transport = makeTransport()
                let exchange = Exchange(server.url).with { $0.maximumInformationalResponses = maximum }
                if isWithin {
                    #expect(try await transport.text(of: exchange) == "good")
                } else {
                    let error = try await transportError { try await transport.send(exchange) }
                    #expect(error.code == .malformedResponse, "\(error)")
                    #expect(error.message.contains("more than \(maximum) informational"), "\(error)")
                }
            }
        }

        @Test(arguments: lengths + bodies)
        func isTheStreamsError(_ given: Case) async throws {
            try await withRawServer(given.steps) { server in
                let transport = makeTransport()
                let exchange = Exchange(server.url, delivery: .stream()).with { $0.idleTimeout = 5 }
                let error = try await transportError { try await collect(transport.send(exchange).stream) }
                #expect(error.code == given.code, "\(error)")
            }
        }

        /// If a body is longer than its Content-Length, the surplus bytes are dropped, and the connection is closed.
        @Test func aLongBodyEndsAtItsContentLength() async throws {
            try await withRawServer(
                [.respond(Self.ok + "Content-Length: 4\r\n\r\nabcdefgh")], [.respond(Self.ok + "\r\n"), .close]
            ) { server in
                let transport = makeTransport()
                #expect(try await transport.text(of: Exchange(server.url)) == "abcd")
                let second = try await transport.send(Exchange(server.url))
                #expect(second.report.transactions.first?.isReusedConnection == false)
                #expect(server.connectionCount == 2)
            }
        }

        @Test func nonTextBytesInTheHeadAreAccepted() async throws {
            let head =
                Array((Self.ok + "A: ").utf8) + [0x80, 0xFF, 0xC3, 0x28, 0x01]
                + Array("\r\nContent-Length: 2\r\n\r\nok".utf8)
            try await withRawServer([.receiveHead, .send(head)]) { server in
                let response = try await makeTransport().send(Exchange(server.url))
                #expect(try response.text == "ok")
                #expect(response.head.fields.count == 2)
            }
        }

        @Test func aTransferCodingOverridesTheLength() async throws {
            let head = Self.ok + "Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n"
            try await withRawServer([.respond(head + "3\r\nabc\r\n0\r\n\r\n")]) { server in
                let text = try await makeTransport().text(of: Exchange(server.url))
                #expect(text == "abc")
            }
        }
    }
}

import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestServers
import Testing

@testable import AfarCurl

extension TransportTests {
    /// Responses whose first header line begins with white space. libcurl 7.83 to 8.0 appends such a line to the last
    /// field of the previous response. If the previous response belonged to an earlier transfer with the same handle,
    /// the field's memory has already been freed.
    @Suite struct FoldedHeadTests {
        private let transport = makeTransport()

        private static let ok =
            "HTTP/1.1 200 OK\r\nX-Long: \(String(repeating: "a", count: 200))\r\nContent-Length: 2\r\n\r\nok"

        private static func folded(_ line: String = " x: y") -> String {
            "HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 2\r\n\r\nhi"
        }

        private func expectRefusal(of exchange: Exchange) async throws {
            let error = try await transportError { try await transport.send(exchange) }
            #expect(error.code == .malformedResponse, "\(error)")
        }

        private func expectGood(_ url: URL) async throws {
            #expect(try await transport.text(of: Exchange(url)) == "ok")
        }

        @Test(arguments: [" x: y", "\tx: y", " ", "  \(String(repeating: "b", count: 5_000))"], [false, true])
        func aResponseAfterAnother(_ line: String, isToAnotherHost: Bool) async throws {
            let folded = RawServer.Step.respond(Self.folded(line))
            try await withRawServer([.loop([.respond(Self.ok)] + (isToAnotherHost ? [] : [folded]))]) { server in
                try await withRawServer([.loop([folded])]) { other in
                    for _ in 0..<20 {
                        try await expectGood(server.url)
                        try await expectRefusal(of: Exchange(isToAnotherHost ? other.url : server.url))
                    }
                }
            }
        }

        /// A connection that has received unsolicited data is replaced during a transfer.
        @Test func aResponseOnAReplacedConnection() async throws {
            let gate = RawServer.Gate()
            let script: [RawServer.Step] = [.respond(Self.ok), .hold(gate), .send("early"), .mark("sent")]
            try await withRawServer(script, [.respond(Self.folded())]) { server in
                try await expectGood(server.url)
                gate.open()
                try await server.reached("sent")
                try await expectRefusal(of: Exchange(server.url))
                #expect(server.connectionCount == 2)
            }
        }

        /// libcurl resends a request if a reused connection has been closed.
        @Test func aResponseToAResentRequest() async throws {
            try await withRawServer([.respond(Self.ok), .receiveHead, .close], [.respond(Self.folded())]) { server in
                try await expectGood(server.url)
                try await expectRefusal(of: Exchange(server.url))
                #expect(server.requests.count == 3)
            }
        }

        @Test(arguments: ["HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n"])
        func aResponseAfterAnInformationalOne(_ hints: String) async throws {
            try await withRawServer([.loop([.respond(hints + Self.folded())])]) { server in
                for _ in 0..<20 { try await expectRefusal(of: Exchange(server.url)) }
            }
        }

        @Test func aResponseAfterAskingForTheBody() async throws {
            let informational = "HTTP/1.1 100 Continue\r\nA: b\r\n\r\n"
            let script: [RawServer.Step] = [.respond(informational), .receive(100), .send(Self.folded())]
            try await withRawServer(script) { server in
                try await expectRefusal(
                    of: Exchange(
                        server.url, .post, fields: [("Expect", "100-continue")], body: .data(Data(count: 100))))
            }
        }

        @Test(
            .onlyOverCurl(
                "HTTPTransport sends the request again over another connection: the body that it announced is missing"))
        func aResponseAfterARejectedExpectation() async throws {
            let refusal = "HTTP/1.1 417 No\r\nContent-Length: 7\r\nA: b\r\n\r\nrefused"
            let script: [RawServer.Step] = [.respond(refusal), .respond(Self.folded())]
            try await withRawServer(script) { server in
                try await expectRefusal(
                    of: Exchange(
                        server.url, .post, fields: [("Expect", "100-continue")], body: .data(Data(count: 100))))
                #expect(server.requests.count == 2)
            }
        }

        @Test(.enabled(if: CurlLibrary.shared.authenticatesConnections), .onlyOverCurl("NTLM"))
        func aResponseToTheMessagesOfNTLM() async throws {
            var message = Array("NTLMSSP\0".utf8) + [2, 0, 0, 0, 0, 0, 0, 0, 48, 0, 0, 0, 1, 0x82, 0x88, 0]
            message += [1, 2, 3, 4, 5, 6, 7, 8] + Array(repeating: 0, count: 16)
            let question = "NTLM " + Data(message).base64EncodedString()
            let refusal = "HTTP/1.1 401 No\r\nWWW-Authenticate: \(question)\r\nContent-Length: 2\r\nA: b\r\n\r\nno"
            try await withRawServer([.respond(refusal), .respond(Self.folded())]) { server in
                var exchange = Exchange(server.url)
                exchange.options.connectionAuthentication = ConnectionAuthentication(
                    .ntlm, user: "a", password: "b", origin: Origin(exchange.request))
                try await expectRefusal(of: exchange)
                #expect(server.requests.count == 2)
            }
        }

        @Test(arguments: ["", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"])
        func aProxysResponse(_ answer: String) async throws {
            try await withRawServer([.loop([.respond(Self.ok)])]) { server in
                try await withRawServer([.respond(answer + Self.folded()), .close]) { proxy in
                    try await expectGood(server.url)
                    let url = try #require(URL(string: "https://localhost:\(server.port)/"))
                    let proxies = ProxySettings(try Proxy("http://127.0.0.1:\(proxy.port)"))
                    let exchange = Exchange(url).with { $0.network.proxies = proxies }
                    _ = try await transportError { try await transport.send(exchange) }
                    try await expectGood(server.url)
                }
            }
        }

        @Test func trailers() async throws {
            let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n x: y\r\n\r\n"
            try await withRawServer([.loop([.respond(Self.ok), .respond(chunked)])]) { server in
                for _ in 0..<20 {
                    try await expectGood(server.url)
                    try await expectRefusal(of: Exchange(server.url))
                }
            }
        }
    }
}

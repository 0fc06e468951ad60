import Foundation
import Testing

@testable import AfarTestServer

@Suite(.timeLimit(.minutes(1)))
struct HTTPConnectionTests {
    @Test func answersPipelinedRequestsInOrder() async throws {
        try await withServer { server in
            let text = try await Client.exchange(
                port: server.url.port,
                "GET /bytes/0 HTTP/1.1\r\n\r\nPOST /upload HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
                    + "GET /text HTTP/1.1\r\nConnection: close\r\n\r\n")
            #expect(text.components(separatedBy: "HTTP/1.1 200 OK\r\n").count == 4)
            #expect(text.contains(#""bytes":3"#))
            #expect(text.hasSuffix("\r\n\r\none line\nand another\n"))
            #expect(server.connectionCount == 1)
        }
    }

    @Test func closesAfterAnHTTP10Request() async throws {
        try await withServer { server in
            let text = try await Client.exchange(port: server.url.port, "GET /chunked/2 HTTP/1.0\r\n\r\n")
            #expect(text.contains("Connection: close\r\n"))
            #expect(!text.contains("Transfer-Encoding"))
            #expect(text.hasSuffix("\r\n\r\nchunk 0\nchunk 1\n"))
        }
    }

    @Test func readsChunkedBodiesWithExtensionsAndTrailers() async throws {
        try await withServer { server in
            let text = try await Client.exchange(
                port: server.url.port,
                "POST /anything HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                    + "3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n")
            #expect(text.contains(#""data":"abc0123456789""#))
        }
    }

    @Test(arguments: [
        ("nonsense\r\n\r\n", 400), ("GET / HTTP/2.0\r\n\r\n", 400), ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", 400),
        ("GET /" + String(repeating: "a", count: 300_000) + " HTTP/1.1\r\n\r\n", 431),
    ])
    func rejectsMalformedRequests(request: String, status: Int) async throws {
        try await withServer { server in
            let text = try await onThread {
                let client = try Client(port: server.url.port)
                try client.send(request)
                client.socket.finishWriting()
                return try client.readAll()
            }
            #expect(text.hasPrefix("HTTP/1.1 \(status) "))
            #expect(text.contains("Connection: close\r\n"))
            #expect(server.requestCount == 0)
        }
    }

    @Test func sends100ContinueForAnExpectation() async throws {
        try await withServer { server in
            let body = Data(repeating: 97, count: 3_000_000)
            let answer = try await Curl.get(
                server.url("/upload"), "--data-binary", "@-", "-H", "Expect: 100-continue",
                "--expect100-timeout", "50", input: body)
            #expect(try answer.json["bytes"] as? Int == body.count)
        }
    }

    @Test func sendsNoBodyWhereNoneIsAllowed() async throws {
        try await withServer { server in
            let text = try await Client.exchange(
                port: server.url.port,
                "HEAD /bytes/1000 HTTP/1.1\r\n\r\nGET /status/204 HTTP/1.1\r\n\r\nGET /status/304 HTTP/1.1\r\n\r\n"
                    + "HEAD /chunked/3 HTTP/1.1\r\nConnection: close\r\n\r\n")
            let heads = text.components(separatedBy: "\r\n\r\n")
            #expect(heads.count == 5 && heads[4].isEmpty)
            #expect(heads[0].contains("Content-Length: 1000"))
            #expect(heads[1].hasPrefix("HTTP/1.1 204 No Content") && !heads[1].contains("Content-Length"))
            #expect(heads[2].hasPrefix("HTTP/1.1 304 Not Modified"))
            #expect(heads[3].contains("Transfer-Encoding: chunked"))
        }
    }

    @Test func aBodyShorterThanPromisedEndsTheConnection() async throws {
        try await withServer { server in
            server.route("/short") { _ in ServerResponse(length: 10) { try $0.write("12345") } }
            let text = try await Client.exchange(port: server.url.port, "GET /short HTTP/1.1\r\n\r\n")
            #expect(text.contains("Content-Length: 10\r\n") && text.hasSuffix("\r\n\r\n12345"))
        }
    }

    @Test func acceptsTheAbsoluteTargetsOfProxyRequests() async throws {
        try await withServer { server in
            let answer = try await Curl.get(
                try #require(URL(string: "http://example.test/anything/a?b=c")), "-x", server.url.absoluteString)
            #expect(try answer.json["path"] as? String == "/anything/a")
            #expect(try answer.json["target"] as? String == "http://example.test/anything/a?b=c")
        }
    }

    @Test func keepsAConnectionForManyRequests() async throws {
        try await withServer { server in
            _ = try await Curl.run(["\(server.url.absoluteString)/bytes/[1-200]", "-o", "/dev/null"])
            #expect(server.requestCount == 200)
            #expect(server.connectionCount == 1)
        }
    }

    @Test func sendsASmallResponseInOnePiece() async throws {
        try await withServer { server in
            let text = try await onThread {
                let client = try Client(port: server.url.port)
                try client.send("GET /text HTTP/1.1\r\n\r\n")
                return try client.read()
            }
            // A separate packet for the head can cost 40 ms: Nagle's algorithm waits for a delayed acknowledgment.
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\none line\nand another\n"))
        }
    }
}

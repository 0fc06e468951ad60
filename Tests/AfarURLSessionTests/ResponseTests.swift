import AfarCore
import AfarURLSession
import Foundation
import HTTPTypes
import Testing

@Suite struct ResponseTests {
    let transport = URLSessionTransport()

    @Test func statusFieldsAndBodyArrive() async throws {
        let server = try ScriptedServer(answer: "HTTP/1.1 201 Made\r\nX-A: 1\r\nContent-Length: 5\r\n\r\nhello")
        let response = try await transport.send(.get(server))
        #expect(response.head.status == 201)
        #expect(response.head.fields[HTTPField.Name("X-A")!] == "1")
        #expect(response.text == "hello")
        #expect(response.report.transactions.first?.countOfResponseBodyBytesAfterDecoding == 5)
    }

    @Test(arguments: [300, 301, 302, 303, 304, 305, 307, 308])
    func redirectsAreReturnedUnchanged(status: Int) async throws {
        let body = status == 304 ? "" : "moved"
        let server = try ScriptedServer(
            answer: "HTTP/1.1 \(status) R\r\nLocation: /next\r\nContent-Length: \(body.count)\r\n\r\n\(body)")
        let response = try await transport.send(.get(server))
        #expect(response.head.status == status)
        #expect(response.head.fields[.location] == "/next")
        #expect(response.text == body)
    }

    @Test func redirectWithoutLocationIsReturned() async throws {
        let server = try ScriptedServer(answer: "HTTP/1.1 302 R\r\nContent-Length: 0\r\n\r\n")
        #expect(try await transport.send(.get(server)).head.status == 302)
    }

    @Test(arguments: [
        "Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"b\"", "NTLM", "Negotiate", "Unheard x=y", "Basic realm=", "",
        ",,,", "=\"", "Basic realm=\"open",
    ])
    func challengesAreReturnedAs401(challenge: String) async throws {
        let server = try ScriptedServer(
            answer: "HTTP/1.1 401 No\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 2\r\n\r\nno")
        let response = try await transport.send(.get(server))
        #expect(response.head.status == 401)
        #expect(response.text == "no")
        #expect(response.head.value(for: .wwwAuthenticate) == challenge)
    }

    @Test func gzipIsDecoded() async throws {
        let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJVyjPL8pJAQCFEUoNCwAAAA=="))
        let server = try ScriptedServer { connection in
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(gzip.count)\r\n\r\n")
                connection.send(Array(gzip))
            }
        }
        #expect(try await transport.send(.get(server)).text == "hello world")
    }

    @Test func aBombStopsWhereItsLengthIsKnown() async throws {
        // 100,000 zeros in 132 bytes.
        let text = "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0Po" + String(repeating: "A", count: 128) + "IBXA32VEdSghgEA"
        let zeros = try #require(Data(base64Encoded: text))
        let server = try ScriptedServer { connection in
            while let request = connection.readRequest() {
                let isChunked = request.hasPrefix("GET /chunked")
                let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(zeros.count)"
                connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\(framing)\r\n\r\n")
                if isChunked { connection.send(String(zeros.count, radix: 16) + "\r\n") }
                connection.send(Array(zeros))
                if isChunked { connection.send("\r\n0\r\n\r\n") }
            }
        }
        let bomb = await failure {
            _ = try await transport.send(
                .get(server) { $0.options.decompressionLimit = DecompressionLimit(size: 10_000, ratio: 100) })
        }
        #expect(bomb?.code == .responseTooLarge)
        #expect(bomb?.message.contains("decompressionLimit") == true)
        for (path, limit) in [
            ("/", DecompressionLimit(size: 10_000, ratio: 1_000)), ("/", DecompressionLimit(size: 100_000, ratio: 1)),
            ("/", nil), ("/chunked", DecompressionLimit(size: 10_000, ratio: 1)),
        ] {
            let response = try await transport.send(
                .get(server) {
                    $0.request.path = path
                    $0.options.decompressionLimit = limit
                })
            #expect(response.text?.utf8.count == 100_000)
        }
    }

    @Test func anUnrequestedUpgradeIsAnError() async throws {
        let server = try ScriptedServer(
            answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nanything")
        let error = await failure { _ = try await transport.send(.get(server)) }
        #expect(error?.code == .malformedResponse)
        #expect(error?.message.contains("101") == true)
    }

    @Test func informationalResponsesAreReportedAndCounted() async throws {
        let hints = String(repeating: "HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n", count: 3)
        let server = try ScriptedServer(answer: hints + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let recorder = Recorder()
        let response = try await transport.send(.get(server) { $0.observer = recorder })
        #expect(response.text == "ok")
        #expect(recorder.events.withLock { $0 } == ["info 103", "info 103", "info 103", "head 200", "received 2/2"])
        let flooded = await failure {
            _ = try await transport.send(.get(server) { $0.options.maximumInformationalResponses = 2 })
        }
        #expect(flooded?.code == .headTooLarge)
    }

    @Test func setCookieLinesAreSeparated() async throws {
        let dated = "a=1; Expires=Wed, 09 Jun 2032 10:18:14 GMT; Path=/"
        let server = try ScriptedServer(
            answer: "HTTP/1.1 200 OK\r\nSet-Cookie: \(dated)\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n")
        let response = try await transport.send(.get(server))
        #expect(response.head.values(for: .setCookie) == [dated, "b=2"])
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nshort", TransportError.Code.bodyIncomplete),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", .bodyIncomplete),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc", .malformedResponse),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", .undecodableContent),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nabc", .malformedResponse),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc", .malformedResponse),
        ("hello\r\n\r\n", .malformedResponse),
        ("", .malformedResponse),
    ])
    func brokenAnswersAreTypedErrors(answer: String, code: TransportError.Code) async throws {
        let server = try ScriptedServer { connection in
            if connection.readRequest() != nil { connection.send(answer) }
        }
        #expect(await failure { _ = try await transport.send(.get(server)) }?.code == code)
    }

    @Test func headsBeyondTheLimitsAreRejected() async throws {
        let fields = (0..<20).map { "X-\($0): value\r\n" }.joined()
        let server = try ScriptedServer(answer: "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 0\r\n\r\n")
        let tooMany = await failure { _ = try await transport.send(.get(server) { $0.options.maximumFieldCount = 20 }) }
        #expect(tooMany?.code == .headTooLarge)
        let tooBig = await failure {
            _ = try await transport.send(.get(server) { $0.options.maximumResponseHeadSize = 100 })
        }
        #expect(tooBig?.code == .headTooLarge)
    }

    @Test func hookReceivesTheHeadAndCanRejectIt() async throws {
        struct Refused: Error {}
        let server = try ScriptedServer(answer: "HTTP/1.1 206 P\r\nContent-Length: 2\r\n\r\nok")
        let error = await failure {
            _ = try await transport.send(
                .get(server) { exchange in
                    exchange.decide = { $0.status == 206 ? .refuse(Refused()) : .take() }
                })
        }
        #expect(error?.underlying is Refused)
    }
}

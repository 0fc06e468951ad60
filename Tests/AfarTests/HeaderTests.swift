import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The headers that a server receives, over each real transport.
@Suite struct HeaderTests {
    @Test(arguments: TransportKind.allCases)
    func defaultHeadersAreSentOnce(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        _ = await session.request(server.url("/get")).serializingData().response
        let received = try #require(server.lastRequest(path: "/get")).headers
        #expect(received["User-Agent"] == HTTPHeader.defaultUserAgent.value)
        let languages = HTTPHeaders.default["Accept-Language"]
        // Foundation adds a default language.
        #expect(received["Accept-Language"] == languages || languages == nil && kind == .urlSession)
        let codings = kind.make(.default).capabilities.contentCodings
        #expect(received["Accept-Encoding"] == codings.joined(separator: ", "))
        for name in HTTPHeaders.default.map(\.name) + ["Host"] {
            #expect(received.fields.count { $0.name.lowercased() == name.lowercased() } == 1)
        }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aRequestsHeadersOverrideTheSessionsInAnyCase(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session { configuration in
            configuration.headers.add(name: "X-Both", value: "session")
            configuration.headers["X-Session"] = "session"
            configuration.headers.remove(name: "accept-LANGUAGE")
        }
        var headers: HTTPHeaders = [.userAgent("Own/1"), .authorization(username: "ü", password: "p:w")]
        headers.update(name: "x-both", value: "first")
        headers.add(name: "X-BOTH", value: "request")
        headers.add(.acceptEncoding("identity"))
        headers["X-Latin"] = "café 😀"
        _ = await session.request(server.url("/get"), headers: headers).serializingData().response
        let received = try #require(server.lastRequest(path: "/get")).headers
        #expect(received["x-both"] == "request")
        #expect(received["x-session"] == "session")
        #expect(received["user-agent"] == "Own/1")
        #expect(received["authorization"] == "Basic w7w6cDp3")
        #expect(received["accept-encoding"] == "identity")
        #expect(received["x-latin"] == "café 😀")
        // Foundation adds a default language.
        if kind == .platform { #expect(received["accept-language"] == nil) }
        await server.stop()
    }

    /// RFC 9110, section 5.5.
    @Test func nonUTF8BytesAreLatin1AndRoundTrip() async throws {
        let e: [UInt8] = [0xE9]
        let redirect =
            Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nSet-Cookie: name=andr".utf8) + e
            + Array("; Path=/\r\nLocation: /caf".utf8) + e + Array("\r\n\r\n".utf8)
        let answer =
            Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Disposition: attachment; filename=\"caf".utf8) + e
            + Array(".txt\"\r\n\r\n".utf8)
        let server = try await RawServer.start([
            .receiveHead, .send(redirect), .receiveHead, .send(answer), .waitForever,
        ])
        let session = TransportKind.platform.session()
        let response = await session.request(server.url).serializingData(emptyResponseCodes: [200]).response
        let disposition = try #require(response.response?.headers["Content-Disposition"])
        #expect(disposition == "attachment; filename=\"café.txt\"")
        #expect(ContentDisposition(disposition).fileNames == ["café.txt"])
        let received = server.received(by: 0)
        #expect(received.range(of: Data("\r\n\r\nGET /caf%E9 HTTP/1.1\r\n".utf8)) != nil)
        #expect(received.range(of: Data("\r\nCookie: name=andr".utf8) + e + Data("\r\n".utf8)) != nil)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aResponsesHeadersAreRead(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let response = await session.request(server.url("/response-headers?X-One=1&x-two=a%20b&ETag=%22e%22"))
            .serializingData().response
        let headers = try #require(response.response).headers
        #expect(headers["x-one"] == "1")
        #expect(headers.value(for: "X-TWO") == "a b")
        #expect(headers["etag"] == "\"e\"")
        #expect(headers["Content-Type"] == "application/json")
        await server.stop()
    }
}

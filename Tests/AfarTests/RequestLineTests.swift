import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The request target on the wire. Path and query are sent unchanged.
struct RequestLineTests {
    private static let there = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere"

    private static func location(_ place: String) -> String {
        "HTTP/1.1 302 Found\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n"
    }

    private static func targets(_ server: RawServer) -> [String] {
        server.requests.map { $0.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
    }

    /// Pairs of given and sent targets.
    private static let targets: [(String, String)] = [
        ("/echo?sig=ab%2Bcd%3D&names[]=x", "/echo?sig=ab%2Bcd%3D&names[]=x"),
        ("/?t=A_%26_B&p=r|c", "/?t=A_%26_B&p=r|c"),
        ("/[a]/{b}|^`\"<>?[a]/{b}|^`\"<>%5B", "/[a]/{b}|^`\"<>?[a]/{b}|^`\"<>%5B"),
        ("/%e4?%E4|", "/%e4?%E4|"), ("/a%2Fb[", "/a%2Fb["), ("?[", "/?["),
        // Invalid characters are encoded, and existing escapes remain unchanged.
        ("/a b%20c?d e%20f", "/a%20b%20c?d%20e%20f"), ("/é%20?ü|", "/%C3%A9%20?%C3%BC|"),
        ("/100%?5%zz", "/100%25?5%25zz"),
        ("/a?b[#c]%20", "/a?b["),
    ]

    @Test(arguments: targets) func aLocationIsRequestedUnchanged(written: String, sent: String) async throws {
        let server = try await RawServer.start([.respond(Self.location(written)), .respond(Self.there)])
        let session = TransportKind.platform.session()
        let request = session.request(server.url)
        #expect(try await request.serializingString().value == "there")
        #expect(Self.targets(server) == ["/", sent])
        // Foundation encodes the response's URL, but keeps existing escapes.
        let url = server.url.absoluteString + (written.hasPrefix("/") ? written.dropFirst() : written[...])
        #expect(try request.response?.url == url.asURL())
        await server.stop()
    }

    @Test(arguments: [nil, Redirector.follow]) func aRedirectFromEscapesToBracketsEnds(redirector: Redirector?)
        async throws
    {
        let server = try await RawServer.start([.respond(Self.location("/[]")), .respond(Self.there)])
        let session = TransportKind.platform.session()
        let request = session.request(server.url.absoluteString + "%5B%5D")
        if let redirector { request.redirect(using: redirector) }
        #expect(try await request.serializingString().value == "there")
        #expect(Self.targets(server) == ["/%5B%5D", "/[]"])
        await server.stop()
    }

    @Test func aHandlersURLIsSentUnchanged() async throws {
        let server = try await RawServer.start([.respond(Self.location("/[]")), .respond(Self.there)])
        let session = TransportKind.platform.session()
        let request = session.request(server.url).redirect(
            using: .modify { _, request, _ in
                var request = request
                request.url = request.url?.deletingLastPathComponent().appending(path: "%5B|")
                return request
            })
        #expect(try await request.serializingString().value == "there")
        #expect(Self.targets(server) == ["/", "/%255B%7C"])
        await server.stop()
    }

    @Test(arguments: targets) func aURLStringIsRequestedUnchanged(written: String, sent: String) async throws {
        let server = try await RawServer.start([.loop([.respond(Self.there)])])
        let session = TransportKind.platform.session()
        let url = String(server.url.absoluteString.dropLast() + written)
        _ = try await session.request(url).serializingString().value
        _ = try await session.upload(Data(), to: url).serializingString().value
        _ = try await session.download(url).serializingString().value
        #expect(Self.targets(server) == [sent, sent, sent])
        await server.stop()
    }

    @Test func parametersAreAppendedToTheUnchangedURL() async throws {
        let server = try await RawServer.start([.loop([.respond(Self.there)])])
        let session = TransportKind.platform.session()
        let url = server.url.absoluteString + "?names[]=%26|"
        _ = try await session.request(url, parameters: ["a": "[b]"]).serializingString().value
        let adapter = Adapter { request, _, completion in
            var request = request
            request.url = URL(string: server.url.absoluteString + "other?a=%7C")
            completion(.success(request))
        }
        _ = try await session.request(url, interceptor: Interceptor(adapters: [adapter])).serializingString().value
        #expect(Self.targets(server) == ["/?names[]=%26|&a=%5Bb%5D", "/other?a=%7C"])
        await server.stop()
    }

    /// An adapter or a modifier can sign the URL, so it must not change afterward.
    @Test func anAdaptedURLIsSentUnchanged() async throws {
        let server = try await RawServer.start([.loop([.respond(Self.there)])])
        let seen = Locked<[String]>([])
        let signer = Adapter { request, _, completion in
            var request = request
            seen.withLock { $0.append("/?" + (request.url?.query(percentEncoded: true) ?? "")) }
            request.headers.add(name: "X-Signature", value: "of the query")
            completion(.success(request))
        }
        let session = TransportKind.platform.session(interceptor: RetryPolicy())
        let url = server.url.absoluteString + "?names[]=%26|"
        _ = try await session.request(url).serializingString().value
        let signed = session.request(url, interceptor: signer)
        _ = try await signed.serializingString().value
        _ = try await session.request(url, requestModifier: { $0.timeoutInterval = 9 }).serializingString().value
        let encoded = "/?names%5B%5D=%26%7C"
        #expect(Self.targets(server) == ["/?names[]=%26|", encoded, encoded])
        #expect(seen.withLock { $0 } == [encoded])
        #expect(signed.cURLDescription().contains("names%5B%5D=%26%7C"))
        await server.stop()
    }

    @Test func aURLIsRequestedAsEncodedByFoundation() async throws {
        let server = try await RawServer.start([.loop([.respond(Self.there)])])
        let session = TransportKind.platform.session()
        for query in ["?names[]=x", "?t=A_%26_B&p=r|c", "?t=A_%26_B"] {
            let url = try #require(URL(string: server.url.absoluteString + query))
            _ = try await session.request(url).serializingString().value
            let sent = try #require(Self.targets(server).last)
            #expect(url.absoluteString.hasSuffix(sent))
        }
        await server.stop()
    }

    /// URLSession takes a `URL`, so the characters are encoded. Existing escapes aren't encoded again.
    @Test func overURLSessionEscapesAreNotEscapedAgain() async throws {
        let server = try await RawServer.start([.respond(Self.location("/?a=%26|")), .respond(Self.there)])
        let session = TransportKind.urlSession.session()
        let request = session.request(server.url.absoluteString + "?t=A_%26_B&p=r|c")
        #expect(try await request.serializingString().value == "there")
        #expect(Self.targets(server) == ["/?t=A_%26_B&p=r%7Cc", "/?a=%26%7C"])
        await server.stop()
    }

    @Test func theCurlCommandContainsTheSentURL() async throws {
        let server = try await RawServer.start([.loop([.respond(Self.there)])])
        let session = TransportKind.platform.session()
        let request = session.request(server.url.absoluteString + "?names[]=%26|#f")
        _ = try await request.serializingString().value
        let command = request.cURLDescription()
        #expect(command.contains("'\(server.url)?names[]=%26|'"), "\(command)")
        #expect(command.contains("--globoff"))
        await server.stop()
    }
}

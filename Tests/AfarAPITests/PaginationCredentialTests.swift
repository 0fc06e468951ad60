import Afar
import AfarAPI
import AfarTestServer
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Links between pages of different origins.
@Suite(.timeLimit(.minutes(2))) struct PaginationCredentialTests {
    private static let sensitive = [
        "Authorization", "Cookie", "X-Api-Key", "X-Adapted-Token", "Tenant", "X-Default-Secret",
    ]

    /// A session and a request whose credentials come from all possible places.
    private static func pages(
        from url: URL, setup: Session.RequestSetup = .lazy, next: Pagination<[Int]> = .links()
    ) throws -> PageSequence<[Int]> {
        var configuration = SessionConfiguration.default
        configuration.sensitiveHeaders = ["TENANT"]
        configuration.headers.add(name: "X-Default-Secret", value: "1")
        configuration.headers.add(name: "X-Default", value: "1")
        let adapter = Adapter { urlRequest, _, completion in
            var urlRequest = urlRequest
            urlRequest.headers.add(name: "X-Adapted-Token", value: "1")
            urlRequest.headers.add(name: "X-Adapted", value: "1")
            completion(.success(urlRequest))
        }
        let session = Session(
            configuration: configuration, requestSetup: setup, interceptor: Interceptor(adapters: [adapter]))
        var request = URLRequest(url: url)
        request.headers = ["Authorization": "Bearer 1", "Cookie": "a=1", "X-Own": "1"]
        return session.pages(
            request, serializing: .decodable(of: [Int].self), next: next,
            interceptor: Interceptor(adapters: [adapter])
        ) { request in
            request.validate().adapt(
                using: Adapter { urlRequest, _, completion in
                    var urlRequest = urlRequest
                    urlRequest.headers.add(name: "X-Api-Key", value: "1")
                    urlRequest.headers.add(name: "Tenant", value: "1")
                    completion(.success(urlRequest))
                })
        }
    }

    private static func expect(_ request: ServerRequest?, hasCredentials: Bool) throws {
        let request = try #require(request)
        for name in sensitive {
            #expect((request.headers[name] != nil) == hasCredentials, "\(name) at \(request.path)")
        }
        for name in ["X-Own", "X-Adapted", "X-Default", "Accept-Encoding"] {
            #expect(request.headers[name] != nil, "\(name) at \(request.path)")
        }
    }

    private static func iterate(_ pages: PageSequence<[Int]>) async throws -> Int {
        var count = 0
        for try await _ in pages { count += 1 }
        return count
    }

    @Test func linksWithinTheOriginKeepCredentials() async throws {
        let server = try await TestServer.start()
        server.route("/1") { _ in try .json([1]).adding("Link", "<\(server.url("/2"))>; rel=next") }
        server.route("/2") { _ in try .json([2]) }
        #expect(try await Self.iterate(Self.pages(from: server.url("/1"))) == 2)
        try Self.expect(server.lastRequest(path: "/1"), hasCredentials: true)
        try Self.expect(server.lastRequest(path: "/2"), hasCredentials: true)
        await server.stop()
    }

    @Test(arguments: [Session.RequestSetup.lazy, .eager])
    func linksToOtherOriginsDropCredentials(setup: Session.RequestSetup) async throws {
        let (server, other) = (try await TestServer.start(), try await TestServer.start())
        server.route("/1") { _ in try .json([1]).adding("Link", "<\(other.url("/2"))>; rel=next") }
        other.route("/2") { _ in try .json([2]).adding("Link", "<3>; rel=next") }
        other.route("/3") { _ in try .json([3]).adding("Link", "<\(server.url("/4"))>; rel=next") }
        server.route("/4") { _ in try .json([4]) }
        #expect(try await Self.iterate(Self.pages(from: server.url("/1"), setup: setup)) == 4)
        try Self.expect(server.lastRequest(path: "/1"), hasCredentials: true)
        try Self.expect(other.lastRequest(path: "/2"), hasCredentials: false)
        try Self.expect(other.lastRequest(path: "/3"), hasCredentials: false)
        // Another origin mustn't cause requests with credentials.
        try Self.expect(server.lastRequest(path: "/4"), hasCredentials: false)
        await server.stop()
        await other.stop()
    }

    @Test func pagesAfterARedirectToAnotherOriginHaveNoCredentials() async throws {
        let (server, other) = (try await TestServer.start(), try await TestServer.start())
        server.route("/1") { _ in ServerResponse(status: 307).adding("Location", other.url("/1").absoluteString) }
        other.route("/1") { _ in try .json([1]).adding("Link", "<2>; rel=next, <\(server.url("/3"))>; rel=back") }
        other.route("/2") { _ in try .json([2]) }
        server.route("/3") { _ in try .json([3]) }
        #expect(try await Self.iterate(Self.pages(from: server.url("/1"))) == 2)
        try Self.expect(other.lastRequest(path: "/2"), hasCredentials: false)
        #expect(try await Self.iterate(Self.pages(from: server.url("/1"), next: .links(relation: "Back"))) == 2)
        try Self.expect(server.lastRequest(path: "/3"), hasCredentials: false)
        await server.stop()
        await other.stop()
    }

    @Test func urlsInPagesHaveTheSameRules() async throws {
        let (server, other) = (try await TestServer.start(), try await TestServer.start())
        server.route("/1") { _ in try .json([1]) }
        other.route("/2") { _ in try .json([2]) }
        let next = other.url("/2").absoluteString
        let pages = try Self.pages(from: server.url("/1"), next: .urls { $0.number == 1 ? next : nil })
        #expect(try await Self.iterate(pages) == 2)
        try Self.expect(other.lastRequest(path: "/2"), hasCredentials: false)
        await server.stop()
        await other.stop()
    }

    /// The rules for origins, without a network.
    @Test(arguments: [
        ("https://mock/", true), ("https://mock:443/", true), ("HTTPS://MOCK/", true), ("//mock/", true),
        ("https://mock:444/", false), ("https://mock./", false), ("https://www.mock/", false),
        ("https://mock2/", false),
        ("https://ada@mock/", true), ("https://mock@evil/", false),
    ])
    func theOriginIsSchemeHostAndPort(link: String, isSame: Bool) async throws {
        let transport = MockTransport { request in
            request.path == "/1" ? .json([1]).adding("Link", "<\(link)2>; rel=next") : .json([2])
        }
        var request = URLRequest(url: try #require(URL(string: "https://mock/1")))
        request.headers.add(.authorization(bearerToken: "1"))
        let pages = Session(transport: transport).pages(request, serializing: .decodable(of: [Int].self))
        #expect(try await Self.iterate(pages) == 2)
        #expect((transport.requests.last?["Authorization"] != nil) == isSame)
    }

    @Test func credentialsForChallengesStayOnTheOrigin() async throws {
        let transport = MockTransport { request in
            guard request["Authorization"] != nil else { return .challenge("Basic realm=\"a\"") }
            return .json([1]).adding("Link", "<http://other/2>; rel=next")
        }
        let pages = Session(transport: transport).pages(
            "http://mock/1", serializing: .decodable(of: [Int].self)
        ) { $0.validate().authenticate(username: "ada", password: "s3cret") }
        _ = try? await Self.iterate(pages)
        let secret = Data("ada:s3cret".utf8).base64EncodedString()
        let sent = transport.requests.filter { $0["Authorization"]?.contains(secret) == true }
        #expect(sent.map(\.url) == ["http://mock/1"])
    }

    @Test func linksFromHTTPSToHTTPAreRefused() async throws {
        let transport = MockTransport { request in
            let next = ["/1": "http://mock/2", "/2": "https://mock/3", "/3": "http://mock/4"][request.path]
            return next.map { .json([1]).adding("Link", "<\($0)>; rel=next") } ?? .json([1])
        }
        func pages(_ url: String, _ next: Pagination<[Int]>) -> PageSequence<[Int]> {
            Session(transport: transport).pages(url, serializing: .decodable(of: [Int].self), next: next)
        }
        let url = try #require(URL(string: "http://mock/2"))
        await #expect(throws: PaginationError.insecureLink(url)) {
            try await Self.iterate(pages("https://mock/1", .links()))
        }
        await #expect(throws: PaginationError.insecureLink(url)) {
            try await Self.iterate(pages("https://mock/1", .urls { _ in "http://mock/2" }))
        }
        #expect(transport.requests.allSatisfy { $0.url == "https://mock/1" })
        #expect(try await Self.iterate(pages("https://mock/1", .links(allowsInsecure: true))) == 4)
        #expect(try await Self.iterate(pages("http://mock/4", .links())) == 1)
        // The third page has https.
        await #expect(throws: PaginationError.self) { try await Self.iterate(pages("http://mock/1", .links())) }
    }
}

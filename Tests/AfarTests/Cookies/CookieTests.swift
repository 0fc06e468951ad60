import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Cookies with the real transports.
@Suite(.timeLimit(.minutes(1))) struct CookieTests {
    /// Starts a server that sets cookies for `/set?name=value`, with `;` before attributes. All other paths return the
    /// received cookies.
    private static func server() async throws -> TestServer {
        let server = try await TestServer.start()
        server.route("/set") { request in
            let fields = (request.query.removingPercentEncoding ?? "").split(separator: "&")
            return fields.reduce(.text("set")) { $0.adding("Set-Cookie", String($1)) }
        }
        server.route("/get/*") { .text($0.headers.values(of: "Cookie").joined(separator: " | ")) }
        server.route("/away") { request in
            ServerResponse(status: 302, headers: ["Location": request.query, "Set-Cookie": "away=1; Path=/"])
        }
        return server
    }

    private func text(_ url: URL, _ session: Session, _ headers: HTTPHeaders? = nil) async throws -> String {
        try await session.request(url, headers: headers).serializingString(emptyResponseCodes: [200]).value
    }

    /// Returns a server's URL with a different name for this machine.
    private func url(_ server: TestServer, host: String, _ path: String) throws -> URL {
        var components = try #require(URLComponents(url: server.url, resolvingAgainstBaseURL: false))
        components.host = host
        return try #require(URL(string: path, relativeTo: components.url)).absoluteURL
    }

    @Test(arguments: TransportKind.allCases)
    func cookiesSetByAServerAreSentBack(kind: TransportKind) async throws {
        let server = try await Self.server()
        let session = kind.session()
        #expect(try await text(server.url("/get/a"), session) == "")
        _ = try await text(server.url("/set?a=1;Path=/&b=2;Path=/get&c=3;Secure&d=4;Path=/;Max-Age=3600"), session)
        #expect(try await text(server.url("/get/a"), session) == "b=2; a=1; d=4")
        #expect(session.cookieStore?.all.count == 3)
        _ = try await text(server.url("/set?a=;Path=/;Max-Age=0"), session)
        #expect(try await text(server.url("/get/a"), session) == "b=2; d=4")
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aRedirectsCookieIsSentToItsTarget(kind: TransportKind) async throws {
        let server = try await Self.server()
        #expect(try await text(server.url("/away?/get/a"), kind.session()) == "away=1")
        await server.stop()
    }

    @Test func eachHopHasTheCookiesOfItsHost() async throws {
        let server = try await Self.server()
        let session = TransportKind.platform.session()
        let app = try url(server, host: "app.localhost", "/set?own=app;Path=/&all=1;Domain=app.localhost;Path=/")
        _ = try await text(app, session)
        _ = try await text(try url(server, host: "other.localhost", "/set?own=other;Path=/"), session)
        let there = try url(server, host: "x.app.localhost", "/get/a")
        #expect(try await text(there, session) == "all=1")
        let away = try url(server, host: "other.localhost", "/away?\(there.absoluteString)")
        #expect(try await text(away, session) == "all=1")
        #expect(try await text(try url(server, host: "app.localhost", "/get/a"), session) == "own=app; all=1")
        #expect(try await text(try url(server, host: "other.localhost", "/get/a"), session) == "own=other; away=1")
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func theRequestsCookieHeaderIsSentUnchanged(kind: TransportKind) async throws {
        let server = try await Self.server()
        let session = kind.session()
        _ = try await text(server.url("/set?a=1;Path=/"), session)
        #expect(try await text(server.url("/get/a"), session, ["Cookie": "x=1; y=2"]) == "x=1; y=2")
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aChallengeSetsCookiesForItsAnswer(kind: TransportKind) async throws {
        let server = try await Self.server()
        server.route("/locked") { request in
            guard request.headers["Authorization"] != nil else {
                return ServerResponse(
                    status: 401, headers: ["WWW-Authenticate": #"Basic realm="x""#, "Set-Cookie": "seen=1"])
            }
            return .text(request.headers["Cookie"] ?? "none")
        }
        let session = kind.session()
        let request = session.request(server.url("/locked")).authenticate(username: "u", password: "p")
        #expect(try await request.serializingString().value == "seen=1")
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func concurrentRequestsLoseNoCookies(kind: TransportKind) async throws {
        let server = try await Self.server()
        let session = kind.session()
        let url = server.url
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let url = url.appending(path: "set").absoluteString + "?c\(number)=\(number);Path=/"
                    _ = try await session.request(url).serializingString().value
                }
            }
            try await group.waitForAll()
        }
        let sent = try await text(server.url("/get/a"), session)
        #expect(Set(sent.components(separatedBy: "; ")) == Set((0..<40).map { "c\($0)=\($0)" }))
        await server.stop()
    }

    @Test func sessionsHaveSeparateStores() async throws {
        let server = try await Self.server()
        let (one, two) = (TransportKind.platform.session(), TransportKind.platform.session())
        _ = try await text(server.url("/set?a=1;Path=/"), one)
        #expect(try await text(server.url("/get/a"), two) == "")
        let shared = TransportKind.platform.session { $0.cookieStore = one.cookieStore }
        #expect(try await text(server.url("/get/a"), shared) == "a=1")
        let none = TransportKind.platform.session { $0.cookieStore = nil }
        _ = try await text(server.url("/set?a=1;Path=/"), none)
        #expect(try await text(server.url("/get/a"), none) == "")
        await server.stop()
    }

    @Test func urlSessionsPropertiesApply() async throws {
        let server = try await Self.server()
        let never = TransportKind.platform.session { $0.httpCookieAcceptPolicy = .never }
        _ = try await text(server.url("/set?a=1;Path=/"), never)
        #expect(never.cookieStore?.isEmpty == true)
        let silent = TransportKind.platform.session { $0.httpShouldSetCookies = false }
        _ = try await text(server.url("/set?a=1;Path=/"), silent)
        #expect(silent.cookieStore?.all.count == 1)
        #expect(try await text(server.url("/get/a"), silent) == "")

        let session = TransportKind.platform.session()
        _ = try await text(server.url("/set?a=1;Path=/"), session)
        let without = session.request(server.url("/get/a")) { $0.httpShouldHandleCookies = false }
        #expect(try await without.serializingString(emptyResponseCodes: [200]).value == "")
        let foreign = session.request(server.url("/set?b=2;Path=/")) {
            $0.mainDocumentURL = URL(string: "http://example.com/")
        }
        _ = try await foreign.serializingString().value
        #expect(session.cookieStore?.all.map(\.name) == ["a"])
        await server.stop()
    }

    @Test func aFoundationStorageIsShared() async throws {
        let server = try await Self.server()
        let foundation = URLSessionConfiguration.ephemeral
        let storage = try #require(foundation.httpCookieStorage)
        let own = try #require(
            HTTPCookie(properties: [.name: "own", .value: "1", .domain: "127.0.0.1", .path: "/"]))
        storage.setCookie(own)
        let session = Session(configuration: SessionConfiguration(foundation), transport: CurlTransport())
        #expect(session.configuration.httpCookieStorage === storage)
        _ = try await text(server.url("/set?a=1;Path=/;Max-Age=3600"), session)
        #expect(try await text(server.url("/get/a"), session).contains("own=1"))
        #expect(Set(storage.cookies?.map(\.name) ?? []) == ["own", "a"])
        _ = try await text(server.url("/set?own=;Path=/;Max-Age=0"), session)
        #expect(storage.cookies?.map(\.name) == ["a"])
        #expect(session.sessionConfiguration.httpCookieStorage === storage)
        await server.stop()
    }

    @Test func theCurlCommandHasTheCookies() async throws {
        let server = try await Self.server()
        let session = TransportKind.platform.session()
        _ = try await text(server.url("/set?a=s3cret;Path=/"), session)
        let request = session.request(server.url("/get/a"))
        _ = try await request.serializingString().value
        #expect(request.cURLDescription().contains(" -b a=s3cret "))
        #expect(request.cURLDescription(redactingSecrets: true).contains(" -b '***' "))
        #expect(!request.cURLDescription(redactingSecrets: true).contains("s3cret"))
        // curl would use a nameless cookie as a file name.
        session.cookieStore?.removeAll()
        _ = try await text(server.url("/set?s3cret;Path=/"), session)
        let nameless = session.request(server.url("/get/a"))
        _ = try await nameless.serializingString().value
        #expect(nameless.cURLDescription().contains(" -H 'Cookie: s3cret' "))
        #expect(!nameless.cURLDescription(redactingSecrets: true).contains("s3cret"))
        let own = session.request(server.url("/get/a"), headers: ["Cookie": "x=1"])
        _ = try await own.serializingString().value
        #expect(!own.cURLDescription().contains(" -b "))
        await server.stop()
    }

    @Test func defaultSessionsUseThePublicSuffixList() {
        #expect(Session().configuration.publicSuffixList is SystemPublicSuffixList)
    }
}

import Foundation
import HTTPTypes
import TestServers
import Testing

@testable import AfarStages

/// Storing responses and matching them with requests (RFC 9111, sections 3 and 4.1).
struct CacheStorageTests {
    private func isKept(
        _ texts: [(String, String)], status: Int = 200, _ request: CacheRequest = CacheExchange.request()
    ) -> Bool { CacheExchange.kept(texts, status: status, to: request) != nil }

    private let fresh = ("Cache-Control", "max-age=60")
    private let tag = ("ETag", "\"1\"")

    @Test func onlyResponsesToGETAreStored() {
        #expect(isKept([fresh]))
        for method in [HTTPRequest.Method.head, .post, .put, .delete, .options] {
            #expect(!isKept([fresh], CacheExchange.request(method)))
        }
        #expect(!isKept([fresh], CacheExchange.request(body: .data(Data("x".utf8)))))
    }

    /// A compressed body is stored only in decoded form.
    @Test func rawBodiesAndDecodedOnesAreNotConfused() throws {
        let coded = [fresh, ("Content-Encoding", "gzip")]
        let raw = CacheExchange.request(decodesContent: false)
        #expect(isKept(coded) && !isKept(coded, raw))
        #expect(isKept([fresh], raw))
        func decision(_ response: CachedResponse) -> String {
            CacheRules.decide(raw, .standard, among: [response], at: CacheExchange.start).name
        }
        #expect(decision(try #require(CacheExchange.kept(coded))) == "send")
        #expect(decision(try #require(CacheExchange.kept([fresh]))) == "use")
    }

    @Test func noStoreAppliesToRequestsAndResponses() {
        #expect(!isKept([("Cache-Control", "max-age=60, no-store")]))
        #expect(!isKept([fresh], CacheExchange.request(.get, [("Cache-Control", "no-store")])))
        #expect(!isKept([fresh], CacheExchange.request(defaults: [("Cache-Control", "no-store")])))
    }

    @Test func mustUnderstandOverridesNoStore() {
        #expect(isKept([("Cache-Control", "max-age=60, must-understand, no-store")]))
        #expect(!isKept([("Cache-Control", "max-age=60, must-understand, no-store")], status: 299))
        #expect(!isKept([("Cache-Control", "max-age=60, must-understand")], status: 299))
    }

    @Test(arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func theseStatusesAreCacheableByDefault(status: Int) { #expect(isKept([tag], status: status)) }

    @Test(arguments: [302, 303, 307, 400, 401, 403, 500, 503, 299]) func otherStatusesRequireExplicitFreshness(
        status: Int
    ) {
        #expect(!isKept([tag], status: status))
        #expect(isKept([fresh], status: status))
        #expect(isKept([("Expires", "Sun, 06 Nov 1994 09:49:37 GMT")], status: status))
        #expect(isKept([("Cache-Control", "public"), tag], status: status))
    }

    @Test(arguments: [206, 304]) func partialAndConditionalResponsesAreNotStored(status: Int) {
        #expect(!isKept([fresh, tag], status: status))
    }

    /// Even these responses are useful, because a request can accept a stale response of any age.
    @Test func neverFreshResponsesAreStored() throws {
        for texts in [
            [], [("Cache-Control", "max-age=0")], [("Cache-Control", "private")], [("Cache-Control", "no-cache")],
        ] {
            let kept = try #require(CacheExchange.kept(texts))
            let request = CacheExchange.request()
            func decision(_ policy: CachePolicy) -> String {
                CacheRules.decide(request, policy, among: [kept], at: CacheExchange.start).name
            }
            #expect(decision(.standard) == "send" && decision(.revalidate) == "send")
            #expect(decision(.cacheElseLoad) == "use" && decision(.cacheOnly) == "use")
        }
    }

    @Test func anEventStreamIsNotStored() {
        #expect(!isKept([fresh, ("Content-Type", "text/event-stream")]))
        #expect(!isKept([fresh, ("Content-Type", "Text/Event-Stream; charset=utf-8")]))
        #expect(isKept([fresh, ("Content-Type", "text/plain")]))
    }

    @Test func hopByHopFieldsAreNotStored() throws {
        let kept = try #require(
            CacheExchange.kept([
                fresh, ("Connection", "close, X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "5"),
                ("Transfer-Encoding", "chunked"),
                ("Proxy-Authenticate", "Basic"), ("Upgrade", "h2c"), ("TE", "trailers"), ("X-Kept", "1"),
                ("Set-Cookie", "a=b"),
            ]))
        #expect(kept.fields.map(\.name.rawName).sorted() == ["Cache-Control", "Date", "Set-Cookie", "X-Kept"])
        #expect(kept.body == Data("body".utf8) && kept.status == 200 && kept.url == CacheExchange.url)
    }

    @Test func connectionCannotRemoveCacheFields() throws {
        let connection = ("Connection", "close, Cache-Control, Vary, Age, Date, ETag, Expires, Content-Type")
        let named = [connection, ("Age", "5"), ("ETag", "\"1\""), ("Vary", "A"), ("Content-Type", "a/b")]
        #expect(
            CacheExchange.kept([("Cache-Control", "no-store"), ("Last-Modified", CacheExchange.date)] + named) == nil)
        let kept = try #require(CacheExchange.kept([fresh] + named, to: CacheExchange.request(.get, [("A", "1")])))
        #expect(!CacheRules.matches(CacheExchange.request(.get, [("A", "2")]), kept))
        #expect(kept.fields[.age] == "5" && kept.fields[.date] != nil && kept.fields[.contentType] == "a/b")
        let head = CacheExchange.head(304, [connection, ("ETag", "\"2\"")])
        #expect(
            CacheRules.updated(kept, by: head, requestDate: CacheExchange.start, responseDate: CacheExchange.start)
                == nil)
    }

    // MARK: Vary

    private func kept(vary: String, _ texts: [(String, String)]) throws -> CachedResponse {
        try #require(CacheExchange.kept([fresh, ("Vary", vary)], to: CacheExchange.request(.get, texts)))
    }

    private func serves(_ response: CachedResponse, _ texts: [(String, String)]) -> Bool {
        CacheRules.matches(CacheExchange.request(.get, texts), response)
    }

    @Test func varyFieldsMustMatch() throws {
        let english = try kept(vary: "accept-LANGUAGE, X-A", [("Accept-Language", "en"), ("X-Other", "1")])
        #expect(
            serves(english, [("accept-language", " en ")])
                && serves(english, [("Accept-Language", "en"), ("X-Other", "2")]))
        #expect(!serves(english, [("Accept-Language", "de")]) && !serves(english, []))
        #expect(!serves(english, [("Accept-Language", "en"), ("X-A", "1")]))
        let several = try kept(vary: "X-A", [("X-A", "1"), ("X-A", "2")])
        #expect(serves(several, [("X-A", "1, 2")]) && !serves(several, [("X-A", "2, 1")]))
        let none = try kept(vary: "X-A", [])
        #expect(serves(none, []) && !serves(none, [("X-A", "")]))
    }

    @Test func defaultFieldsCountForVary() throws {
        let response = try #require(
            CacheExchange.kept(
                [fresh, ("Vary", "Accept-Encoding")],
                to: CacheExchange.request(defaults: [("Accept-Encoding", "gzip")])))
        #expect(serves(response, [("Accept-Encoding", "gzip")]) && !serves(response, []))
    }

    @Test(arguments: ["*", "Accept, *", "no token"]) func unmatchableVaryFieldsAreNotStored(vary: String) {
        #expect(!isKept([fresh, ("Vary", vary)]))
    }

    @Test func theNewestMatchingResponseIsUsed() throws {
        let german = try kept(vary: "Accept-Language", [("Accept-Language", "de")])
        let english = try kept(vary: "Accept-Language", [("Accept-Language", "en")])
        let decision = CacheRules.decide(
            CacheExchange.request(.get, [("Accept-Language", "de")]), .standard, among: [english, german],
            at: CacheExchange.start)
        guard case .use(let chosen) = decision else {
            Issue.record("\(decision.name)")
            return
        }
        #expect(chosen === german)
    }

    // MARK: Credentials

    @Test func responsesAreSeparatedByUser() throws {
        let ada = CacheExchange.request(.get, [("Authorization", "Bearer ada")])
        let own = try #require(CacheExchange.kept([fresh], to: ada))
        #expect(CacheRules.matches(ada, own) && !own.variant.contains("ada"))
        #expect(!serves(own, [("Authorization", "Bearer bob")]) && !serves(own, []))
        let common = try #require(CacheExchange.kept([("Cache-Control", "public, max-age=60")], to: ada))
        #expect(serves(common, [("Authorization", "Bearer bob")]) && serves(common, []))
        let none = try #require(CacheExchange.kept([fresh]))
        #expect(!CacheRules.matches(ada, none))
        let cookie = try kept(vary: "Cookie", [("Cookie", "id=secret")])
        #expect(!cookie.variant.contains("secret") && !serves(cookie, [("Cookie", "id=other")]))
    }

    @Test(arguments: ["X-Api-Key", "x-auth-token", "Cookie", "X-Amz-Security-Token", "X-Customer"])
    func allCredentialsSeparateUsers(name: String) throws {
        func request(_ value: String?, asDefault: Bool = false) -> CacheRequest {
            let fields = value.map { [(name, $0)] } ?? []
            return CacheExchange.request(
                .get, asDefault ? [] : fields, defaults: asDefault ? fields : [], sensitiveHeaders: ["x-customer"])
        }
        let own = try #require(CacheExchange.kept([fresh], to: request("ada")))
        #expect(CacheRules.matches(request("ada"), own) && CacheRules.matches(request("ada", asDefault: true), own))
        #expect(!CacheRules.matches(request("bob"), own) && !CacheRules.matches(request(nil), own))
        #expect(!own.variant.contains("ada"))
        let anyones = try #require(CacheExchange.kept([fresh], to: request(nil)))
        #expect(!CacheRules.matches(request("ada"), anyones) && CacheRules.matches(request(nil), anyones))
        let common = try #require(CacheExchange.kept([("Cache-Control", "public, max-age=60")], to: request("ada")))
        #expect(CacheRules.matches(request("bob"), common))
    }

    #if os(Linux)
        @Test func credentialsThatCannotBeHashedAreNeverEqual() throws {
            let request = CacheExchange.request(.get, [("Authorization", "ada")])
            let hashed = try #require(CacheExchange.kept([fresh], to: request))
            try withoutHashFunctions {
                let kept = try #require(CacheExchange.kept([fresh], to: request))
                #expect(!kept.variant.contains("ada"))
                #expect(!CacheRules.matches(request, kept) && !CacheRules.matches(request, hashed))
                #expect(request.identity == CacheExchange.request(.get, [("Authorization", "ada")]).identity)
                // Responses without credentials need no hash.
                let plain = try #require(CacheExchange.kept([fresh]))
                #expect(CacheRules.matches(CacheExchange.request(), plain))
            }
        }
    #endif

    @Test func otherFieldsDoNotSeparateRequests() throws {
        let kept = try #require(CacheExchange.kept([fresh], to: CacheExchange.request(.get, [("X-Customer", "ada")])))
        #expect(serves(kept, [("X-Customer", "bob")]) && serves(kept, [("Accept", "a"), ("Idempotency-Key", "1")]))
    }

    @Test func storedCookiesDoNotSeparateRequests() throws {
        func request(_ cookie: String) -> CacheRequest {
            var exchange = Exchange(
                request: HTTPRequest(
                    method: .get, scheme: "http", authority: "cache.example", path: "/a?b=1",
                    headerFields: CacheExchange.fields([("Cookie", cookie)])))
            exchange.policies.cookies.hasStoredCookies = true
            return CacheRequest(exchange)
        }
        let kept = try #require(CacheExchange.kept([fresh], to: request("a=1")))
        #expect(CacheRules.matches(request("a=2"), kept))
        let varying = try #require(CacheExchange.kept([fresh, ("Vary", "Cookie")], to: request("a=1")))
        #expect(!CacheRules.matches(request("a=2"), varying))
    }

    // MARK: Host

    @Test func theCallersHostFieldIsPartOfTheKey() throws {
        let hosts = ["a.example", "b.example", "cache.example:8080", "a.example, b.example", ""]
        for (number, host) in hosts.enumerated() {
            // Another Host field identifies another resource.
            let own = try #require(
                CacheExchange.kept(
                    [("Cache-Control", "public, max-age=60")], to: CacheExchange.request(.get, [("host", host)])))
            #expect(serves(own, [("HOST", host.uppercased())]) && !serves(own, []))
            #expect(CacheRules.matches(CacheExchange.request(defaults: [("Host", host)]), own))
            #expect(!serves(own, [("Host", hosts[(number + 1) % hosts.count])]))
        }
        let plain = try #require(CacheExchange.kept([fresh]))
        #expect(serves(plain, [("Host", "Cache.Example")]) && serves(plain, [("Host", "cache.example:80")]))
        #expect(!serves(plain, [("Host", "a.example")]))
    }
}

import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarStages

struct CookieStageTests {
    private let store = MemoryCookieStore()

    /// Creates a transport that sets a cookie in each response.
    private static func setting(_ fields: String..., status: Int = 200) -> MockTransport {
        MockTransport { _ in
            var response = MockResponse.text("there", status: status)
            for field in fields { response.fields.append(HTTPField(name: .setCookie, value: field)) }
            return response
        }
    }

    private func transport(
        _ mock: MockTransport, sends: Bool = true, joins: Bool = false,
        accepts: CookieStage.AcceptPolicy = .onlyFromMainDocumentDomain,
        before: (any ExchangeStage)? = nil
    ) -> StagedTransport {
        let stage = CookieStage(store, rules: CookieRules(), sends: sends, joins: joins, accepts: accepts)
        return before.map { StagedTransport(mock, $0, stage) } ?? StagedTransport(mock, stage)
    }

    private func fill(_ field: String = "a=1", from url: String = "https://one.test/") throws {
        let url = try CookieURL(url)
        store.store([try #require(CookieRules().cookie(from: field, of: url))], from: url)
    }

    @Test func storedCookiesAreSent() async throws {
        let mock = Self.setting("a=1; Path=/", "b=2; Path=/", "refused=1; Domain=other.test")
        let transport = transport(mock)
        for _ in 0..<2 { _ = try await transport.send(.to("https://one.test/x")) }
        #expect(mock.requests.map { $0["Cookie"] } == [nil, "a=1; b=2"])
        #expect(mock.requests[1].fields[values: .cookie].count == 1)
    }

    @Test(arguments: [
        ("c=3", "c=3; a=1; b=2"), ("a=9; x;b", "a=9; x;b; b=2"), (" a = 9 ;b=8", "a = 9 ;b=8"), ("", ""),
    ])
    func joinedCookiesHaveDifferentNames(own: String, sent: String) async throws {
        try fill()
        try fill("b=2")
        let mock = Self.setting()
        let transport = transport(mock, joins: true)
        for _ in 0..<2 {
            var exchange = try Exchange.to("https://one.test/x")
            exchange.request.headerFields[.cookie] = own
            _ = try await transport.send(exchange)
        }
        #expect(mock.requests.map { $0["Cookie"] } == [sent, sent])
        #expect(mock.requests[0].fields[values: .cookie].count == 1)
    }

    @Test(arguments: [[0x61, 0x3D, 0xE9], Array("a=é".utf8), [0xE9, 0x3D, 0xC3, 0xA9, 0xFF]])
    func cookiesAreSentBackByteForByte(cookie: [UInt8]) async throws {
        let mock = MockTransport { _ in
            var response = MockResponse.text("there")
            response.fields.append(HTTPField(name: .setCookie, value: cookie + Array("; Path=/".utf8)))
            response.fields.append(HTTPField(name: .setCookie, value: "other=1; Path=/"))
            return response
        }
        let transport = transport(mock)
        for _ in 0..<2 { _ = try await transport.send(.to("https://one.test/x")) }
        let sent = try #require(mock.requests[1].fields[fields: .cookie].first)
        #expect(sent.withUnsafeBytesOfValue { Array($0) } == cookie + Array("; other=1".utf8))
    }

    @Test func cookiesOfOneResponseAreSentInTheOrderOfTheirArrival() async throws {
        let fields = (0..<20).map { "c\($0)=1; Path=/\($0 % 3 == 0 ? "" : "; Domain=one.test")" }
        let mock = MockTransport { request in
            var response = MockResponse.text("there")
            // The second response changes the order but no creation date.
            for field in request.path == "/first" ? fields : fields.reversed() {
                response.fields.append(HTTPField(name: .setCookie, value: field))
            }
            return response
        }
        let transport = transport(mock)
        for path in ["first", "second", "third"] { _ = try await transport.send(.to("https://a.one.test/\(path)")) }
        let sent = (0..<20).map { "c\($0)=1" }.joined(separator: "; ")
        #expect(mock.requests.map { $0["Cookie"] } == [nil, sent, sent])
    }

    @Test(arguments: [404, 500, 302, 401])
    func cookiesOfAllStatusesAreStored(status: Int) async throws {
        _ = try await transport(Self.setting("a=1", status: status)).send(.to("https://one.test/"))
        #expect(store.all.map(\.pair) == ["a=1"])
    }

    @Test func redirectsSetCookiesAndEachHopSendsItsOwn() async throws {
        let mock = MockTransport { request in
            guard request.path == "/a" else { return .text("there") }
            var response = MockResponse.redirect(302, to: "https://two.test/b")
            response.fields.append(HTTPField(name: .setCookie, value: "late=1; Path=/"))
            return response
        }
        try fill("one=1")
        try fill("two=2", from: "https://two.test/")
        let transport = transport(mock, before: RedirectStage())
        _ = try await transport.send(.to("https://one.test/a"))
        #expect(mock.requests.map { $0["Cookie"] } == ["one=1", "two=2"])
        _ = try await transport.send(.to("https://one.test/c"))
        #expect(mock.requests.last?["Cookie"] == "one=1; late=1")
    }

    @Test func aChallengesCookiesAreSentWithItsAnswer() async throws {
        let mock = MockTransport { request in
            guard request["Authorization"] == nil else { return .text("in") }
            var response = MockResponse.challenge(#"Basic realm="x""#)
            response.fields.append(HTTPField(name: .setCookie, value: "a=1"))
            return response
        }
        var exchange = try Exchange.to("https://one.test/")
        exchange.policies.credential = Credential(user: "u", password: "p", origin: Origin(exchange.request))
        _ = try await transport(mock, before: AuthenticationStage()).send(exchange)
        #expect(mock.requests.map { $0["Cookie"] } == [nil, "a=1"])
    }

    @Test func theCallersHostFieldDeterminesTheCookies() async throws {
        try fill("url=1")
        try fill("host=1", from: "https://two.test/")
        let mock = Self.setting("set=1")
        let transport = transport(mock)
        var exchange = try Exchange.to("https://one.test/")
        exchange.request.headerFields = CacheExchange.fields([("Host", "Two.test:8443")])
        _ = try await transport.send(exchange)
        exchange.request.headerFields = CacheExchange.fields([("Host", "one.test:443")])
        _ = try await transport.send(exchange)
        #expect(mock.requests.map { $0["Cookie"] } == ["host=1", "url=1"])
        #expect(store.all.filter { $0.name == "set" }.map(\.domain).sorted() == ["one.test", "two.test"])
    }

    @Test func theCallersCookieFieldIsSentUnchanged() async throws {
        try fill()
        let mock = Self.setting("b=2")
        _ = try await transport(mock).send(.to("https://one.test/", fields: ["Cookie": "own=1"]))
        #expect(mock.requests.map { $0["Cookie"] } == ["own=1"])
        #expect(store.all.count == 2)
        var exchange = try Exchange.to("https://one.test/")
        exchange.options.defaultFields = DefaultFields([.cookie: "default=1"])
        _ = try await transport(mock).send(exchange)
        #expect(mock.requests.last?["Cookie"] == "default=1")
    }

    @Test func aRequestCanDisableCookies() async throws {
        try fill()
        let mock = Self.setting("b=2")
        var exchange = try Exchange.to("https://one.test/")
        exchange.policies.cookies = CookieHandling(isEnabled: false)
        _ = try await transport(mock).send(exchange)
        #expect(mock.requests.map { $0["Cookie"] } == [nil])
        #expect(store.all.map(\.pair) == ["a=1"])
    }

    @Test func cookiesCanBeStoredButNotSent() async throws {
        try fill()
        let mock = Self.setting("b=2")
        _ = try await transport(mock, sends: false).send(.to("https://one.test/"))
        #expect(mock.requests.map { $0["Cookie"] } == [nil])
        #expect(store.all.count == 2)
    }

    @Test func cookiesCanBeSentButNotStored() async throws {
        try fill()
        let mock = Self.setting("b=2")
        _ = try await transport(mock, accepts: .never).send(.to("https://one.test/"))
        #expect(mock.requests.map { $0["Cookie"] } == ["a=1"])
        #expect(store.all.count == 1)
    }

    @Test(arguments: [
        ("https://www.one.test/", CookieStage.AcceptPolicy.onlyFromMainDocumentDomain, 1),
        ("https://two.test/", .onlyFromMainDocumentDomain, 0), ("https://two.test/", .always, 1),
    ])
    func theMainDocumentDeterminesThePolicy(document: String, policy: CookieStage.AcceptPolicy, count: Int) async throws
    {
        var exchange = try Exchange.to("https://one.test/")
        exchange.policies.cookies = CookieHandling(document: try CookieURL(document))
        _ = try await transport(Self.setting("a=1"), accepts: policy).send(exchange)
        #expect(store.all.count == count)
    }

    /// A stage that responds without the network.
    private struct CacheStage: ExchangeStage {
        struct Run: StageRun {
            func before(_ hop: Hop) -> Reply<RequestAction> {
                let head = ResponseHead(
                    status: 200, httpVersion: "HTTP/1.1", fields: [.setCookie: "old=1"], url: hop.exchange.url,
                    isStored: true)
                return .now(.answer(TransportResponse(head: head, body: .data(Data()))))
            }
        }

        func begin(_ hop: Hop) -> (any StageRun)? { Run() }
    }

    @Test func aCachedResponseSetsNoCookies() async throws {
        let mock = Self.setting("new=1")
        let stage = CookieStage(store, rules: CookieRules())
        _ = try await StagedTransport(mock, stage, CacheStage()).send(.to("https://one.test/"))
        #expect(store.isEmpty && mock.requests.isEmpty)
    }
}

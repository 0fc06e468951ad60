import AfarTesting
import AfarTrust
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarStages

/// RFC 6797, sections 8.1 and 8.3.
struct HSTSStageTests {
    private let store = MemoryHSTSStore()

    private static func answering(_ values: String...) -> MockTransport {
        MockTransport { _ in
            var response = MockResponse.text("there")
            for value in values { response.fields.append(HTTPField(name: .strictTransportSecurity, value: value)) }
            return response
        }
    }

    private func transport(_ mock: MockTransport) -> StagedTransport {
        let upgrade = HSTSUpgrade(store)
        return StagedTransport(
            mock, HSTSUpgradeStage(upgrade), RedirectStage(rules: RedirectRules(hsts: upgrade)), AuthenticationStage(),
            HSTSStage(store))
    }

    private func addHost(_ name: String, all: Bool = false) throws {
        store.store(try #require(HSTSHost(name: name, includesSubdomains: all)))
    }

    @Test func aHostIsStoredAndUsesHTTPSAfterward() async throws {
        let mock = Self.answering("max-age=100", "max-age=0")
        let transport = transport(mock)
        for url in ["http://one.test/a", "https://one.test/b", "http://one.test/c?d"] {
            _ = try await transport.send(.to(url))
        }
        #expect(mock.requests.map(\.url) == ["http://one.test/a", "https://one.test/b", "https://one.test/c?d"])
        #expect(store.all.map(\.name) == ["one.test"])
    }

    @Test(arguments: ["http://one.test/", "https://127.0.0.1/", "https://[::1]/"])
    func plainHTTPAndAddressesStoreNothing(url: String) async throws {
        _ = try await transport(Self.answering("max-age=100")).send(.to(url))
        #expect(store.all.isEmpty)
    }

    @Test func aResponseForAnotherHostStoresNothing() async throws {
        var exchange = try Exchange.to("https://one.test/")
        exchange.request.headerFields = CacheExchange.fields([("Host", "two.test")])
        _ = try await transport(Self.answering("max-age=100")).send(exchange)
        #expect(store.all.isEmpty)
    }

    @Test func theFirstFieldIsUsedAndAMalformedOneIgnored() async throws {
        _ = try await transport(Self.answering("max-age=x", "max-age=100")).send(.to("https://one.test/"))
        #expect(store.all.isEmpty)
    }

    @Test func anAgeOfZeroRemovesTheHost() async throws {
        try addHost("one.test", all: true)
        _ = try await transport(Self.answering("max-age=0")).send(.to("https://one.test/"))
        #expect(store.all.isEmpty)
    }

    @Test func withAnEvaluatorNothingIsStored() async throws {
        var exchange = try Exchange.to("https://one.test/")
        exchange.options.security = ConnectionSecurity(identity: nil, evaluation: { _, _ in })
        let stage = HSTSStage(store)
        #expect(stage.begin(Hop(exchange)) == nil)
        exchange.options.security = nil
        #expect(stage.begin(Hop(exchange)) != nil)
    }

    @Test(arguments: [
        ("http://one.test/", "https://one.test/"), ("http://one.test:80/", "https://one.test/"),
        ("http://one.test:8080/x", "https://one.test:8080/x"), ("http://a.one.test/", "https://a.one.test/"),
        ("http://one.test./", "https://one.test./"), ("http://two.test/", "http://two.test/"),
        ("http://test/", "http://test/"),
    ])
    func requestsToKnownHostsUseHTTPS(url: String, sent: String) async throws {
        try addHost("one.test", all: true)
        let mock = MockTransport { _ in .text("there") }
        let response = try await transport(mock).send(.to(url))
        #expect(mock.requests.map(\.url) == [sent])
        #expect(response.head.url == sent)
    }

    @Test func redirectsToKnownHostsUseHTTPS() async throws {
        try addHost("two.test")
        let mock = MockTransport { request in
            switch request.path {
            case "/a": .redirect(302, to: "http://two.test:80/b#end")
            case "/b": .redirect(302, to: "/c")
            default: .text("there")
            }
        }
        let response = try await transport(mock).send(.to("https://one.test/a"))
        #expect(mock.requests.map(\.url) == ["https://one.test/a", "https://two.test/b", "https://two.test/c"])
        #expect(response.report.redirects.first?.url.absoluteString == "https://two.test/b#end")
    }

    @Test func anUpgradedRequestKeepsItsOriginOnRedirects() async throws {
        try addHost("one.test")
        let mock = MockTransport { request in
            request.path == "/a" ? .redirect(302, to: "https://one.test/b") : .text("there")
        }
        _ = try await transport(mock).send(.to("http://one.test/a", fields: ["Authorization": "Bearer t"]))
        #expect(mock.requests.map { $0["Authorization"] } == ["Bearer t", "Bearer t"])
    }

    @Test func aRedirectToHTTPOfAnUnknownHostIsStillRejected() async throws {
        let mock = MockTransport { _ in .redirect(302, to: "http://three.test/") }
        let error = await transportFailure { _ = try await transport(mock).send(.to("https://one.test/a")) }
        #expect(error?.code == .insecureRedirect)
    }

    @Test func redirectsStoreHosts() async throws {
        let mock = MockTransport { request in
            guard request.path == "/a" else { return .text("there") }
            var response = MockResponse.redirect(301, to: "https://two.test/b")
            response.fields[.strictTransportSecurity] = "max-age=100"
            return response
        }
        _ = try await transport(mock).send(.to("https://one.test/a"))
        #expect(store.all.map(\.name) == ["one.test"])
    }

    @Test func theCredentialIsKeptOnAnUpgrade() async throws {
        try addHost("one.test")
        let mock = MockTransport { $0["Authorization"] == nil ? .challenge(#"Basic realm="x""#) : .text("in") }
        var exchange = try Exchange.to("http://one.test/")
        exchange.policies.credential = Credential(user: "u", password: "p", origin: Origin(exchange.request))
        #expect(try await transport(mock).send(exchange).text == "in")
    }
}

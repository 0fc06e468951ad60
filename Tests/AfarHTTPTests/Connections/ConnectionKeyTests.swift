import AfarTransport
import HTTPTypes
import Testing

@testable import AfarHTTP

@Suite struct ConnectionKeyTests {
    private func key(_ authority: String) throws -> ConnectionKey {
        try ConnectionKey(HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/"))
    }

    @Test func allSpellingsOfAHostAreOne() throws {
        #expect(try key("Example.org") == key("example.org:80"))
        #expect(try key("example.org:") == key("example.org"))
        #expect(try key("example.org:81") != key("example.org"))
        #expect(try key("[::1]:8080").host == "::1")
        #expect(try key("[::1]").port == 80)
    }

    @Test(arguments: ["a:65536", "a:x", "a:-1", "a:+1", "a:99999999999999999999"])
    func aPortThatIsNoneIsAnError(_ authority: String) {
        let error = #expect(throws: HTTP1Error.self) { try key(authority) }
        #expect(error?.code == .invalidURL)
    }

    @Test func originsAreWrittenAsInURLs() throws {
        #expect(try key("a").origin == "http://a")
        #expect(try key("a:81").origin == "http://a:81")
        #expect(try key("[::1]:81").origin == "http://[::1]:81")
    }

    /// A new option must be classified here: does it distinguish connections? If so, it belongs in the key.
    @Test func everyOptionIsClassified() {
        let ofExchanges: Set<String> = [
            "connectTimeout", "idleTimeout", "minimumTransferRate", "totalTimeout", "defaultFields", "decodesContent",
            "decompressionLimit", "maximumHeadBytes", "maximumFieldCount", "maximumInformationalResponses",
            "acceptsBodiesWithoutTLSCloseNotify",
        ]
        // The transport refuses exchanges with these, or they have no effect without TLS.
        let refused: Set<String> = [
            "httpVersion", "minimumTLSVersion", "security", "connectionAuthentication", "networkBox", "protocolClasses",
        ]
        let options = Mirror(reflecting: ExchangeOptions()).children.compactMap(\.label)
        #expect(Set(options) == ofExchanges.union(refused))
    }
}

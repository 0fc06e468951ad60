import AfarHTTP1
import AfarTransport
import HTTPTypes
import Testing

@testable import AfarHTTP

@Suite struct ConnectionKeyTests {
    private func key(_ authority: String, scheme: String = "http") throws -> ConnectionKey {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/")
        return try ConnectionKey(Exchange(request: request))
    }

    @Test func allSpellingsOfAHostAreEqual() throws {
        #expect(try key("Example.org") == key("example.org:80"))
        #expect(try key("example.org:") == key("example.org"))
        #expect(try key("example.org:81") != key("example.org"))
        #expect(try key("[::1]:8080").host == "::1")
        #expect(try key("[::1]").port == 80)
    }

    @Test(arguments: ["a:65536", "a:x", "a:-1", "a:+1", "a:99999999999999999999"])
    func anInvalidPortIsAnError(_ authority: String) {
        let error = #expect(throws: Fault.self) { _ = try key(authority) }
        #expect(error?.code == .invalidURL)
    }

    @Test func originsAreWrittenAsInURLs() throws {
        #expect(try key("a").origin == "http://a")
        #expect(try key("a:81").origin == "http://a:81")
        #expect(try key("[::1]:81").origin == "http://[::1]:81")
        #expect(try key("a:443", scheme: "https").origin == "https://a")
        #expect(try key("a:80", scheme: "https").origin == "https://a:80")
    }

    /// Classify each new option here. An option that distinguishes connections belongs in the key.
    @Test func everyOptionIsClassified() {
        let ofExchanges: Set<String> = [
            "connectTimeout", "idleTimeout", "minimumTransferRate", "totalTimeout", "defaultFields", "decodesContent",
            "decompressionLimit", "maximumResponseHeadSize", "maximumFieldCount", "maximumInformationalResponses",
            "acceptsBodiesWithoutTLSCloseNotify", "timeSource", "preconnectionLimit", "omitsAccept",
            "bandwidthLimiter",
        ]
        let ofConnections: Set<String> = [
            "httpVersion", "minimumTLSVersion", "security", "networkBox", "connectionPolicy",
        ]
        // The transport rejects these options.
        let refused: Set<String> = ["connectionAuthentication", "protocolClasses"]
        let options = Mirror(reflecting: ExchangeOptions()).children.compactMap(\.label)
        #expect(Set(options) == ofExchanges.union(ofConnections).union(refused))
    }

    @Test func handshakeSettingsDistinguishConnections() throws {
        let request = HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/")
        func key(_ change: (inout ExchangeOptions) -> Void = { _ in }) throws -> ConnectionKey {
            var options = ExchangeOptions()
            change(&options)
            return try ConnectionKey(Exchange(request: request, options: options))
        }
        let security = ConnectionSecurity(identity: nil, evaluation: nil)
        #expect(try key() == key())
        #expect(try key() != key { $0.minimumTLSVersion = .v13 })
        #expect(try key { $0.security = security } == key { $0.security = security })
        #expect(try key { $0.security = security } != key())
        #expect(
            try key { $0.security = security }
                != key { $0.security = ConnectionSecurity(identity: nil, evaluation: nil) })
        #expect(try self.key("a:443") != self.key("a:443", scheme: "https"))
    }

    @Test func theVersionOfHTTPDistinguishesConnections() throws {
        func key(
            _ version: ExchangeOptions.HTTPVersion, scheme: String = "https",
            _ purpose: ConnectionKey.Purpose = .requests, maximumFieldCount: Int = 1_000
        ) throws -> ConnectionKey {
            var options = ExchangeOptions()
            (options.httpVersion, options.maximumFieldCount) = (version, maximumFieldCount)
            let request = HTTPRequest(method: .get, scheme: scheme, authority: "a", path: "/")
            return try ConnectionKey(Exchange(request: request, options: options), for: purpose)
        }
        #expect(try key(.automatic) == key(.http2))
        #expect(try key(.http2) != key(.http1))
        #expect(try key(.http2) != key(.http2PriorKnowledge))
        #expect(try key(.http2, scheme: "http") == key(.http1, scheme: "http"))
        #expect(try key(.http2, .upgrade) == key(.http1, .upgrade))
        // Limits for responses apply to a whole connection.
        #expect(try key(.http2, maximumFieldCount: 1) != key(.http2))
        #expect(try key(.http1, maximumFieldCount: 1) == key(.http1))
    }

    @Test func policiesDistinguishConnections() throws {
        final class Open: ConnectionPolicy {
            func decide(on candidate: ConnectionCandidate) -> ConnectionDecision { .allow }
        }
        func key(_ policy: Open?, _ purpose: ConnectionKey.Purpose = .requests) throws -> ConnectionKey {
            var options = ExchangeOptions()
            options.connectionPolicy = policy
            let request = HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/")
            return try ConnectionKey(Exchange(request: request, options: options), for: purpose)
        }
        let (one, other) = (Open(), Open())
        #expect(try key(one) == key(one) && key(one).hashValue == key(one).hashValue)
        #expect(try key(one) != key(other))
        #expect(try key(one) != key(nil) && key(nil) == key(nil))
        #expect(try key(one, .upgrade) != key(other, .upgrade))
    }

    @Test func resolversDistinguishConnections() throws {
        final class Empty: HostResolver {
            func addresses(of host: String) async throws -> ResolvedAddresses { ResolvedAddresses([]) }
        }
        func key(_ resolver: Empty?, interface: String? = nil) throws -> ConnectionKey {
            var options = ExchangeOptions()
            options.resolver = resolver
            options.network.interface = interface
            let request = HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/")
            return try ConnectionKey(Exchange(request: request, options: options))
        }
        let (one, other) = (Empty(), Empty())
        #expect(try key(one) == key(one) && key(one).hashValue == key(one).hashValue)
        #expect(try key(one) != key(other))
        #expect(try key(one) != key(nil) && key(nil) == key(nil))
        #expect(try key(one, interface: "lo") != key(other, interface: "lo"))
    }

    @Test func settingsForOtherHostsDoNotDistinguishConnections() throws {
        let request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/")
        func key(_ change: (inout NetworkSettings) throws -> Void) throws -> ConnectionKey {
            var options = ExchangeOptions()
            options.network.addressFamily = .ipv4
            try change(&options.network)
            return try ConnectionKey(Exchange(request: request, options: options))
        }
        let proxy = try Proxy("http://proxy:1")
        #expect(try key { $0.connectTo = ["b:80": "c:80"] } == key { _ in })
        #expect(try key { $0.connectTo = ["a:80": "c:80"] } != key { _ in })
        #expect(try key { $0.proxies = .init(proxy) } == key { $0.proxies = .init(proxy, exclusions: ["b"]) })
        #expect(try key { $0.proxies = .init(proxy) } != key { _ in })
        #expect(try key { $0.unixSocket = "/tmp/a" } != key { $0.unixSocket = "/tmp/b" })
        #expect(try key { $0.addressFamily = .ipv6 } != key { _ in })
        // Different proxies must not collide in a dictionary.
        let hashes = try (1...20).map { port in
            try key { $0.proxies = .init(try Proxy("http://proxy:\(port)")) }.hashValue
        }
        #expect(Set(hashes).count > 15)
    }
}

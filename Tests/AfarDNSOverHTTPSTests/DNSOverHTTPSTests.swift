import Afar
import AfarDNSOverHTTPS
import AfarTestServer
import AfarTesting
import AfarTransport
import Foundation
import HTTPTypes
import TestServers
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// DNS over HTTPS (RFC 8484).
@Suite(.serialized, .timeLimit(.minutes(2))) struct DNSOverHTTPSTests {
    private func transport() throws -> HTTPTransport {
        var configuration = HTTPTransport.Configuration()
        configuration.certificateBundle = try TestCertificates.shared.get().authority
        return HTTPTransport(configuration: configuration)
    }

    /// Creates a resolver that sends its queries to unbound.
    private func resolver(
        _ server: ServerChild, host: String = "localhost", bootstrap: [String] = [],
        method: DNSOverHTTPSResolver.Method = .get, _ transport: (any Transport)? = nil
    ) throws -> DNSOverHTTPSResolver {
        let url = try #require(URL(string: "https://\(host):\(server.port)/dns-query"))
        return try DNSOverHTTPSResolver(
            url, bootstrap: bootstrap, method: method, transport: try transport ?? self.transport())
    }

    @Test(arguments: DNSOverHTTPSResolver.Method.allCases)
    func addressesAndTimesAreFound(method: DNSOverHTTPSResolver.Method) async throws {
        let server = try await ServerChild.unbound(try TestCertificates.shared.get())
        let resolver = try resolver(server, method: method)
        let both = try await resolver.addresses(of: "both.test")
        #expect(both.addresses == ["::1", "127.0.0.1"].compactMap { SocketAddress($0) })
        #expect(both.timeToLive == .seconds(60))
        let alias = try await resolver.addresses(of: "FIRST.test")
        #expect(alias.addresses == both.addresses && alias.timeToLive == .seconds(30))
        let four = try await resolver.addresses(of: "four.test")
        #expect(four.addresses == [SocketAddress("127.0.0.1")].compactMap(\.self))
        for host in ["text.test", "missing.test"] {
            #expect(try await resolver.addresses(of: host).addresses.isEmpty, "\(host)")
        }
        #expect(try await resolver.addresses(of: "many.test").addresses.count == 100)
        let error = await #expect(throws: DNSError.self) { _ = try await resolver.addresses(of: "refused.test") }
        #expect(error?.reason == .failure(responseCode: 5), "\(String(describing: error))")
    }

    @Test func sessionsUseTheResolver() async throws {
        let dns = try await ServerChild.unbound(try TestCertificates.shared.get())
        let server = try await TestServer.start()
        var configuration = SessionConfiguration.default
        configuration.resolver = CachingResolver(try resolver(dns))
        for transport in [HTTPTransport(), CurlTransport()] as [any Transport] {
            let session = Session(configuration: configuration, transport: transport)
            let port = try #require(server.url.port)
            let response = await session.request("http://first.test:\(port)/get").serializingString().response
            #expect(response.response?.statusCode == 200, "\(response)")
            let missing = await session.request("http://missing.test/").serializingString().response
            let error = try #require(missing.error?.transportError)
            #expect(error.code == .cannotFindHost)
            #expect(
                error.message
                    == "the resolver DNS over HTTPS (localhost) found no address for the host \"missing.test\"")
            let refused = await session.request("http://refused.test/").serializingString().response
            #expect(refused.error?.transportError?.description.contains("REFUSED") == true, "\(refused)")
        }
    }

    /// The server's own name is found by its bootstrap addresses, even over the transport and the configuration of sessions that use the
    /// resolver. The certificate is for another name, so the query then fails.
    @Test func theServerIsFoundByItsBootstrapAddresses() async throws {
        let dns = try await ServerChild.unbound(try TestCertificates.shared.get())
        let resolver = try resolver(dns, host: "dns.example", bootstrap: ["127.0.0.1"])
        let error = await #expect(throws: AFError.self) { _ = try await resolver.addresses(of: "both.test") }
        #expect(error?.transportError?.code == .certificateUntrusted, "\(String(describing: error))")
        let unknown = try self.resolver(dns, host: "dns.invalid")
        let other = await #expect(throws: AFError.self) { _ = try await unknown.addresses(of: "both.test") }
        #expect(other?.transportError?.code == .cannotFindHost, "\(String(describing: other))")
    }

    @Test func aResolverInTheConfigurationIsNotUsedForTheServer() async throws {
        let dns = try await ServerChild.unbound(try TestCertificates.shared.get())
        var configuration = SessionConfiguration.default
        configuration.resolver = try StaticResolver([:])
        let url = try #require(URL(string: "https://localhost:\(dns.port)/dns-query"))
        let resolver = try DNSOverHTTPSResolver(url, configuration: configuration, transport: try transport())
        #expect(try await resolver.addresses(of: "four.test").addresses.count == 1)
    }

    @Test(arguments: ["http://dns.example/", "dns.example", "https:", "https:///x"])
    func theServerMustHaveAnHTTPSURL(_ text: String) throws {
        let url = try #require(URL(string: text))
        let error = #expect(throws: DNSError.self) {
            _ = try DNSOverHTTPSResolver(url, transport: MockTransport { _ in .text("") })
        }
        #expect(error?.reason == .invalidServer)
    }

    // MARK: Other responses

    private static let all = TransportCapabilities(name: "mock", features: .init(rawValue: .max))

    private func failure(_ answer: @escaping @Sendable (MockRequest) -> MockResponse) async throws -> DNSError.Reason? {
        let transport = MockTransport(capabilities: Self.all) { answer($0) }
        let url = try #require(URL(string: "https://dns.example/dns-query?token=1"))
        let resolver = try DNSOverHTTPSResolver(url, bootstrap: ["127.0.0.1"], transport: transport)
        return await #expect(throws: DNSError.self) { _ = try await resolver.addresses(of: "a.example") }?.reason
    }

    @Test func responsesThatAreNotMessagesAreErrors() async throws {
        #expect(
            try await failure { _ in .text("hello") }
                == .unexpectedResponse(status: 200, contentType: "text/plain; charset=utf-8"))
        #expect(
            try await failure { _ in MockResponse(status: 500) } == .unexpectedResponse(status: 500, contentType: nil))
        let malformed = try await failure { _ in
            MockResponse(
                status: 200, fields: [.contentType: "application/dns-message"], body: Data([0, 0, 0x81, 0x80]))
        }
        guard case .malformed = malformed else { Issue.record("\(String(describing: malformed))"); return }
    }

    /// Responses to queries for one type, made from the query itself.
    private static func message(_ request: MockRequest, _ type: UInt8, _ address: [UInt8], time: UInt8) -> MockResponse
    {
        let text = (request.exchange.request.path ?? "").split(separator: "dns=").last.map(String.init) ?? ""
        let padded = text.replacing("-", with: "+").replacing("_", with: "/")
            .padding(toLength: (text.count + 3) / 4 * 4, withPad: "=", startingAt: 0)
        var bytes = [UInt8](Data(base64Encoded: padded) ?? Data())
        guard bytes.count > 16 else { return MockResponse(status: 400) }
        let isAsked = bytes[bytes.count - 3] == type
        (bytes[2], bytes[3], bytes[7]) = (0x81, isAsked ? 0x80 : 0x82, isAsked ? 1 : 0)
        if isAsked { bytes += [0xC0, 12, 0, type, 0, 1, 0, 0, 0, time, 0, UInt8(address.count)] + address }
        return MockResponse(
            status: 200, fields: [.contentType: "Application/DNS-Message; x=y", .age: "40"], body: Data(bytes))
    }

    /// The query for the other type fails. The response has been stored by a cache for 40 seconds.
    @Test(arguments: [(100, 60), (30, 0)] as [(UInt8, Int)])
    func oneAnswerIsEnoughAndItsAgeCounts(time: UInt8, expected: Int) async throws {
        let transport = MockTransport(capabilities: Self.all) { Self.message($0, 1, [192, 0, 2, 1], time: time) }
        let url = try #require(URL(string: "https://dns.example/dns-query?token=1"))
        let resolver = try DNSOverHTTPSResolver(url, transport: transport)
        let found = try await resolver.addresses(of: "a.example")
        #expect(
            found == ResolvedAddresses([SocketAddress("192.0.2.1")].compactMap(\.self), timeToLive: .seconds(expected)))
        let requests = transport.requests
        #expect(requests.count == 2)
        for request in requests {
            #expect(request.exchange.request.path?.hasPrefix("/dns-query?token=1&dns=AAABAAABAAAAAAAA") == true)
            #expect(request.fields[.accept] == "application/dns-message" && request.fields[.userAgent] == nil)
        }
    }

    @Test func bodiesThatAreTooLongAreErrors() async throws {
        let transport = MockTransport(capabilities: Self.all) { _ in
            MockResponse(
                status: 200, fields: [.contentType: "application/dns-message"], body: Data(count: 70_000))
        }
        let url = try #require(URL(string: "https://dns.example/dns-query"))
        let resolver = try DNSOverHTTPSResolver(url, transport: transport)
        let error = await #expect(throws: AFError.self) { _ = try await resolver.addresses(of: "a.example") }
        #expect(error?.transportError?.code == .responseTooLarge, "\(String(describing: error))")
    }
}

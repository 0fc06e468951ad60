import Afar
import AfarDNSOverHTTPS
import AfarTestServer
import AfarTesting
import AfarTransport
import AfarURLSession
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
        let error = await #expect(throws: TransportError.self) { _ = try await resolver.addresses(of: "both.test") }
        #expect(error?.code == .certificateUntrusted, "\(String(describing: error))")
        let unknown = try self.resolver(dns, host: "dns.invalid")
        let other = await #expect(throws: TransportError.self) { _ = try await unknown.addresses(of: "both.test") }
        #expect(other?.code == .cannotFindHost, "\(String(describing: other))")
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

    /// Both queries are answered. The responses have been stored by a cache for 40 seconds.
    @Test(arguments: [(100, 60), (30, 0)] as [(UInt8, Int)])
    func theAgeOfAResponseCounts(time: UInt8, expected: Int) async throws {
        let transport = MockTransport(capabilities: Self.all) { request in
            let isA = Self.message(request, 1, [192, 0, 2, 1], time: time)
            let isAAAA = Self.message(request, 28, [UInt8](repeating: 1, count: 16), time: 200)
            return isA.body.count > isAAAA.body.count ? isA : isAAAA
        }
        let url = try #require(URL(string: "https://dns.example/dns-query?token=1"))
        let resolver = try DNSOverHTTPSResolver(url, transport: transport)
        let found = try await resolver.addresses(of: "a.example")
        let addresses = ["101:101:101:101:101:101:101:101", "192.0.2.1"].compactMap { SocketAddress($0) }
        #expect(found == ResolvedAddresses(addresses, timeToLive: .seconds(expected)))
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
        let error = await #expect(throws: TransportError.self) { _ = try await resolver.addresses(of: "a.example") }
        #expect(error?.code == .responseTooLarge, "\(String(describing: error))")
    }

    // MARK: Answers of a real server

    private func resolver(
        _ server: ScriptedDNSServer, path: String = "/dns-query", method: DNSOverHTTPSResolver.Method = .get
    ) throws -> DNSOverHTTPSResolver {
        try DNSOverHTTPSResolver(
            "https://localhost:\(server.port)\(path)", method: method, timeout: 100, transport: try transport())
    }

    /// An answer that never arrives doesn't delay the addresses of the other query, and the result isn't cached.
    @Test(arguments: [1, 28] as [UInt8])
    func oneAnswerIsEnough(answered: UInt8) async throws {
        let address: [UInt8] = answered == 1 ? [192, 0, 2, 1] : [UInt8](repeating: 1, count: 16)
        let server = try await ScriptedDNSServer(try TestCertificates.shared.get()) { _, type in
            type == answered ? .addresses([address], time: 200) : .silence
        }
        var limits = CachingResolver.Limits()
        limits.minimumTimeToLive = .seconds(1_000)
        let cache = CachingResolver(try resolver(server), limits: limits)
        for _ in 0..<2 {
            let found = try await cache.addresses(of: "a.example")
            #expect(found.addresses == [SocketAddress(bytes: address)].compactMap(\.self))
            #expect(!found.isComplete && found.timeToLive == .zero)
        }
        // Without addresses, the other answer is needed.
        let other = try await ScriptedDNSServer(try TestCertificates.shared.get()) { _, type in
            type == answered ? .none(time: 60) : .status(500)
        }
        let error = await #expect(throws: DNSError.self) {
            _ = try await resolver(other).addresses(of: "a.example")
        }
        #expect(error?.reason == .unexpectedResponse(status: 500, contentType: nil))
        await server.stop()
        await other.stop()
    }

    @Test(arguments: DNSOverHTTPSResolver.Method.allCases)
    func aFailedQueryMakesTheResultIncomplete(method: DNSOverHTTPSResolver.Method) async throws {
        let server = try await ScriptedDNSServer(try TestCertificates.shared.get()) { _, type in
            type == 1 ? .addresses([[192, 0, 2, 1]], time: 200) : .status(500)
        }
        let found = try await resolver(server, method: method).addresses(of: "a.example")
        #expect(found.addresses.count == 1 && !found.isComplete && found.timeToLive == .zero)
        await server.stop()
    }

    /// RFC 2308, section 5.
    @Test(arguments: [(60, 60), (250, 200), (nil, 0)] as [(UInt8?, Int)])
    func anAnswerWithoutAddressesIsCachedForTheTimeOfTheZone(time: UInt8?, expected: Int) async throws {
        let server = try await ScriptedDNSServer(try TestCertificates.shared.get()) { host, type in
            type == 1 && host == "four.example" ? .addresses([[192, 0, 2, 1]], time: 255) : .none(time: time)
        }
        let resolver = try resolver(server)
        for host in ["four.example", "none.example"] {
            let found = try await resolver.addresses(of: host)
            #expect(found.isComplete && found.timeToLive == .seconds(expected), "\(host): \(found)")
        }
        let unbound = try await ServerChild.unbound(try TestCertificates.shared.get())
        for host in ["four.test", "text.test", "missing.test"] {
            #expect(try await self.resolver(unbound).addresses(of: host).timeToLive == .seconds(60), "\(host)")
        }
        await server.stop()
    }

    /// The path and the query of the server's URL can be secret.
    @Test(arguments: ["http", "curl", "urlsession"])
    func errorsDoNotContainTheURL(kind: String) async throws {
        let certificates = try TestCertificates.shared.get()
        var configuration = HTTPTransport.Configuration()
        configuration.certificateBundle = certificates.authority
        let transport: any Transport =
            switch kind {
            case "http": HTTPTransport(configuration: configuration)
            case "curl": CurlTransport(configuration: configuration)
            default: URLSessionTransport()
            }
        let path = "/s3cret/path"
        let server = try await ScriptedDNSServer(certificates, path: path) { host, _ in
            switch host {
            case "silent.example": .silence
            case "status.example": .status(500)
            case "loop.example": .redirect(path + "?s3cret")
            case "other.example": .redirect("https://localhost:1/s3cret")
            case "insecure.example": .redirect("http://localhost:1/s3cret")
            default: .redirect("s3cret\\")
            }
        }
        let raw = try await RawServer.start([.send("HTTP/1.1 hello"), .close])
        let hosts = ["silent", "status", "loop", "other", "insecure", "malformed"].map { "\($0).example" }
        let places =
            hosts.map { ($0, "localhost:\(server.port)") }
            + ["localhost:1", "localhost:\(raw.port)", "dns.invalid"]
            .map { ("a.example", $0) }
        var errors = 0
        for (host, place) in places {
            let resolver = try DNSOverHTTPSResolver(
                "https://ann:s3cret@\(place)\(path)?s3cret=s3cret", timeout: 2, transport: transport)
            var settings = SessionConfiguration.default
            settings.resolver = CachingResolver(resolver)
            let session = Session(configuration: settings, transport: HTTPTransport())
            let error = await #expect(throws: (any Error).self) { _ = try await resolver.addresses(of: host) }
            let outer = await session.request("http://\(host)/").serializingString().response.error
            for error in [error, outer].compactMap(\.self) {
                errors += 1
                var text = "\(error) \(error.localizedDescription) \(String(reflecting: error))"
                dump(error, to: &text)
                #expect(!text.contains("s3cret"), "\(host) \(place): \(text)")
            }
        }
        #expect(errors == 2 * places.count)
        await server.stop()
    }

    /// A proxy's name isn't in the list of the bootstrap addresses, so the system looks it up.
    @Test func theSystemLooksUpOtherNamesThanTheServers() async throws {
        let transport = MockTransport(capabilities: Self.all) { Self.message($0, 1, [192, 0, 2, 1], time: 1) }
        let resolver = try DNSOverHTTPSResolver(
            "https://dns.example/", bootstrap: ["192.0.2.53"], transport: transport)
        _ = try await resolver.addresses(of: "a.example")
        let own = try #require(transport.requests.first?.exchange.options.resolver)
        #expect(
            try await own.addresses(of: "dns.example").addresses == [SocketAddress("192.0.2.53")].compactMap(\.self))
        #expect(try await own.addresses(of: "localhost").addresses.isEmpty == false)
    }

    /// A query that takes too long isn't canceled, which would close its connection. A canceled lookup cancels both queries.
    @Test func aSlowQueryContinues() async throws {
        let (starts, started) = AsyncStream<Void>.makeStream()
        let (ends, ended) = AsyncStream<Bool>.makeStream()
        let (gate, opened) = AsyncStream<Void>.makeStream()
        let transport = MockTransport(capabilities: Self.all) { request in
            let isSlow = Self.message(request, 28, [UInt8](repeating: 1, count: 16), time: 1)
            let isFast = Self.message(request, 1, [192, 0, 2, 1], time: 1)
            guard isSlow.body.count > isFast.body.count else { return isFast }
            started.yield()
            for await _ in gate { break }
            ended.yield(Task.isCancelled)
            return isSlow
        }
        let resolver = try DNSOverHTTPSResolver("https://dns.example/", timeout: 1_000, transport: transport)
        #expect(try await resolver.addresses(of: "a.example").isComplete == false)
        opened.yield()
        var (start, end) = (starts.makeAsyncIterator(), ends.makeAsyncIterator())
        #expect(await start.next() != nil)
        #expect(await end.next() == false)
        let task = Task { try await resolver.addresses(of: "a.example") }
        #expect(await start.next() != nil)
        task.cancel()
        #expect(await end.next() == true)
        _ = await task.result
    }
}

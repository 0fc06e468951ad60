import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import TestServers
import Testing

/// Requests through proxies of several kinds.
@Suite(.timeLimit(.minutes(2))) struct ProxyTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func session(
        _ proxies: ProxySettings, over transport: TestedTransport? = nil,
        _ change: (inout SessionConfiguration) -> Void = { _ in }
    ) -> Session {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        var network = NetworkSettings()
        network.proxies = proxies
        configuration.network = network
        change(&configuration)
        return switch transport {
        case .curl:
            Session(configuration: configuration, transport: CurlTransport(configuration: .init(configuration)))
        case .http:
            Session(configuration: configuration, transport: HTTPTransport(configuration: .init(configuration)))
        case nil: Session(configuration: configuration)
        }
    }

    private func failure(_ response: DataResponse<String, AFError>) throws -> TransportError {
        let error = try #require(response.error?.underlyingError as? URLError)
        return try #require(error.userInfo[NSUnderlyingErrorKey] as? TransportError)
    }

    @Test func anHTTPProxyForwardsRequestsAndKeepsItsConnection() async throws {
        let (server, proxy) = (try await TestServer.start(), try await ServerChild.tinyproxy())
        let session = session(.init(try Proxy(host: "127.0.0.1", port: Int(proxy.port))))
        for _ in 0..<3 {
            let response = await session.request(server.url("/get")).serializingString().response
            #expect(response.response?.statusCode == 200)
            #expect(response.metrics?.transactionMetrics.last?.isProxyConnection == true)
        }
        #expect(server.lastRequest(path: "/get")?.headers["Via"]?.contains("tinyproxy") == true)
        let direct = await AF.request(server.url("/get")).serializingString().response
        #expect(direct.metrics?.transactionMetrics.last?.isProxyConnection == false)
        #expect(server.lastRequest(path: "/get")?.headers["Via"] == nil)
    }

    @Test func requestsOverTLSGoThroughATunnel() async throws {
        let server = try await SecureServer(certificates, ["site": .init("good")])
        let proxy = try await ServerChild.tinyproxy()
        let session = session(.init(try Proxy("http://127.0.0.1:\(proxy.port)")))
        let url = try server.url("site")
        #expect(try await session.request(url).serializingString().value.contains("none"))
        #expect(try await session.request(url).serializingString().value.contains("none"))
        #expect(proxy.output.contains("CONNECT localhost:\(try #require(url.port))"))
        #expect(proxy.output.components(separatedBy: "Request (file descriptor").count == 2)
    }

    @Test func anErrorNamesTheProxyButNotItsCredential() async throws {
        func server(_ script: [RawServer.Step]) async throws -> RawServer {
            try await RawServer.start(scripts: Array(repeating: script, count: 4))
        }
        let closing = try await server([.receiveHead, .close])
        let silent = try await server([.receiveHead])
        let garbled = try await server([.respond("nonsense\r\n\r\n"), .close])
        let refused = try ClosedPort()
        let unaccepting = try UnacceptingPort()
        for port in [closing.port, silent.port, garbled.port, refused.number, unaccepting.number] {
            for scheme in ["http", "https"] {
                let session = session(.init(try Proxy("http://ann:scret@127.0.0.1:\(port)")))
                let response = await session.request("\(scheme)://origin.example/")
                    .options { ($0.connectTimeout, $0.idleTimeout) = (0.2, 0.2) }.serializingString().response
                let error = try failure(response)
                #expect(error.message.contains("http://127.0.0.1:\(port)"), "\(error)")
                #expect(!"\(error)".contains("scret"))
            }
        }
    }

    @Test func anEvaluatorDecidesThroughATunnel() async throws {
        let server = try await SecureServer(certificates, ["site": .init("good"), "other": .init("wrong-host")])
        let proxy = try await ServerChild.tinyproxy()
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        configuration.network = .init()
        configuration.network?.proxies = .init(try Proxy("http://127.0.0.1:\(proxy.port)"))
        let session = Session(
            configuration: configuration,
            serverTrustManager: ServerTrustManager(evaluators: ["localhost": DefaultTrustEvaluator()]))
        #expect(try await session.request(server.url("site")).serializingString().value.contains("none"))
        let refused = await session.request(try server.url("other")).serializingString().response
        #expect(refused.error?.isServerTrustEvaluationError == true)
    }

    @Test(arguments: ["http", "socks5"])
    func theCredentialIsSentOnlyToTheProxy(kind: String) async throws {
        let (server, secure) = (
            try await TestServer.start(), try await SecureServer(certificates, ["site": .init("good")])
        )
        let proxy =
            kind == "http"
            ? try await ServerChild.tinyproxy(user: "ann scret")
            : try await ServerChild.microsocks(user: ("ann", "scret"))
        let good = session(.init(try Proxy("\(kind)://ann:scret@127.0.0.1:\(proxy.port)")))
        #expect(await good.request(server.url("/get")).serializingString().response.response?.statusCode == 200)
        #expect(server.lastRequest(path: "/get")?.headers["Proxy-Authorization"] == nil)
        #expect(try await good.request(secure.url("site")).serializingString().value.contains("none"))
        let bad = session(.init(try Proxy("\(kind)://ann:wr0ng@127.0.0.1:\(proxy.port)")))
        let refused = await bad.request(try secure.url("site")).serializingString().response
        let failure = try failure(refused)
        #expect(failure.code == .proxyFailed)
        #expect(failure.description.contains("127.0.0.1:\(proxy.port)"))
        #expect(!"\(refused)".contains("wr0ng") && !"\(failure)".contains("wr0ng"))
        let unknown = session(.init(try Proxy("\(kind)://127.0.0.1:\(proxy.port)")))
        let plain = await unknown.request(server.url("/get")).serializingString().response
        if kind == "http" {
            #expect(plain.response?.statusCode == 407)
        } else {
            #expect(try self.failure(plain).code == .proxyFailed)
        }
        #expect(server.requestCount(path: "/get") == 1)
    }

    @Test func aTunnelIsNotSharedAcrossCredentials() async throws {
        let server = try await SecureServer(certificates, ["site": .init("good")])
        let proxy = try await ServerChild.tinyproxy(user: "ann secret")
        let session = session(.init(try Proxy("127.0.0.1:\(proxy.port)")))
        let url = try server.url("site")
        let good: HTTPHeaders = ["Proxy-Authorization": "Basic " + Data("ann:secret".utf8).base64EncodedString()]
        #expect(try await session.request(url, headers: good).serializingString().value.contains("none"))
        #expect(try failure(await session.request(url).serializingString().response).code == .proxyFailed)
        let own = try Proxy("http://ann:secret@127.0.0.1:\(proxy.port)")
        let other = session.request(url).options { options in
            options.network = .init()
            options.network?.proxies = .init(own)
        }
        #expect(try await other.serializingString().value.contains("none"))
        #expect(try failure(await session.request(url).serializingString().response).code == .proxyFailed)
    }

    @Test func proxyFieldsNeverReachAServer() async throws {
        let (server, proxy) = (try await TestServer.start(), try await ServerChild.tinyproxy(user: "ann secret"))
        let socks = try await ServerChild.microsocks()
        let secure = try await SecureServer(certificates, ["site": .init("good")])
        let fields: HTTPHeaders = ["Proxy-Authorization": "Basic " + Data("ann:secret".utf8).base64EncodedString()]
        let proxied = session(.init(try Proxy("127.0.0.1:\(proxy.port)")))
        let sessions = [session(.none), proxied, session(.init(try Proxy("socks5h://127.0.0.1:\(socks.port)")))]
        for session in sessions {
            let response = await session.request(server.url("/get"), headers: fields).serializingString().response
            #expect(response.response?.statusCode == 200)
            #expect(server.lastRequest(path: "/get")?.headers["Proxy-Authorization"] == nil)
        }
        let tunnel = await proxied.request(try secure.url("site"), headers: fields).serializingString().response
        #expect(tunnel.response?.statusCode == 200)
    }

    @Test(arguments: ["socks5", "socks5h"])
    func aSOCKSProxySupportsBothSchemes(kind: String) async throws {
        let (server, secure) = (
            try await TestServer.start(), try await SecureServer(certificates, ["site": .init("good")])
        )
        let proxy = try await ServerChild.microsocks()
        let session = session(.init(try Proxy("\(kind)://localhost:\(proxy.port)")))
        let response = await session.request(server.url("/get")).serializingString().response
        #expect(response.response?.statusCode == 200)
        #expect(response.metrics?.transactionMetrics.last?.isProxyConnection == true)
        #expect(try await session.request(secure.url("site")).serializingString().value.contains("none"))
        #expect(proxy.output.contains("connected to"))
    }

    @Test func aProxyOverTLSIsVerified() async throws {
        let (server, secure) = (
            try await TestServer.start(), try await SecureServer(certificates, ["site": .init("good")])
        )
        let proxy = try await ServerChild.apache(certificates)
        let proxies = ProxySettings(try Proxy("https://localhost:\(proxy.port)"))
        let good = session(proxies)
        #expect(await good.request(server.url("/get")).serializingString().response.response?.statusCode == 200)
        #expect(server.lastRequest(path: "/get")?.headers["Via"] != nil)
        #expect(try await good.request(secure.url("site")).serializingString().value.contains("none"))
        let distrustful = session(proxies) { $0.certificateBundle = nil }
        for url in [server.url("/get"), try secure.url("site")] {
            let refused = await distrustful.request(url).serializingString().response
            #expect(try [.certificateHasUnknownRoot, .certificateUntrusted].contains(failure(refused).code))
        }
        #expect(server.requestCount(path: "/get") == 1)
    }

    /// The request would reveal the proxy's credential.
    @Test(arguments: TestedTransport.allCases)
    func aProxyWithATooLowTLSVersionReceivesNoRequest(over transport: TestedTransport) async throws {
        let proxy = try await RawServer.start([.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")])
        let relay = try TLSRelay(to: proxy.port, certificates, isTLS13: false)
        let address = "localhost:\(try #require(relay.url.port))"
        let session = session(.init(try Proxy("https://ann:secret@\(address)")), over: transport)
        #expect(try await session.request("http://origin.example/").serializingString().value == "done")
        for (connection, scheme) in [(1, "http"), (2, "https")] {
            let response = await session.request("\(scheme)://origin.example/")
                .options { $0.minimumTLSVersion = .v13 }.serializingString().response
            let failure = try failure(response)
            #expect(failure.code == .secureConnectionFailed, "\(failure)")
            #expect(failure.message.contains(address), "\(failure)")
            // The relay opens a connection before the handshake.
            try await proxy.peerClosed(connection)
            #expect(proxy.received(by: connection).isEmpty)
        }
    }

    @Test func connectingIncludesTheTLSHandshakeWithTheProxy() async throws {
        let proxy = try await RawServer.start([.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")])
        let helloDate = Locked<Date?>(nil)
        let relay = try TLSRelay(to: proxy.port, certificates) { helloDate.withLock { $0 = Date() } }
        let session = session(.init(try Proxy("https://localhost:\(try #require(relay.url.port))")))
        let response = await session.request("http://origin.example/").serializingString().response
        #expect(response.value == "done")
        let metrics = try #require(response.metrics?.transactionMetrics.last)
        let (end, hello) = (try #require(metrics.connectEndDate), try #require(helloDate.withLock { $0 }))
        #expect(end > hello)
        #expect(metrics.secureConnectionStartDate == nil && metrics.secureConnectionEndDate == nil)
    }

    @Test func aRefusedTunnelHasNoTLSDates() async throws {
        let proxy = try await RawServer.start([.respond("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")])
        let session = session(.init(try Proxy("http://127.0.0.1:\(proxy.port)")))
        let response = await session.request("https://origin.example/").serializingString().response
        #expect(try failure(response).code == .proxyFailed)
        let metrics = try #require(response.metrics?.transactionMetrics.last)
        #expect(metrics.isProxyConnection && metrics.connectStartDate != nil)
        #expect(metrics.secureConnectionStartDate == nil && metrics.secureConnectionEndDate == nil)
        #expect(metrics.connectEndDate == nil)
    }

    @Test func everyHopUsesTheProxyOfItsHost() async throws {
        let (first, second) = (try await TestServer.start(), try await TestServer.start())
        let proxy = try await ServerChild.tinyproxy()
        let session = session(
            .init(try Proxy("127.0.0.1:\(proxy.port)"), exclusions: ["127.0.0.1:\(try #require(second.url.port))"]))
        let target = second.url("/get").absoluteString
        let response = await session.request(first.url("/redirect-to?url=\(target)")).serializingString().response
        #expect(response.response?.statusCode == 200)
        #expect(response.metrics?.transactionMetrics.map(\.isProxyConnection) == [true, false])
        #expect(second.lastRequest(path: "/get")?.headers["Via"] == nil)
    }

    @Test(arguments: ["http", "https", "socks5", "socks5h"])
    func anUnreachableProxyIsNamed(kind: String) async throws {
        let port = try ClosedPort()
        for url in ["http://origin.example/", "https://origin.example/"] {
            for host in ["127.0.0.1", "proxy.invalid"] {
                let session = session(.init(try Proxy("\(kind)://ann:secret@\(host):\(port.number)")))
                let failure = try failure(await session.request(url).serializingString().response)
                #expect(failure.code == .proxyFailed, "\(failure)")
                #expect(failure.description.contains(host), "\(failure)")
                #expect(!failure.description.contains("secret"))
            }
        }
    }

    @Test func anUnresolvedHostIsNotAProxyError() async throws {
        let proxy = try await ServerChild.microsocks()
        let session = session(.init(try Proxy("socks5://127.0.0.1:\(proxy.port)")))
        let failure = try failure(await session.request("http://origin.invalid/").serializingString().response)
        #expect(failure.code == .cannotFindHost, "\(failure)")
    }

    @Test func aSOCKSProxyThatLooksUpHostsReceivesTheName() async throws {
        let name = Array("origin.invalid".utf8)
        let proxy = try await RawServer.start([
            .receive(3), .send([5, 0]), .receive(7 + name.count), .send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"),
        ])
        let session = session(.init(try Proxy("socks5h://127.0.0.1:\(proxy.port)")))
        #expect(try await session.request("http://origin.invalid:258/").serializingString().value == "done")
        let bytes: [UInt8] = [5, 1, 0] + [5, 1, 0, 3, UInt8(name.count)] + name + [1, 2]
        #expect(proxy.received(by: 0).starts(with: bytes + Array("GET / HTTP/1.1\r\n".utf8)))
    }

    /// Starts a SOCKS 5 proxy that replies to requests for `::1` and `127.0.0.1`, the addresses of `localhost`, in this
    /// order (RFC 1928, section 6). After the reply 0, it acts as the host.
    private func socksProxy(replies: UInt8...) async throws -> RawServer {
        let scripts = zip([22, 10], replies).map { length, reply -> [RawServer.Step] in
            [.receive(3), .send([5, 0]), .receive(length), .send([5, reply, 0, 1, 0, 0, 0, 0, 0, 0])]
                + (reply == 0 ? [.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")] : [])
        }
        return try await RawServer.start(scripts: scripts)
    }

    @Test(arguments: [4, 5] as [UInt8])
    func aRejectedAddressIsFollowedByTheNextOverANewConnection(reply: UInt8) async throws {
        let proxy = try await socksProxy(replies: reply, 0)
        let session = session(.init(try Proxy("socks5://127.0.0.1:\(proxy.port)")))
        #expect(try await session.request("http://localhost:258/").serializingString().value == "done")
        try await proxy.peerClosed(0)
        let method: [UInt8] = [5, 1, 0]
        let ipv6 = Array(repeating: 0, count: 15) + [1 as UInt8]
        #expect(proxy.received(by: 0) == Data(method + [5, 1, 0, 4] + ipv6 + [1, 2]))
        #expect(proxy.received(by: 1).starts(with: method + [5, 1, 0, 1, 127, 0, 0, 1, 1, 2]))
        #expect(proxy.connectionCount == 2 && proxy.requests.count == 1)
    }

    @Test(arguments: [([4, 5], "refused the connection"), ([5, 4], "host is unreachable")] as [([UInt8], String)])
    func ifAllAddressesAreRejectedTheErrorNamesTheLastReason(replies: [UInt8], reason: String) async throws {
        let proxy = try await socksProxy(replies: replies[0], replies[1])
        let session = session(.init(try Proxy("socks5://127.0.0.1:\(proxy.port)")))
        let response = await session.request("http://localhost:258/").serializingString().response
        let failure = try failure(response)
        #expect(failure.code == .proxyFailed)
        #expect(failure.message.contains(reason) && failure.message.contains("127.0.0.1:\(proxy.port)"), "\(failure)")
        // The connection to the proxy was never ready for the request.
        let metrics = try #require(response.metrics?.transactionMetrics.last)
        #expect(metrics.connectStartDate != nil && metrics.connectEndDate == nil)
        try #require(proxy.connectionCount == 2)
        for connection in 0..<2 { try await proxy.peerClosed(connection) }
    }

    @Test func manyConcurrentRequests() async throws {
        let (server, proxy) = (try await TestServer.start(), try await ServerChild.tinyproxy())
        let session = session(.init(try Proxy("127.0.0.1:\(proxy.port)")))
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await session.request(server.url("/get")).serializingString().response.response?.statusCode
                }
            }
            for try await status in group { #expect(status == 200) }
        }
    }

    @Test func anInvalidEnvironmentProxyFailsItsRequests() async throws {
        let server = try await TestServer.start()
        let session = session(
            ProxySettings(environment: ["https_proxy": "gopher://ann:secret@x", "no_proxy": "b.example"]))
        #expect(await session.request(server.url("/get")).serializingString().response.response?.statusCode == 200)
        let failure = try failure(await session.request("https://a.example/").serializingString().response)
        #expect(failure.code == .invalidUse)
        #expect(failure.description.contains("https_proxy") && !failure.description.contains("secret"))
    }

    @Test func foundationsDictionaryIsSupported() async throws {
        let (server, proxy) = (try await TestServer.start(), try await ServerChild.tinyproxy())
        let foundation = URLSessionConfiguration.ephemeral
        foundation.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port),
        ]
        let session = Session(configuration: foundation)
        #expect(await session.request(server.url("/get")).serializingString().response.response?.statusCode == 200)
        #expect(server.lastRequest(path: "/get")?.headers["Via"] != nil)
    }
}

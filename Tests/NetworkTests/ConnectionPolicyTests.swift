import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import HTTPTypes
import TestServers
import Testing

/// Policies of connections, over both transports.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ConnectionPolicyTests {
    @Test(arguments: TestedTransport.allCases)
    func aRefusedConnectionIsNotOpened(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let policy = RecordingPolicy.refusingAll()
        let session = try transport.session(policy)
        let error = try await session.refusal(of: server.url("/get"))
        #expect(error.phase == .connecting && error.peer == "127.0.0.1:\(port)")
        #expect(
            error.message == "the connection to 127.0.0.1 (127.0.0.1:\(port)) is not allowed: it is a test", "\(error)")
        #expect(server.connectionCount == 0)
        let address = try #require(SocketAddress("127.0.0.1", port: port))
        #expect(
            policy.candidates == [
                ConnectionCandidate(scheme: "http", host: "127.0.0.1", port: port, address: address)
            ])
    }

    @Test(arguments: TestedTransport.allCases)
    func anAllowedConnectionIsDecidedOnce(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let policy = RecordingPolicy.allowingAll()
        let session = try transport.session(policy)
        for count in 0..<3 {
            let outcome = try await session.outcome(of: server.url("/get"))
            #expect(outcome.status == 200 && outcome.isReused == (count > 0))
        }
        #expect(policy.candidates.count == 1 && server.connectionCount == 1)
    }

    /// `localhost` has an address of each family.
    @Test(arguments: TestedTransport.allCases)
    func aRefusedAddressIsSkipped(over transport: TestedTransport) async throws {
        let server = try await ServerChild.nginxOnBothFamilies()
        for (refused, other) in [("::1", "127.0.0.1"), ("127.0.0.1", "::1")] {
            let bytes = SocketAddress(refused)?.bytes
            let policy = RecordingPolicy { $0.address?.bytes == bytes ? "it is a test" : nil }
            let session = try transport.session(policy)
            let response = await session.request("http://localhost:\(server.port)/").serializingString().response
            #expect(response.value == "localhost \(other)", "\(response)")
            #expect(policy.candidates.contains { $0.address?.bytes == SocketAddress(other)?.bytes })
            #expect(policy.candidates.allSatisfy { $0.host == "localhost" && $0.route == .direct })
        }
    }

    @Test(arguments: TestedTransport.allCases)
    func aRefusalIsTheErrorOnlyIfNothingElseFailed(over transport: TestedTransport) async throws {
        let port = try ClosedPort()
        let bytes = SocketAddress("::1")?.bytes
        let policy = RecordingPolicy { $0.address?.bytes == bytes ? "it is a test" : nil }
        let session = try transport.session(policy)
        let response = await session.request("http://localhost:\(port.number)/").serializingString().response
        #expect(response.error?.transportError?.code == .cannotConnect, "\(response)")
        let refusing = try transport.session(.refusingAll())
        let error = try await refusing.refusal(of: "http://localhost:\(port.number)/")
        #expect(error.message.hasPrefix("the connection to localhost ("), "\(error)")
    }

    @Test(arguments: TestedTransport.allCases)
    func everyHopIsDecided(over transport: TestedTransport) async throws {
        let (first, second) = (try await TestServer.start(), try await TestServer.start())
        let (firstPort, port) = (try #require(first.url.port), try #require(second.url.port))
        let policy = RecordingPolicy { $0.port == port ? "it is a test" : nil }
        let session = try transport.session(policy)
        let target = second.url("/get").absoluteString
        let error = try await session.refusal(of: first.url("/redirect-to?url=\(target)"))
        #expect(error.url == target && error.peer == "127.0.0.1:\(port)")
        #expect(policy.candidates.map(\.port) == [firstPort, port])
        #expect(first.connectionCount == 1 && second.connectionCount == 0)
    }

    @Test(arguments: TestedTransport.allCases)
    func aKeptConnectionServesOnlyItsPolicy(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let session = try transport.session(nil)
        let (one, other) = (RecordingPolicy.allowingAll(), RecordingPolicy.allowingAll())
        for (policy, isReused) in [(nil, false), (one, false), (other, false), (nil, true), (one, true)] {
            #expect(try await session.outcome(of: server.url("/get"), policy).isReused == isReused)
        }
        try await session.refusal(of: server.url("/get")) { $0.connectionPolicy = RecordingPolicy.refusingAll() }
        #expect(server.connectionCount == 3 && one.candidates.count == 1 && other.candidates.count == 1)
    }

    @Test(arguments: TestedTransport.allCases)
    func aKeptConnectionOverTLSServesOnlyItsPolicy(over transport: TestedTransport) async throws {
        let server = try await SecureServer(
            try TestCertificates.shared.get(), ["site": .init("good"), "shared": .init("good", speaksHTTP2: true)])
        let session = try transport.session(nil) { $0.httpVersion = .http2 }
        for site in ["site", "shared"] {
            let url = try server.url(site)
            let policy = RecordingPolicy.allowingAll()
            #expect(try await session.outcome(of: url).isReused == false)
            #expect(try await session.outcome(of: url, policy).isReused == false)
            #expect(try await session.outcome(of: url, policy).isReused == true)
            #expect(try await session.outcome(of: url).isReused == true)
            #expect(policy.candidates.last?.scheme == "https")
            let refusing = RecordingPolicy.refusingAll()
            try await session.refusal(of: url) { $0.connectionPolicy = refusing }
            #expect(refusing.candidates.last?.address?.port == url.port)
        }
    }

    /// The transport would send the request again over a new connection.
    @Test(arguments: TestedTransport.allCases)
    func aReplacementForALostConnectionIsDecided(over transport: TestedTransport) async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"
        let server = try await RawServer.start([.respond(answer), .receiveHead, .close])
        let isOpen = Locked(true)
        let policy = RecordingPolicy { _ in isOpen.withLock { $0 } ? nil : "it is a test" }
        let session = try transport.session(policy)
        #expect(try await session.outcome(of: server.url).status == 200)
        isOpen.withLock { $0 = false }
        try await session.refusal(of: server.url)
        #expect(server.connectionCount == 1 && server.requests.count == 2 && policy.candidates.count == 2)
    }

    /// The decision is about the address that the system's functions derive from the text.
    @Test(
        arguments: TestedTransport.allCases,
        [
            "127.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "0", "[::1]", "[0:0::1]",
            "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::]", "localhost", "localhost.", "LOCALHOST",
            "a.localhost", "127.0.0.1.", "[fe80::1%25lo]",
        ])
    func addressesInUnusualFormsAreDecided(over transport: TestedTransport, host: String) async throws {
        let policy = RecordingPolicy.refusingAll()
        var options = ExchangeOptions()
        options.connectionPolicy = policy
        let exchange = Exchange(
            request: HTTPRequest(method: .get, scheme: "http", authority: "\(host):81", path: "/"), options: options)
        let sender = try transport.session(nil).transport
        let error = await #expect(throws: TransportError.self) { _ = try await sender.send(exchange) }
        // Some texts are neither names nor addresses.
        if policy.candidates.isEmpty {
            #expect([.cannotFindHost, .invalidURL].contains(error?.code), "\(String(describing: error))")
        } else {
            #expect(error?.code == .refusedByPolicy, "\(String(describing: error))")
        }
        let local: Set<[UInt8]?> = Set(
            ["127.0.0.1", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "::", "0.0.0.0", "fe80::1"].map {
                SocketAddress($0)?.bytes
            })
        #expect(policy.candidates.allSatisfy { local.contains($0.address?.bytes) }, "\(policy.candidates)")
    }

    /// Refused addresses don't take time, so the connect timeout doesn't end the request.
    @Test(arguments: TestedTransport.allCases)
    func manyRefusedAddressesAreSkipped(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let refused = (1...99).compactMap { SocketAddress(bytes: [127, 0, 1, $0]) }
        let addresses = refused + [SocketAddress("127.0.0.1")].compactMap(\.self)
        let policy = RecordingPolicy { $0.address?.bytes?[2] == 1 ? "it is a test" : nil }
        let session = try transport.session(policy) { $0.resolver = RecordingResolver { _ in addresses } }
        let response = await session.request("http://api.example:\(port)/get").serializingString().response
        #expect(response.response?.statusCode == 200, "\(response)")
        #expect(policy.candidates.count == 100)
        let closed = try transport.session(RecordingPolicy.refusingAll()) {
            $0.resolver = RecordingResolver { _ in addresses }
        }
        let error = try await closed.refusal(of: "http://api.example:\(port)/get")
        #expect(error.message.contains("api.example (127.0.1.1:\(port))"), "\(error)")
        await server.stop()
    }

    @Test func aPolicyAppliesToStreamsAndWebSockets() async throws {
        let raw = try await RawServer.start([.waitForever])
        let secure = try await SecureServer(try TestCertificates.shared.get(), ["site": .init("good")])
        let sockets = try await ServerChild.webSockets()
        let policy = RecordingPolicy.refusingAll()
        let session = try TestedTransport.http.session(policy)
        let securePort = try #require(try secure.url("site").port)
        for (port, isSecure) in [(Int(raw.port), false), (securePort, true)] {
            let stream = session.stream(withHostName: "127.0.0.1", port: port, isSecure: isSecure)
            let error = await #expect(throws: AFError.self) { try await stream.write(Data("x".utf8)) }
            #expect(error?.transportError?.code == .refusedByPolicy, "\(String(describing: error))")
        }
        let socket = session.webSocketRequest(to: "ws://127.0.0.1:\(sockets.port)/echo").webSocketTask()
        var messages = socket.messages.makeAsyncIterator()
        let error = await #expect(throws: AFError.self) { _ = try await messages.next() }
        #expect(error?.transportError?.code == .refusedByPolicy, "\(String(describing: error))")
        #expect(raw.connectionCount == 0)
        #expect(policy.candidates.map(\.scheme) == ["http", "https", "http"])
        #expect(policy.candidates.map(\.port) == [Int(raw.port), securePort, Int(sockets.port)])
        let open = try TestedTransport.http.session(RecordingPolicy.allowingAll())
        let stream = open.stream(withHostName: "127.0.0.1", port: Int(raw.port))
        try await stream.write(Data("x".utf8))
        stream.cancel()
    }

    /// Without a policy, the WebSocket would share the open connection (RFC 8441).
    @Test func aWebSocketSharesOnlyConnectionsOfItsPolicy() async throws {
        let backend = try await ServerChild.webSockets()
        let proxy = try await ServerChild.nghttpx(try TestCertificates.shared.get(), backend: backend.port)
        let session = try TestedTransport.http.session(nil)
        let authority = "localhost:\(proxy.port)"
        let response = await session.request("https://\(authority)/missing").serializingData().response
        #expect(response.metrics?.transactionMetrics.last?.networkProtocolName == "h2")
        let policy = RecordingPolicy.refusingAll()
        let refused = session.webSocketRequest(to: "wss://\(authority)/echo")
            .options { $0.connectionPolicy = policy }.webSocketTask()
        var messages = refused.messages.makeAsyncIterator()
        let error = await #expect(throws: AFError.self) { _ = try await messages.next() }
        #expect(error?.transportError?.code == .refusedByPolicy, "\(String(describing: error))")
        #expect(!policy.candidates.isEmpty)
        let socket = session.webSocketRequest(to: "wss://\(authority)/echo").webSocketTask()
        try await socket.send(.string("hello"))
        messages = socket.messages.makeAsyncIterator()
        guard case .string("hello") = try await messages.next() else { Issue.record("no echo arrived"); return }
        socket.close(sending: .normalClosure)
    }

    /// HTTP/3 uses UDP.
    @Test(.enabled(if: CurlTransport().capabilities.features.contains(.http3), "libcurl doesn't support HTTP/3"))
    func connectionsOverHTTP3AreDecided() async throws {
        let policy = RecordingPolicy.refusingAll()
        let session = try TestedTransport.curl.session(policy) { $0.httpVersion = .http3 }
        let error = try await session.refusal(of: "https://127.0.0.1:9/")
        #expect(error.peer == "127.0.0.1:9" && policy.candidates.first?.scheme == "https", "\(error)")
    }

    @Test func requestsCanHaveTheirOwnPolicy() async throws {
        let server = try await TestServer.start()
        let session = try TestedTransport.http.session(RecordingPolicy.refusingAll())
        // Other network settings don't replace the policy.
        try await session.refusal(of: server.url("/get")) { $0.network = NetworkSettings() }
        try await session.refusal(of: server.url("/get")) { $0.network?.addressFamily = .ipv4 }
        #expect(server.connectionCount == 0)
        let response = await session.request(server.url("/get")).options { $0.connectionPolicy = .some(nil) }
            .serializingString().response
        #expect(response.response?.statusCode == 200)
        #expect(try await session.outcome(of: server.url("/get"), .allowingAll()).status == 200)
    }
}

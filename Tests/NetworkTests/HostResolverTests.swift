import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import AfarURLSession
import Foundation
import HTTPTypes
import TestServers
import Testing

/// Resolvers, over both transports.
@Suite(.serialized, .timeLimit(.minutes(2))) struct HostResolverTests {
    private static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    @Test(arguments: TestedTransport.allCases)
    func theAddressesOfTheResolverAreUsed(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let resolver = RecordingResolver("127.0.0.1")
        let session = try transport.session(resolver: resolver)
        for count in 0..<3 {
            let response = await session.request("http://API.example.:\(port)/headers").serializingString().response
            #expect(response.response?.statusCode == 200, "\(response)")
            #expect(response.value?.lowercased().contains("api.example.:\(port)") == true, "\(response)")
            let metrics = try #require(response.metrics?.transactionMetrics.last)
            #expect(metrics.isReusedConnection == (count > 0) && metrics.remoteAddress == "127.0.0.1")
        }
        #expect(resolver.hosts == ["api.example"] && server.connectionCount == 1)
    }

    @Test(arguments: TestedTransport.allCases)
    func eachConnectionIsLookedUp(over transport: TestedTransport) async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        let server = try await RawServer.start([.respond(answer), .close])
        let resolver = RecordingResolver("127.0.0.1")
        let session = try transport.session(resolver: resolver)
        for _ in 0..<3 {
            let url = try #require(URL(string: "http://api.example:\(server.port)/"))
            #expect(try await session.outcome(of: url).isReused == false)
        }
        #expect(resolver.hosts.count == 3 && server.connectionCount == 3)
    }

    /// The transport sends the request again over a new connection, which needs another lookup.
    @Test(arguments: TestedTransport.allCases)
    func aReplacementForALostConnectionIsLookedUp(over transport: TestedTransport) async throws {
        let server = try await RawServer.start([.respond(Self.hello), .receiveHead, .close])
        let resolver = RecordingResolver("127.0.0.1")
        let session = try transport.session(resolver: resolver)
        let url = "http://api.example:\(server.port)/"
        for _ in 0..<2 {
            let response = await session.request(url).serializingString().response
            #expect(response.value == "hello", "\(response)")
        }
        #expect(resolver.hosts.count == 2 && server.connectionCount == 2)
        let body = Data(repeating: 0x61, count: 100_000)
        let response = await session.upload(body, to: url, method: .put).serializingString().response
        #expect(response.value == "hello", "\(response)")
        #expect(resolver.hosts.count == 3 && server.connectionCount == 3)
    }

    @Test(arguments: TestedTransport.allCases)
    func addressesAndLocalNamesAreNotLookedUp(over transport: TestedTransport) async throws {
        let server = try await ServerChild.nginxOnBothFamilies()
        let resolver = RecordingResolver()
        let session = try transport.session(resolver: resolver)
        for host in ["127.0.0.1", "[::1]", "localhost", "LOCALHOST", "a.localhost", "localhost."] {
            let url = try #require(URL(string: "http://\(host):\(server.port)/"))
            #expect(try await session.outcome(of: url).status == 200, "\(host)")
        }
        #expect(resolver.hosts.isEmpty)
    }

    @Test(arguments: TestedTransport.allCases)
    func namesAreLookedUpInASCII(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let resolver = RecordingResolver("127.0.0.1")
        let session = try transport.session(resolver: resolver)
        let port = try #require(server.url.port)
        let url = "http://b\u{FC}cher.example:\(port)/get"
        let response = await session.request(url).serializingString().response
        #expect(response.response?.statusCode == 200, "\(response)")
        #expect(resolver.hosts == ["xn--bcher-kva.example"])
    }

    @Test(arguments: TestedTransport.allCases)
    func aFailureNamesTheResolverAndTheHost(over transport: TestedTransport) async throws {
        struct Outage: Error {}
        let failing = try transport.session(resolver: RecordingResolver { _ in throw Outage() })
        let error = try #require(
            await failing.request("http://api.example/").serializingString().response.error?.transportError)
        #expect(error.code == .cannotFindHost && error.phase == .resolving && error.underlying is Outage, "\(error)")
        #expect(error.message == "the resolver RecordingResolver could not look up the host \"api.example\"")
        let empty = try transport.session(resolver: RecordingResolver())
        let missing = try #require(
            await empty.request("http://api.example/").serializingString().response.error?.transportError)
        #expect(missing.code == .cannotFindHost && missing.phase == .resolving, "\(missing)")
        #expect(missing.message == "the resolver RecordingResolver found no address for the host \"api.example\"")
    }

    private static let many = (0..<5_000).compactMap {
        SocketAddress(bytes: [127, 0, UInt8($0 / 250), UInt8($0 % 250 + 1)])
    }

    @Test(arguments: TestedTransport.allCases)
    func thousandsOfAddressesAreAccepted(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let session = try transport.session(resolver: RecordingResolver { _ in Self.many })
        let response = await session.request("http://api.example:\(port)/get").serializingString().response
        #expect(response.response?.statusCode == 200, "\(response)")
    }

    @Test func duplicatesAndManyAddressesAreLimited() async throws {
        let policy = RecordingPolicy { _ in "it is a test" }
        let session = try TestedTransport.http.session(policy) {
            $0.resolver = RecordingResolver { _ in Self.many + Self.many }
        }
        try await session.refusal(of: "http://api.example:9/")
        #expect(Set(policy.candidates.map(\.address)).count == policy.candidates.count)
        #expect(policy.candidates.count == 100)
    }

    /// The policy decides about the addresses of a resolver.
    @Test(arguments: TestedTransport.allCases)
    func aRefusedAddressIsNotUsed(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let policy = RecordingPolicy.refusingAll()
        let session = try transport.session(policy) { $0.resolver = RecordingResolver("127.0.0.1") }
        let error = try await session.refusal(of: "http://api.example:\(port)/get")
        #expect(error.message.contains("api.example (127.0.0.1:\(port))"), "\(error)")
        #expect(policy.candidates.count == 1 && server.connectionCount == 0)
    }

    @Test(arguments: TestedTransport.allCases)
    func aConnectTimeoutEndsALookup(over transport: TestedTransport) async throws {
        let resolver = SilentResolver()
        let session = try transport.session(resolver: resolver) { $0.timeoutIntervalForConnect = 0.2 }
        let response = await session.request("http://api.example/").serializingString().response
        let error = try #require(response.error?.transportError)
        #expect(error.code == .timedOut && error.phase == .resolving, "\(error)")
        #expect(error.message.contains("connect timeout"))
        var events = resolver.events.makeAsyncIterator()
        #expect(await events.next() == "start")
        #expect(await events.next() == "cancel")
    }

    @Test(arguments: TestedTransport.allCases)
    func aCancellationEndsALookup(over transport: TestedTransport) async throws {
        let resolver = SilentResolver()
        let session = try transport.session(resolver: resolver)
        let request = session.request("http://api.example/")
        async let response = request.serializingString().response
        var events = resolver.events.makeAsyncIterator()
        #expect(await events.next() == "start")
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
        #expect(await events.next() == "cancel")
    }

    /// Nothing retains a transport except its users, even if a lookup never ends.
    @Test(arguments: TestedTransport.allCases)
    func aLookupThatNeverEndsDoesNotRetainItsSession(over transport: TestedTransport) async throws {
        let resolver = SilentResolver()
        weak var released: Session?
        do {
            let session = try transport.session(resolver: resolver) { $0.timeoutIntervalForConnect = 0.1 }
            released = session
            _ = await session.request("http://api.example/").serializingString().response
        }
        for _ in 0..<500 where released != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(released == nil)
    }

    @Test(arguments: TestedTransport.allCases)
    func aConnectionServesOnlyItsResolver(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let url = try #require(URL(string: "http://api.example:\(port)/get"))
        let (one, other) = (RecordingResolver("127.0.0.1"), RecordingResolver("127.0.0.1"))
        let session = try transport.session(resolver: nil)
        func reuse(_ resolver: RecordingResolver) async throws -> Bool? {
            let response = await session.request(url).options { $0.resolver = resolver }.serializingString().response
            if let error = response.error { throw error }
            return response.metrics?.transactionMetrics.last?.isReusedConnection
        }
        for (resolver, isReused) in [(one, false), (other, false), (one, true), (other, true)] {
            #expect(try await reuse(resolver) == isReused)
        }
        #expect(one.hosts.count == 1 && other.hosts.count == 1 && server.connectionCount == 2)
        // Neither the connections nor the addresses of other resolvers are used.
        for resolver in [RecordingResolver("127.0.0.9"), nil] {
            let response = await session.request(url).options { $0.resolver = resolver }.serializingString().response
            let code = response.error?.transportError?.code
            #expect(code == (resolver == nil ? .cannotFindHost : .cannotConnect), "\(response)")
        }
    }

    @Test(arguments: TestedTransport.allCases)
    func theAddressFamilyApplies(over transport: TestedTransport) async throws {
        let server = try await ServerChild.nginxOnBothFamilies()
        let url = "http://api.example:\(server.port)/"
        for (family, address) in [(NetworkSettings.AddressFamily.ipv4, "127.0.0.1"), (.ipv6, "::1")] {
            let session = try transport.session(resolver: RecordingResolver("127.0.0.1", "::1")) {
                $0.network = NetworkSettings()
                $0.network?.addressFamily = family
            }
            let response = await session.request(url).serializingString().response
            #expect(response.value == "api.example \(address)", "\(response)")
        }
        let session = try transport.session(resolver: RecordingResolver("127.0.0.1")) {
            $0.network = NetworkSettings()
            $0.network?.addressFamily = .ipv6
        }
        let error = await session.request(url).serializingString().response.error?.transportError
        #expect(
            error?.code == .cannotFindHost && error?.message.contains("IPv6") == true, "\(String(describing: error))")
    }

    @Test(arguments: TestedTransport.allCases)
    func unreachableAddressesAreSkipped(over transport: TestedTransport) async throws {
        let server = try await ServerChild.nginxOnBothFamilies()
        // Nothing listens on the first addresses. The connect timeout isn't divided among them.
        let session = try transport.session(
            resolver: RecordingResolver("127.0.0.6", "127.0.0.7", "127.0.0.8", "127.0.0.9", "127.0.0.1")
        ) { $0.timeoutIntervalForConnect = 100 }
        let response = await session.request("http://api.example:\(server.port)/").serializingString().response
        #expect(response.value == "api.example 127.0.0.1", "\(response)")
        let metrics = try #require(response.metrics?.transactionMetrics.last)
        let (start, end) = (try #require(metrics.fetchStartDate), try #require(metrics.connectEndDate))
        #expect(end.timeIntervalSince(start) < 25)
    }

    /// The resolver looks up the proxy, and the host only for a SOCKS proxy that requires its address.
    @Test(arguments: TestedTransport.allCases, ["http", "socks5", "socks5h"])
    func namesOfProxiesAreLookedUp(over transport: TestedTransport, kind: String) async throws {
        let server = try await TestServer.start()
        let proxy = kind == "http" ? try await ServerChild.tinyproxy() : try await ServerChild.microsocks()
        let resolver = RecordingResolver("127.0.0.1")
        let session = try transport.session(resolver: resolver) {
            $0.network = NetworkSettings()
            $0.network?.proxies = (try? Proxy("\(kind)://proxy.example:\(proxy.port)")).map { .init($0) } ?? .none
        }
        let port = try #require(server.url.port)
        let host = kind == "socks5" ? "api.example" : "127.0.0.1"
        let response = await session.request("http://\(host):\(port)/get").serializingString().response
        #expect(response.response?.statusCode == 200, "\(response)")
        // libcurl receives both at once, so they are looked up concurrently.
        #expect(resolver.hosts.sorted() == (kind == "socks5" ? ["api.example", "proxy.example"] : ["proxy.example"]))
        let failing = try transport.session(resolver: RecordingResolver()) {
            $0.network = NetworkSettings()
            $0.network?.proxies = (try? Proxy("\(kind)://proxy.example:1")).map { .init($0) } ?? .none
        }
        let error = await failing.request("http://127.0.0.1/").serializingString().response.error?.transportError
        #expect(error?.code == .proxyFailed, "\(String(describing: error))")
        #expect(error?.message.contains("found no address for the host \"proxy.example\"") == true)
    }

    @Test(arguments: TestedTransport.allCases)
    func anotherHostToConnectToIsLookedUp(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let resolver = RecordingResolver("127.0.0.1")
        let session = try transport.session(resolver: resolver) {
            $0.network = NetworkSettings()
            $0.network?.connectTo = ["api.example:80": "other.example:\(server.url.port ?? 0)"]
        }
        let response = await session.request("http://api.example/get").serializingString().response
        #expect(response.response?.statusCode == 200, "\(response)")
        #expect(resolver.hosts == ["other.example"])
    }

    @Test(arguments: TestedTransport.allCases)
    func manyConnectionsAreLookedUpConcurrently(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let resolver = RecordingResolver("127.0.0.1")
        let session = try transport.session(resolver: resolver)
        let statuses = await withTaskGroup(of: Int?.self) { group in
            for index in 0..<100 {
                group.addTask {
                    await session.request("http://host\(index % 20).example:\(port)/get").serializingString().response
                        .response?.statusCode
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count == 100 && statuses.allSatisfy { $0 == 200 })
        #expect(Set(resolver.hosts).count == 20 && resolver.hosts.count <= 100)
        // With libcurl, connections that are opened at the same time can share addresses.
        if transport == .http { #expect(resolver.hosts.count >= server.connectionCount) }
    }

    @Test func aResolverAppliesToStreamsWebSocketsAndTLS() async throws {
        let sockets = try await ServerChild.webSockets()
        let resolver = RecordingResolver("127.0.0.1")
        let session = try TestedTransport.http.session(resolver: resolver)
        let socket = session.webSocketRequest(to: "ws://api.example:\(sockets.port)/echo").webSocketTask()
        try await socket.send(.string("hello"))
        var messages = socket.messages.makeAsyncIterator()
        guard case .string("hello") = try await messages.next() else { Issue.record("no echo arrived"); return }
        socket.close(sending: .normalClosure)
        let raw = try await RawServer.start([.waitForever])
        let stream = session.stream(withHostName: "stream.example", port: Int(raw.port))
        try await stream.write(Data("x".utf8))
        stream.cancel()
        #expect(resolver.hosts == ["api.example", "stream.example"])
    }

    /// The certificate must be for the name, not for an address.
    @Test(arguments: TestedTransport.allCases)
    func theCertificateMustBeForTheName(over transport: TestedTransport) async throws {
        let server = try await SecureServer(try TestCertificates.shared.get(), ["site": .init("good")])
        let session = try transport.session(resolver: RecordingResolver("127.0.0.1"))
        let url = try server.url("site", host: "api.example")
        let error = await session.request(url).serializingString().response.error?.transportError
        #expect(error?.code == .certificateUntrusted, "\(String(describing: error))")
    }

    @Test func otherTransportsRefuseResolvers() async throws {
        var configuration = SessionConfiguration.default
        configuration.resolver = RecordingResolver("127.0.0.1")
        let session = Session(configuration: configuration, transport: URLSessionTransport())
        let error = await session.request("http://api.example/").serializingString().response.error?.transportError
        #expect(error?.code == .unsupportedByTransport)
        #expect(error?.message.contains("resolvers") == true)
    }

    /// The resolver sends a request to the same host over the same transport, which has one connection for it.
    @Test(arguments: TestedTransport.allCases)
    func aResolverCanSendRequestsToTheHostThatItLooksUp(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let url = "http://api.example:\(server.url.port ?? 0)/get"
        var configuration = SessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = 1
        let shared: any Transport =
            switch transport {
            case .curl: CurlTransport(configuration: .init(configuration))
            case .http: HTTPTransport(configuration: .init(configuration))
            }
        configuration.resolver = try StaticResolver(["api.example": ["127.0.0.1"]])
        let own = Session(configuration: configuration, transport: shared)
        configuration.resolver = RecordingResolver { _ in
            let data = try await own.request(url).validate().serializingData().value
            return data.isEmpty ? [] : [SocketAddress("127.0.0.1")].compactMap(\.self)
        }
        let session = Session(configuration: configuration, transport: shared)
        let statuses = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<3 {
                group.addTask { await session.request(url).serializingString().response.response?.statusCode }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == [200, 200, 200])
        await server.stop()
    }

    /// libcurl needs the host's address after it has connected to the proxy. Meanwhile, other lookups of the same names begin.
    @Test(arguments: TestedTransport.allCases)
    func concurrentLookupsBehindAProxyDoNotDisturbEachOther(over transport: TestedTransport) async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        let server = try await RawServer.start([.respond(answer), .close])
        let proxy = try await ServerChild.microsocks()
        let resolver = RecordingResolver { _ in
            await Task.yield()
            return [SocketAddress("127.0.0.1")].compactMap(\.self)
        }
        let session = try transport.session(resolver: resolver) {
            $0.httpMaximumConnectionsPerHost = 50
            $0.network = NetworkSettings()
            $0.network?.proxies = (try? Proxy("socks5://proxy.example:\(proxy.port)")).map { .init($0) } ?? .none
        }
        let failures = await withTaskGroup(of: String?.self) { group in
            for index in 0..<300 {
                group.addTask {
                    let url = "http://host\(index % 2).example:\(server.port)/"
                    let response = await session.request(url).serializingString().response
                    return response.value == "hello" ? nil : "\(response)"
                }
            }
            return await group.reduce(into: []) { failures, failure in failures += failure.map { [$0] } ?? [] }
        }
        #expect(failures.isEmpty, "\(failures.prefix(2))")
        // Two names for each connection.
        #expect(resolver.hosts.count <= 2 * 300, "\(resolver.hosts.count)")
    }

    /// The cancellation handlers of a resolver are user code.
    @Test(arguments: TestedTransport.allCases)
    func aCancellationHandlerDoesNotBlockOtherRequests(over transport: TestedTransport) async throws {
        final class Blocking: HostResolver {
            let (starts, started) = AsyncStream<Void>.makeStream()
            let (cancellations, cancelled) = AsyncStream<Void>.makeStream()
            let semaphore = DispatchSemaphore(value: 0)

            func addresses(of host: String) async throws -> ResolvedAddresses {
                guard host == "blocking.example" else {
                    return ResolvedAddresses([SocketAddress("127.0.0.1")].compactMap(\.self))
                }
                return try await withTaskCancellationHandler {
                    started.yield()
                    try await Task.sleep(for: .seconds(600))
                    return ResolvedAddresses([])
                } onCancel: {
                    cancelled.yield()
                    _ = semaphore.wait(timeout: .now() + 60)
                }
            }
        }
        let server = try await TestServer.start()
        let resolver = Blocking()
        let session = try transport.session(resolver: resolver)
        let request = session.request("http://blocking.example/")
        async let blocked = request.serializingString().response
        var starts = resolver.starts.makeAsyncIterator()
        await starts.next()
        request.cancel()
        var cancellations = resolver.cancellations.makeAsyncIterator()
        await cancellations.next()
        let response = await session.request("http://api.example:\(server.url.port ?? 0)/get").serializingString()
            .response
        #expect(response.response?.statusCode == 200, "\(response)")
        // The handler is still waiting for this signal.
        #expect(resolver.semaphore.signal() != 0)
        #expect(await blocked.error?.isExplicitlyCancelledError == true)
        await server.stop()
    }
}

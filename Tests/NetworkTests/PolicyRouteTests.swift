import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import TestServers
import Testing

/// Policies of connections over Unix sockets, to other hosts and through proxies, over both transports.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PolicyRouteTests {
    private func network(_ change: (inout NetworkSettings) throws -> Void) rethrows -> NetworkSettings {
        var network = NetworkSettings()
        try change(&network)
        return network
    }

    @Test(arguments: TestedTransport.allCases)
    func aUnixSocketIsDecided(over transport: TestedTransport) async throws {
        let server = try await ServerChild.nginxOnUnixSocket()
        let path = server.folder.appending(path: "socket").path
        let settings = network { $0.unixSocket = path }
        let refusing = RecordingPolicy.refusingAll()
        let session = try transport.session(refusing) { $0.network = settings }
        let error = try await session.refusal(of: "http://docker.example:81/x")
        #expect(error.message.contains("docker.example (\(path))") && error.peer == nil, "\(error)")
        #expect(
            refusing.candidates == [
                ConnectionCandidate(
                    scheme: "http", host: "docker.example", port: 81, route: .unixSocket(path: path), address: nil)
            ])
        let allowing = try transport.session(RecordingPolicy.allowingAll()) { $0.network = settings }
        let value = try await allowing.request("http://docker.example/x").serializingString().value
        #expect(value == "docker.example unix:\(path)")
    }

    @Test(arguments: TestedTransport.allCases)
    func aReplacedHostIsDecided(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let settings = network { $0.connectTo = ["api.example:80": "127.0.0.1:\(port)"] }
        let refusing = RecordingPolicy.refusingAll()
        let session = try transport.session(refusing) { $0.network = settings }
        let error = try await session.refusal(of: "http://api.example/get")
        #expect(error.message.contains("api.example (127.0.0.1:\(port))"), "\(error)")
        // Entries for other hosts have no effect.
        try await session.refusal(of: server.url("/get"))
        let address = try #require(SocketAddress("127.0.0.1", port: port))
        #expect(
            refusing.candidates == [
                ConnectionCandidate(
                    scheme: "http", host: "api.example", port: 80, route: .connectTo(host: "127.0.0.1", port: port),
                    address: address),
                ConnectionCandidate(scheme: "http", host: "127.0.0.1", port: port, address: address),
            ])
        #expect(server.connectionCount == 0)
        let allowing = try transport.session(RecordingPolicy.allowingAll()) { $0.network = settings }
        #expect(await allowing.request("http://api.example/get").serializingString().response.error == nil)
    }

    /// A proxy receives nothing if the policy refuses its address, the host or the route.
    @Test(arguments: TestedTransport.allCases, ["http", "https", "socks5", "socks5h"])
    func aProxyIsDecided(over transport: TestedTransport, kind: String) async throws {
        let server = try await RawServer.start([.waitForever])
        let proxy = try Proxy("\(kind)://ann:scret@127.0.0.1:\(server.port)")
        let settings = network { $0.proxies = .init(proxy) }
        let policy = RecordingPolicy.refusingAll()
        let session = try transport.session(policy) { $0.network = settings }
        for (url, port) in [("http://origin.example/", 80), ("https://origin.example:444/", 444)] {
            let error = try await session.refusal(of: url)
            #expect(error.message.contains("origin.example through the proxy \(kind)://127.0.0.1:"), "\(error)")
            #expect(error.peer == "127.0.0.1:\(server.port)" && !error.description.contains("scret"), "\(error)")
            let candidate = try #require(policy.candidates.last)
            #expect(candidate.host == "origin.example" && candidate.port == port)
            #expect(candidate.route == .proxy(proxy, host: "origin.example", port: port))
            #expect(candidate.address == SocketAddress("127.0.0.1", port: Int(server.port)))
        }
        #expect(policy.candidates.count == 2 && server.connectionCount == 0)
    }

    @Test(arguments: TestedTransport.allCases)
    func aProxyFromTheEnvironmentIsAProxy(over transport: TestedTransport) async throws {
        let server = try await RawServer.start([.waitForever])
        let settings = network {
            $0.proxies = ProxySettings(environment: ["all_proxy": "http://127.0.0.1:\(server.port)"])
        }
        let policy = RecordingPolicy.refusingAll()
        let session = try transport.session(policy) { $0.network = settings }
        try await session.refusal(of: "http://origin.example/")
        guard case .proxy = policy.candidates.first?.route else { Issue.record("not a proxy"); return }
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: TestedTransport.allCases)
    func aReplacedHostBehindAProxyIsDecided(over transport: TestedTransport) async throws {
        let server = try await RawServer.start([.waitForever])
        let proxy = try Proxy("http://127.0.0.1:\(server.port)")
        let settings = network {
            $0.proxies = .init(proxy)
            $0.connectTo = ["a.example:80": "b.example:81"]
        }
        let policy = RecordingPolicy.refusingAll()
        let session = try transport.session(policy) { $0.network = settings }
        try await session.refusal(of: "http://a.example/")
        let candidate = try #require(policy.candidates.first)
        #expect(candidate.host == "a.example" && candidate.port == 80)
        #expect(candidate.route == .proxy(proxy, host: "b.example", port: 81))
    }

    /// A connection to a proxy can serve requests to all hosts. libcurl uses a kept one for any of them.
    @Test(arguments: TestedTransport.allCases)
    func everyHostBehindAKeptProxyConnectionIsDecided(over transport: TestedTransport) async throws {
        let proxy = try await RawServer.start([.loop([.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")])])
        let settings = try network { $0.proxies = .init(try Proxy("127.0.0.1:\(proxy.port)")) }
        let policy = RecordingPolicy { $0.host == "b.example" ? "it is a test" : nil }
        let session = try transport.session(policy) { $0.network = settings }
        let url = try #require(URL(string: "http://a.example/"))
        for count in 0..<3 { #expect(try await session.outcome(of: url).isReused == (count > 0)) }
        let error = try await session.refusal(of: "http://b.example/")
        #expect(error.peer == "127.0.0.1:\(proxy.port)", "\(error)")
        #expect(try await session.outcome(of: url).status == 200)
        #expect(proxy.requests.count == 4 && proxy.requests.allSatisfy { $0.hasPrefix("GET http://a.example/ ") })
    }

    @Test(arguments: ["http", "socks5"])
    func streamsThroughProxiesAreDecided(kind: String) async throws {
        let server = try await RawServer.start([.waitForever])
        let settings = try network { $0.proxies = .init(try Proxy("\(kind)://127.0.0.1:\(server.port)")) }
        let session = try TestedTransport.http.session(RecordingPolicy.refusingAll()) { $0.network = settings }
        let stream = session.stream(withHostName: "origin.example", port: 25)
        let error = await #expect(throws: AFError.self) { try await stream.write(Data("x".utf8)) }
        #expect(error?.transportError?.code == .refusedByPolicy, "\(String(describing: error))")
        #expect(server.connectionCount == 0)
    }

    /// After a SOCKS proxy has rejected an address, the next one is tried over a new connection.
    @Test func theNextConnectionToASOCKSProxyIsDecided() async throws {
        let server = try await RawServer.start([
            .receive(3), .send([5, 0]), .receive(22), .send([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]),
        ])
        let settings = try network { $0.proxies = .init(try Proxy("socks5://127.0.0.1:\(server.port)")) }
        let count = Locked(0)
        let policy = RecordingPolicy { _ in
            count.withLock { count in
                count += 1
                return count > 1 ? "it is a test" : nil
            }
        }
        let session = try TestedTransport.http.session(policy) { $0.network = settings }
        try await session.refusal(of: "http://localhost:258/")
        #expect(policy.candidates.count == 2 && server.connectionCount == 1)
    }
}

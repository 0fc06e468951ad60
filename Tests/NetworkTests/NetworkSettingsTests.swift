import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import AfarURLSession
import Foundation
import TestServers
import Testing

/// Unix sockets, different addresses for hosts, and interfaces.
@Suite(.timeLimit(.minutes(2))) struct NetworkSettingsTests {
    private static let transports: [any Transport] = [HTTPTransport(), CurlTransport()]

    private func session(over transport: (any Transport)? = nil, _ change: (inout NetworkSettings) -> Void) throws
        -> Session
    {
        var configuration = SessionConfiguration.default
        var network = NetworkSettings()
        change(&network)
        configuration.network = network
        configuration.certificateBundle = try TestCertificates.shared.get().authority
        return transport.map { Session(configuration: configuration, transport: $0) }
            ?? Session(configuration: configuration)
    }

    private func failure(_ response: DataResponse<String, AFError>) throws -> TransportError {
        let error = try #require(response.error?.underlyingError as? URLError)
        return try #require(error.userInfo[NSUnderlyingErrorKey] as? TransportError)
    }

    @Test func aUnixSocketIsUsedForEveryHost() async throws {
        let server = try await ServerChild.nginxOnUnixSocket()
        let path = server.folder.appending(path: "socket").path
        let session = try session { $0.unixSocket = path }
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 {
                group.addTask { try await session.request("http://docker.example/x").serializingString().value }
            }
            for try await answer in group { #expect(answer == "docker.example unix:\(path)") }
        }
        let statistics = await session.transport.connectionStatistics
        #expect((1...6).contains(statistics?.open ?? 0))
    }

    @Test func aMissingUnixSocketFails() async throws {
        let session = try session { $0.unixSocket = "/nowhere/socket" }
        #expect(try failure(await session.request("http://x/").serializingString().response).code == .cannotConnect)
    }

    @Test func connectToReplacesAHost() async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let session = try session {
            $0.connectTo = [
                "api.example:80": "127.0.0.1:\(port)", "other.example": "127.0.0.1", "x.example:1": "[::1]:1",
            ]
        }
        #expect(try await session.request("http://api.example/get").serializingString().value.isEmpty == false)
        #expect(server.lastRequest(path: "/get")?.headers["Host"] == "api.example")
        #expect(
            try await session.request("http://other.example:\(port)/get").serializingString().value.isEmpty == false)
        #expect(server.lastRequest(path: "/get")?.headers["Host"] == "other.example:\(port)")
        #expect(server.requestCount(path: "/get") == 2)
    }

    @Test func theCertificateMustMatchTheOriginalHost() async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(certificates, ["site": .init("good")])
        let port = try #require(try server.url("site").port)
        let session = try session { $0.connectTo = [":443": "127.0.0.1:\(port)"] }
        #expect(try await session.request("https://localhost/").serializingString().value.contains("none"))
        let refused = await session.request("https://other.example/").serializingString().response
        #expect(try failure(refused).code == .certificateUntrusted)
    }

    @Test func connectionsUseTheLocalAddress() async throws {
        let server = try await TestServer.start()
        let session = try session { $0.localAddress = "127.0.0.7" }
        let response = await session.request(server.url("/get")).serializingString().response
        #expect(response.metrics?.transactionMetrics.last?.localAddress == "127.0.0.7")
    }

    @Test(
        .enabled(if: testedInterface != nil, "needs the privilege to bind to an interface, or a second interface"),
        arguments: transports)
    func connectionsUseTheInterface(over transport: any Transport) async throws {
        let server = try await TestServer.start()
        let (name, address) = try #require(Self.testedInterface)
        let session = try session(over: transport) { $0.interface = name }
        let response = await session.request(server.url("/get")).serializingString().response
        let metrics = try #require(response.metrics?.transactionMetrics.last)
        #expect(metrics.localAddress == address)
        let socket = try #require(Self.socket(from: metrics.localPort, to: server.url.port))
        #expect(Self.interface(of: socket) == (Self.canBindToInterfaces ? name : ""))
    }

    /// The loopback interface, or another one if this process isn't allowed to bind to interfaces. In that case, the test must
    /// recognize the interface by its address, and the loopback address would be used even without the setting.
    private static let testedInterface: (name: String, address: String)? =
        canBindToInterfaces ? ("lo", "127.0.0.1") : interfaces(AF_INET).first { !$0.address.hasPrefix("127.") }

    private static let canBindToInterfaces: Bool = {
        let probe = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(probe) }
        return setsockopt(probe, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2) == 0
    }()

    /// Returns the name of the interface to which a socket is bound; an empty string if it isn't bound to one.
    private static func interface(of socket: Int32) -> String? {
        var name = [CChar](repeating: 0, count: 16)
        var length = socklen_t(name.count)
        return getsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, &name, &length) == 0 ? text(name) : nil
    }

    @Test(arguments: transports) func connectionsUseTheAddressFamily(over transport: any Transport) async throws {
        let server = try await ServerChild.nginxOnBothFamilies()
        for (family, address) in [
            (NetworkSettings.AddressFamily.ipv4, "127.0.0.1"), (.ipv6, "::1"), (.ipv4, "127.0.0.1"),
        ] {
            let session = try session(over: transport) { $0.addressFamily = family }
            let response = await session.request("http://localhost:\(server.port)/").serializingString().response
            #expect(response.value == "localhost \(address)", "\(response)")
            #expect(response.metrics?.transactionMetrics.last?.remoteAddress == address)
        }
    }

    @Test(arguments: transports) func aHostWithoutAnAddressOfTheFamilyFails(over transport: any Transport) async throws
    {
        let server = try await TestServer.start()
        let session = try session(over: transport) { $0.addressFamily = .ipv6 }
        let failure = try failure(await session.request(server.url("/get")).serializingString().response)
        #expect(
            failure.code == .cannotFindHost && failure.message.contains("has no IPv6 address"), "\(failure)")
        #expect(server.connectionCount == 0)
    }

    /// The zone selects the interface and is not sent (RFC 6874).
    @Test(.enabled(if: linkLocalAddress != nil, "needs an interface with a link-local address"), arguments: transports)
    func aZoneChoosesTheInterface(over transport: any Transport) async throws {
        let server = try await ServerChild.nginxOnBothFamilies()
        let (address, interface) = try #require(Self.linkLocalAddress)
        let session = try session(over: transport) { _ in }
        let url = "http://[\(address)%25\(interface)]:\(server.port)/"
        #expect(try await session.request(url).serializingString().value == "[\(address)] \(address)")
        let redirected = try self.session(over: transport) {
            $0.connectTo = ["a.example:80": "[\(address)%\(interface)]:\(server.port)"]
        }
        #expect(try await redirected.request("http://a.example/").serializingString().value == "a.example \(address)")
    }

    private static var linkLocalAddress: (address: String, interface: String)? {
        let found = interfaces(AF_INET6).first { $0.address.hasPrefix("fe80:") }
        let parts = found?.address.split(separator: "%").map(String.init) ?? []
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }

    /// Returns the addresses of a family with the names of their interfaces.
    private static func interfaces(_ family: Int32) -> [(name: String, address: String)] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        var found: [(name: String, address: String)] = []
        for entry in sequence(first: list, next: { $0?.pointee.ifa_next }).compactMap({ $0?.pointee }) {
            var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            guard let address = entry.ifa_addr, Int32(address.pointee.sa_family) == family,
                getnameinfo(address, socklen_t(size), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0
            else { continue }
            found.append((String(cString: entry.ifa_name), text(host)))
        }
        return found
    }

    /// Returns the text before the first zero.
    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Test(arguments: transports) func keepAliveIsSetOnTheSocket(over transport: any Transport) async throws {
        let server = try await TestServer.start()
        for probes in [.init(idle: 7, interval: 3, count: 2), nil] as [NetworkSettings.TCPKeepAlive?] {
            let session = try session(over: transport) { $0.tcpKeepAlive = probes }
            let response = await session.request(server.url("/get")).serializingString().response
            let metrics = try #require(response.metrics?.transactionMetrics.last)
            let socket = try #require(Self.socket(from: metrics.localPort, to: server.url.port))
            #expect(Self.option(SOL_SOCKET, SO_KEEPALIVE, of: socket) == (probes == nil ? 0 : 1))
            guard let probes else { continue }
            let names = [TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT]
            #expect(names.map { Self.option(Int32(IPPROTO_TCP), $0, of: socket) } == [7, 3, 2], "\(probes)")
        }
    }

    /// Returns this process's socket with the given ports.
    private static func socket(from local: Int?, to remote: Int?) -> Int32? {
        func port(
            _ name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32, _ socket: Int32
        ) -> Int? {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(socket, $0, &length) }
            }
            return code == 0 ? Int(UInt16(bigEndian: address.sin_port)) : nil
        }
        return (0..<4_096).first { port(getsockname, $0) == local && port(getpeername, $0) == remote }
    }

    private static func option(_ level: Int32, _ name: Int32, of socket: Int32) -> Int32 {
        var value: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(socket, level, name, &value, &length) == 0 ? value : -1
    }

    @Test func unavailableSettingsAreNamed() async throws {
        let server = try await TestServer.start()
        let long = "/tmp/" + String(repeating: "a", count: 103)
        let settings: [((inout NetworkSettings) -> Void, [String])] = [
            ({ $0.interface = "none0" }, ["\"none0\"", "lo"]), ({ $0.localAddress = "192.0.2.1" }, ["\"192.0.2.1\""]),
            ({ $0.localAddress = "2001:db8::1" }, ["\"2001:db8::1\""]),
            ({ $0.localAddress = "localhost" }, ["\"localhost\"", "not an IP address"]),
            ({ $0.unixSocket = long }, [long, "108 bytes", "107"]),
        ]
        for (change, words) in settings {
            let session = try session(change)
            let failure = try failure(await session.request(server.url("/get")).serializingString().response)
            #expect(failure.code == .invalidUse && failure.phase == .queued)
            for word in words { #expect(failure.message.contains(word), "\(failure)") }
            let stream = session.stream(withHostName: "localhost", port: Int(server.url.port ?? 0))
            await #expect(throws: (any Error).self) { try await stream.write(Data("x".utf8)) }
        }
        #expect(server.connectionCount == 0)
        // The longest path that the system supports.
        let session = try session { $0.unixSocket = String(long.dropLast()) }
        #expect(try failure(await session.request("http://x/").serializingString().response).code == .cannotConnect)
    }

    @Test(arguments: transports)
    func sessionsWithOtherSettingsShareNoConnections(over transport: any Transport) async throws {
        let server = try await TestServer.start()
        for address in ["127.0.0.5", "127.0.0.6", "127.0.0.5"] {
            var configuration = SessionConfiguration.default
            configuration.network = .init()
            configuration.network?.localAddress = address
            let session = Session(configuration: configuration, transport: transport)
            let response = await session.request(server.url("/get")).serializingString().response
            #expect(response.metrics?.transactionMetrics.last?.localAddress == address)
        }
    }

    @Test(
        arguments: [
            { $0.unixSocket = "" }, { $0.unixSocket = "/a\0b" }, { $0.interface = "a\r\nb" },
            { $0.tcpKeepAlive = .init(idle: 0) }, { $0.tcpKeepAlive = .init(count: 128) },
            { $0.connectTo = ["::1:80": "a"] }, { $0.connectTo = ["a": "b:70000"] },
            {
                $0.interface = "lo"
                $0.localAddress = "127.0.0.1"
            },
        ] as [@Sendable (inout NetworkSettings) -> Void])
    func invalidSettingsAreRejected(_ change: @Sendable (inout NetworkSettings) -> Void) async throws {
        let session = try session(change)
        #expect(
            try failure(await session.request("http://localhost:1/").serializingString().response).code == .invalidUse)
    }

    @Test func anUnsupportedSettingIsReported() async throws {
        var configuration = SessionConfiguration.default
        configuration.network = .init()
        configuration.network?.unixSocket = "/run/x"
        let session = Session(configuration: configuration, transport: URLSessionTransport())
        let failure = try failure(await session.request("http://localhost:1/").serializingString().response)
        #expect(failure.code == .unsupportedByTransport && failure.description.contains("Unix sockets"))
    }
}

import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import AfarURLSession
import Foundation
import TestServers
import Testing

/// Unix sockets, other places for hosts, interfaces.
@Suite(.timeLimit(.minutes(2))) struct NetworkSettingsTests {
    private func session(_ change: (inout NetworkSettings) -> Void) throws -> Session {
        var configuration = SessionConfiguration.default
        var network = NetworkSettings()
        change(&network)
        configuration.network = network
        configuration.certificateBundle = try TestCertificates.shared.get().authority
        return Session(configuration: configuration)
    }

    private func failure(_ response: DataResponse<String, AFError>) throws -> TransportError {
        let error = try #require(response.error?.underlyingError as? URLError)
        return try #require(error.userInfo[NSUnderlyingErrorKey] as? TransportError)
    }

    @Test func aUnixSocketStandsForEveryHost() async throws {
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

    @Test func aUnixSocketThatIsNotThereFails() async throws {
        let session = try session { $0.unixSocket = "/nowhere/socket" }
        #expect(try failure(await session.request("http://x/").serializingString().response).code == .cannotConnect)
    }

    @Test func anotherPlaceStandsForAHost() async throws {
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

    @Test func theCertificateIsStillThatOfTheHost() async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(certificates, ["site": .init("good")])
        let port = try #require(try server.url("site").port)
        let session = try session { $0.connectTo = [":443": "127.0.0.1:\(port)"] }
        #expect(try await session.request("https://localhost/").serializingString().value.contains("none"))
        let refused = await session.request("https://other.example/").serializingString().response
        #expect(try failure(refused).code == .certificateUntrusted)
    }

    @Test func aLocalAddressIsWhereConnectionsComeFrom() async throws {
        let server = try await TestServer.start()
        let session = try session { $0.localAddress = "127.0.0.7" }
        let response = await session.request(server.url("/get")).serializingString().response
        #expect(response.metrics?.transactionMetrics.last?.localAddress == "127.0.0.7")
        let loopback = try self.session { $0.interface = "lo" }
        #expect(await loopback.request(server.url("/get")).serializingString().response.response?.statusCode == 200)
    }

    @Test func whatThisMachineDoesNotHaveIsNamed() async throws {
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
        // The longest path that the system takes.
        let session = try session { $0.unixSocket = String(long.dropLast()) }
        #expect(try failure(await session.request("http://x/").serializingString().response).code == .cannotConnect)
    }

    @Test(arguments: [CurlTransport(), HTTPTransport()] as [any Transport])
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
            { $0.connectTo = ["::1:80": "a"] }, { $0.connectTo = ["a": "b:70000"] },
            {
                $0.interface = "lo"
                $0.localAddress = "127.0.0.1"
            },
        ] as [@Sendable (inout NetworkSettings) -> Void])
    func whatCannotBeIsRefused(_ change: @Sendable (inout NetworkSettings) -> Void) async throws {
        let session = try session(change)
        #expect(
            try failure(await session.request("http://localhost:1/").serializingString().response).code == .invalidUse)
    }

    @Test func aTransportThatCannotDoItSaysSo() async throws {
        var configuration = SessionConfiguration.default
        configuration.network = .init()
        configuration.network?.unixSocket = "/run/x"
        let session = Session(configuration: configuration, transport: URLSessionTransport())
        let failure = try failure(await session.request("http://localhost:1/").serializingString().response)
        #expect(failure.code == .unsupportedByTransport && failure.description.contains("Unix sockets"))
    }
}

import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import TestServers
import Testing

/// Connections that are opened before requests need them.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PreconnectTests {
    private static let hello: [RawServer.Step] = [
        .loop([.respond("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")])
    ]

    private func session(
        _ configure: (inout ConnectionConfiguration) -> Void = { _ in },
        _ change: (inout SessionConfiguration) -> Void = { _ in }, evaluator: (any ServerTrustEvaluating)? = nil
    ) -> Session {
        var configuration = SessionConfiguration.default
        change(&configuration)
        var connections = HTTPTransport.Configuration(configuration)
        configure(&connections)
        return Session(
            configuration: configuration,
            serverTrustManager: evaluator.map { ServerTrustManager(evaluators: ["127.0.0.1": $0, "localhost": $0]) },
            transport: HTTPTransport(configuration: connections))
    }

    private func counts(_ session: Session) async -> [Int] {
        let statistics = await session.connectionStatistics
        return [statistics?.idle ?? -1, statistics?.inUse ?? -1, statistics?.waiting ?? -1]
    }

    @Test func aRequestUsesTheConnection() async throws {
        let server = try await RawServer.start(Self.hello)
        let session = session()
        try await session.preconnect(to: server.url)
        #expect(await counts(session) == [1, 0, 0])
        let response = await session.request(server.url).serializingString().response
        #expect(response.value == "hello")
        #expect(response.metrics?.transactionMetrics.first?.isReusedConnection == true)
        #expect(server.connectionCount == 1)
    }

    @Test func existingConnectionsCountAndTheLimitApplies() async throws {
        let server = try await RawServer.start(Self.hello)
        let session = session()
        try await session.preconnect(to: server.url, count: 2)
        #expect(await counts(session) == [2, 0, 0])
        try await session.preconnect(to: server.url, count: 2)
        #expect(await counts(session) == [2, 0, 0])
        try await session.preconnect(to: server.url, count: 1_000)
        #expect(await counts(session) == [6, 0, 0])
        try await session.preconnect(to: server.url, count: 0)
        try await session.preconnect(to: server.url, count: -1)
        #expect(server.connectionCount == 6)
    }

    @Test func eachCallOpensItsOwnConnections() async throws {
        let servers = [try await RawServer.start(Self.hello), try await RawServer.start(Self.hello)]
        let slow = try await RawServer.start([.waitForever])
        let session = session { _ in
        } _: {
            $0.httpVersion = .http1
        }
        let url = try #require(URL(string: "https://127.0.0.1:\(slow.port)/"))
        let pending = Task { try await session.preconnect(to: url) }
        while await counts(session)[1] == 0 { try await Task.sleep(for: .milliseconds(1)) }
        for (index, server) in servers.enumerated() {
            try await session.preconnect(to: server.url, count: 2)
            #expect(await counts(session)[0] == 2 * (index + 1))
        }
        // The calls that have returned or were canceled don't end another.
        let canceled = Task { try await session.preconnect(to: url, count: 2) }
        while await counts(session)[1] == 1 { try await Task.sleep(for: .milliseconds(1)) }
        canceled.cancel()
        let cancellation = await #expect(throws: AFError.self) { try await canceled.value }
        #expect(cancellation?.isExplicitlyCancelledError == true)
        while await counts(session)[1] != 1 { try await Task.sleep(for: .milliseconds(1)) }
        session.invalidate()
        let error = await #expect(throws: AFError.self) { try await pending.value }
        #expect(error?.isSessionInvalidatedError == true)
    }

    @Test func manyCallsAndRequestsAtOnceRespectTheLimit() async throws {
        let server = try await RawServer.start(Self.hello)
        let session = session()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    guard number % 3 > 0 else { return try await session.preconnect(to: server.url, count: 4) }
                    #expect(try await session.request(server.url).serializingString().value == "hello")
                }
            }
            try await group.waitForAll()
        }
        let counts = await counts(session)
        #expect((4...6).contains(counts[0]) && counts[1...] == [0, 0])
        #expect(server.connectionCount <= 6)
    }

    @Test func anHTTP2ConnectionIsOpenedOnce() async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(certificates, ["site": .init("good", speaksHTTP2: true)])
        let session = session { _ in
        } _: {
            $0.certificateBundle = certificates.authority
        }
        let url = try server.url("site")
        try await session.preconnect(to: url, count: 4)
        #expect(await counts(session) == [1, 0, 0])
        let response = await session.request(url).serializingString().response
        #expect(response.metrics?.transactionMetrics.first?.networkProtocolName == "h2")
        #expect(response.metrics?.transactionMetrics.first?.isReusedConnection == true)
        try await session.preconnect(to: url, count: 4)
        #expect(await counts(session) == [1, 0, 0])
    }

    @Test func aServerWithoutHTTP2GetsAllConnections() async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(certificates, ["site": .init("good")])
        let session = session { _ in
        } _: {
            $0.certificateBundle = certificates.authority
        }
        try await session.preconnect(to: try server.url("site"), count: 3)
        #expect(await counts(session) == [3, 0, 0])
    }

    @Test func theCertificateIsEvaluated() async throws {
        struct Refusal: ServerTrustEvaluating {
            func evaluate(_ trust: ServerTrust, forHost host: String) throws { throw CancellationError() }
        }
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(certificates, ["site": .init("good")])
        let session = session(evaluator: Refusal())
        let error = await #expect(throws: AFError.self) { try await session.preconnect(to: server.url("site")) }
        #expect(error?.transportError?.code == .certificateUntrusted)
        #expect(await counts(session) == [0, 0, 0])
    }

    @Test func failuresAreReported() async throws {
        let session = session()
        var error = await #expect(throws: AFError.self) { try await session.preconnect(to: "http://127.0.0.1:1/") }
        #expect((error?.underlyingError as? URLError)?.code == .cannotConnectToHost)
        error = await #expect(throws: AFError.self) { try await session.preconnect(to: "ftp://127.0.0.1/") }
        #expect(error?.description.contains("ftp") == true)
        let other = Session(transport: URLSessionTransport())
        error = await #expect(throws: AFError.self) { try await other.preconnect(to: "http://127.0.0.1:1/") }
        #expect(error?.transportError?.code == .unsupportedByTransport)
        session.invalidate()
        error = await #expect(throws: AFError.self) { try await session.preconnect(to: "http://127.0.0.1:1/") }
        #expect(error?.isSessionInvalidatedError == true)
    }

    @Test func aCanceledTaskStopsWaiting() async throws {
        let server = try UnacceptingPort()
        let session = session()
        let task = Task { try await session.preconnect(to: server.url, count: 2) }
        while await session.connectionStatistics?.inUse != 2 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        let error = await #expect(throws: AFError.self) { try await task.value }
        #expect(error?.isExplicitlyCancelledError == true)
        #expect(await counts(session) == [0, 0, 0])
    }

    @Test func theMinimumStaysOpen() async throws {
        let server = try await RawServer.start(Self.hello)
        let session = session {
            $0.maximumIdleTime = 0.05
            $0.minimumIdleConnectionsPerHost = 2
        }
        try await session.preconnect(to: server.url, count: 4)
        // The others are closed.
        while await session.connectionStatistics?.open != 2 { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(200))
        #expect(await counts(session) == [2, 0, 0])
        #expect(try await session.request(server.url).serializingString().value == "hello")
        #expect(await counts(session) == [2, 0, 0])
    }
}

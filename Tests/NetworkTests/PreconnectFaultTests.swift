import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import TestServers
import Testing

/// Preconnections to servers that fail, and preconnections that compete with requests.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PreconnectFaultTests {
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

    private func number(_ session: Session, _ url: URL) async throws -> Int {
        let text = try await session.request(url).serializingString().value
        return try #require(text.split(separator: " ").first.flatMap { Int($0) })
    }

    @Test func theLimitOfTheTransportApplies() async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(certificates, ["site": .init("good")])
        let url = try server.url("site")
        func session(limit: Int) -> Session {
            self.session {
                $0.maximumConnectionsPerHost = limit
            } _: {
                $0.certificateBundle = certificates.authority
            }
        }
        let first = try await number(session(limit: 1), url)
        let limited = session(limit: 2)
        try await limited.preconnect(to: url, count: 6)
        #expect(await counts(limited) == [2, 0, 0])
        #expect(try await number(session(limit: 1), url) == first + 3)
        let large = session(limit: 20)
        try await large.preconnect(to: url, count: 10)
        #expect(await counts(large) == [10, 0, 0])
    }

    /// Accepts certificates after it has been opened.
    private struct Gate: ServerTrustEvaluating {
        private let semaphore = DispatchSemaphore(value: 0)

        func open() { semaphore.signal() }

        func evaluate(_ trust: ServerTrust, forHost host: String) throws {
            semaphore.wait()
            semaphore.signal()
        }
    }

    /// The protocol of the host isn't known until all requests and preconnections wait for the first connection.
    @Test func connectionsInUseCount() async throws {
        let certificates = try TestCertificates.shared.get()
        let gate = RawServer.Gate()
        let backend = try await RawServer.start([
            .loop([.receiveHead, .hold(gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")])
        ])
        let port = try ReservedPort()
        let proxy = try await SecureServer(
            certificates, [:],
            settings: """
                server {
                  listen 127.0.0.1:\(port.number) ssl;
                  ssl_certificate \(certificates.file("good.pem").path);
                  ssl_certificate_key \(certificates.file("good.key").path);
                  location / { proxy_pass http://127.0.0.1:\(backend.port); }
                }
                """)
        defer { withExtendedLifetime(proxy) {} }
        let evaluator = Gate()
        let session = session({ _ in }, evaluator: evaluator)
        let url = try #require(URL(string: "https://localhost:\(port.number)/"))
        let requests = (0..<6).map { _ in session.request(url).serializingString() }
        for request in requests { request.resume() }
        func total() async -> Int { await counts(session).reduce(0, +) }
        while await total() < 6 { try await Task.sleep(for: .milliseconds(1)) }
        let preconnection = Task { try await session.preconnect(to: url, count: 4) }
        while await total() < 10 { try await Task.sleep(for: .milliseconds(1)) }
        evaluator.open()
        try await preconnection.value
        #expect(await counts(session)[1] == 6)
        gate.open()
        for request in requests { #expect(await request.response.value == "hello") }
        #expect(await counts(session) == [6, 0, 0])
    }

    @Test func aServerThatClosesAtOnceLeavesNothing() async throws {
        for script: [RawServer.Step] in [[.close], [.reset]] {
            let server = try await RawServer.start(script)
            let session = session { $0.minimumIdleConnectionsPerHost = 2 }
            try? await session.preconnect(to: server.url, count: 4)
            while await counts(session) != [0, 0, 0] { try await Task.sleep(for: .milliseconds(1)) }
            try? await session.preconnect(to: server.url, count: 4)
            while await counts(session) != [0, 0, 0] { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    @Test func aServerThatNeverCompletesTLSTimesOut() async throws {
        let server = try await RawServer.start([.waitForever])
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
        for version in [ExchangeOptions.HTTPVersion.automatic, .http1] {
            let session = session { _ in
            } _: {
                $0.exchangeOptions.httpVersion = version
                $0.exchangeOptions.connectTimeout = 0.3
            }
            let error = await #expect(throws: AFError.self) { try await session.preconnect(to: url, count: 4) }
            #expect(error?.transportError?.code == .timedOut)
            #expect(await counts(session) == [0, 0, 0])
        }
    }

    @Test func invalidationEndsPreconnections() async throws {
        let server = try await RawServer.start([.waitForever])
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
        let session = session()
        let task = Task { try await session.preconnect(to: url, count: 4) }
        while await counts(session).reduce(0, +) == 0 { try await Task.sleep(for: .milliseconds(1)) }
        session.invalidate()
        let error = await #expect(throws: AFError.self) { try await task.value }
        #expect(error?.isSessionInvalidatedError == true)
        while await counts(session) != [0, 0, 0] { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test(arguments: [ExchangeOptions.HTTPVersion.automatic, .http1])
    func refusedCertificatesFailEveryWaiter(version: ExchangeOptions.HTTPVersion) async throws {
        struct Refusal: ServerTrustEvaluating {
            func evaluate(_ trust: ServerTrust, forHost host: String) throws { throw CancellationError() }
        }
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(certificates, ["site": .init("good", speaksHTTP2: true)])
        let session = session({ _ in }, { $0.exchangeOptions.httpVersion = version }, evaluator: Refusal())
        let url = try server.url("site")
        for _ in 0..<20 {
            async let other = session.request(url).serializingData().response
            let error = await #expect(throws: AFError.self) { try await session.preconnect(to: url, count: 4) }
            #expect(error?.transportError?.code == .certificateUntrusted, "\(error as Any)")
            #expect(await other.error != nil)
            #expect(await counts(session) == [0, 0, 0])
        }
    }

    @Test func anHTTP2ConnectionWithOneStreamSuffices() async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(
            certificates, ["site": .init("good", speaksHTTP2: true)], settings: "http2_max_concurrent_streams 1;")
        let session = session({ _ in }, { $0.certificateBundle = certificates.authority })
        let url = try server.url("site")
        for _ in 0..<30 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        guard number % 3 > 0 else { return try await session.preconnect(to: url, count: 4) }
                        _ = try await session.request(url).serializingString().value
                    }
                }
                try await group.waitForAll()
            }
            let counts = await counts(session)
            #expect(counts[1...] == [0, 0] && counts[0] <= 6, "\(counts)")
            session.transport.closeIdleConnections()
        }
    }

    private static func http2(_ frames: [UInt8]) -> [RawServer.Step] {
        [.receive(24), .send(frames), .waitForever]
    }

    @Test(arguments: ["settings 0", "goaway", "garbage", "close", "settings, goaway"])
    func anHTTP2ServerWithoutStreams(kind: String) async throws {
        let settings0: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0]
        let goAway: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        let steps: [RawServer.Step] =
            switch kind {
            case "settings 0": Self.http2(settings0)
            case "goaway": Self.http2(goAway)
            case "garbage": Self.http2(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
            case "close": [.close]
            default: Self.http2(settings + goAway)
            }
        let server = try await RawServer.start(steps)
        let session = session({ $0.minimumIdleConnectionsPerHost = 2 }) {
            $0.exchangeOptions.httpVersion = .http2PriorKnowledge
        }
        for _ in 0..<3 {
            try? await session.preconnect(to: server.url, count: 4)
            while await counts(session) != [0, 0, 0] { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(server.connectionCount <= 12)
    }

    @Test func requestsPreconnectionsAndClosesAtOnce() async throws {
        let server = try await RawServer.start(Self.hello)
        let certificates = try TestCertificates.shared.get()
        let nginx = try await SecureServer(
            certificates, ["h2": .init("good", speaksHTTP2: true), "h1": .init("good")])
        let urls = [server.url, try nginx.url("h2"), try nginx.url("h1")]
        for round in 0..<12 {
            let session = session {
                $0.maximumIdleTime = round % 2 == 0 ? 0.002 : 90
                $0.minimumIdleConnectionsPerHost = round % 3
                $0.maximumIdleConnections = round % 4 == 0 ? 3 : 100
            } _: {
                $0.certificateBundle = certificates.authority
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<150 {
                    let url = urls[number % 3]
                    group.addTask {
                        switch number % 7 {
                        case 0, 1:
                            let task = Task { try await session.preconnect(to: url, count: number % 9) }
                            if number % 2 == 0 {
                                try? await Task.sleep(for: .microseconds(number * 20))
                                task.cancel()
                            }
                            let result = await task.result
                            if case .failure(let error) = result, number % 2 != 0 { Issue.record(error) }
                        case 2: session.transport.closeIdleConnections()
                        default:
                            let request = session.request(url)
                            if number % 5 == 0 {
                                _ = request.serializingString()
                                try? await Task.sleep(for: .microseconds(number * 20))
                                request.cancel()
                            } else {
                                let response = await request.serializingString().response
                                if let error = response.error { Issue.record(error) }
                            }
                        }
                    }
                }
            }
            var tries = 0
            while tries < 2_000 {
                let counts = await counts(session)
                if counts[1] == 0, counts[2] == 0, counts[0] >= 0, counts[0] <= 18 { break }
                tries += 1
                try await Task.sleep(for: .milliseconds(1))
            }
            let last = await counts(session)
            #expect(tries < 2_000, "\(last)")
            // Then everything still works up to the limit.
            session.transport.closeIdleConnections()
            while await counts(session) != [0, 0, 0], round % 2 == 1 { try await Task.sleep(for: .milliseconds(1)) }
            if round % 2 == 1 {
                try await session.preconnect(to: server.url, count: 6)
                #expect(await counts(session)[0] >= 3)
            }
        }
    }

    @Test func theTransportIsReleased() async throws {
        let server = try await RawServer.start(Self.hello)
        weak var transport: HTTPTransport?
        do {
            let session = session()
            transport = session.transport as? HTTPTransport
            try await session.preconnect(to: server.url, count: 3)
        }
        for connection in 0..<3 { try await server.peerClosed(connection) }
        #expect(transport == nil)
    }
}

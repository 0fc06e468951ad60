import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import Synchronization
import TestServers
import Testing

/// HTTP/2 with nginx and nghttpd.
@Suite(.timeLimit(.minutes(2)), OverEachTransport()) struct HTTP2Tests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func session(_ change: (inout SessionConfiguration) -> Void = { _ in }) -> Session {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        configuration.httpVersion = .http2
        configuration.timeoutIntervalForRequest = 10
        change(&configuration)
        return TestedTransport.session(configuration)
    }

    /// Starts nginx.
    ///
    /// - Parameter requests: The maximum number of requests per connection.
    private func nginx(_ settings: String = "", requests: Int = 1_000_000) async throws -> SecureServer {
        try await SecureServer(
            certificates, ["site": .init("good", speaksHTTP2: true), "old": .init("good")],
            settings: settings + "keepalive_requests \(requests);")
    }

    /// Starts a server for the files in its folder.
    private func nghttpd(_ arguments: String..., files: [String: Int] = ["small": 3]) async throws -> ServerChild {
        let server = try await ServerChild("nghttpd") { folder, port in
            for (name, count) in files {
                let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
                try? bytes.write(to: folder.appending(path: name))
            }
            return ""
        } _: { folder, port in
            ["nghttpd", "-a", "127.0.0.1", "-d", folder.path] + arguments + ["\(port)"]
                + (arguments.contains("--no-tls") ? [] : ["good.key", "good.pem"].map { certificates.file($0).path })
        }
        return server
    }

    private func version(_ response: DataResponse<some Any, AFError>) -> String? {
        if let error = response.error { Issue.record("\(error), \(response.metrics.debugDescription)") }
        return response.metrics?.transactionMetrics.last?.networkProtocolName
    }

    @Test func fiveHundredRequestsShareOneConnection() async throws {
        let server = try await nginx()
        let (session, url) = (session(), try server.url("site"))
        var connections: Set<Substring> = []
        try await withThrowingTaskGroup(of: (String?, String?).self) { group in
            for _ in 0..<500 {
                group.addTask {
                    let response = await session.request(url).serializingString().response
                    return (response.value, version(response))
                }
            }
            for try await (answer, version) in group {
                #expect(version == "h2")
                if let number = answer?.split(separator: " ").first { connections.insert(number) }
            }
        }
        #expect(connections.count == 1)
        let statistics = await session.connectionStatistics
        #expect(statistics?.hosts.map(\.idle) == [1])
        #expect(statistics?.hosts.map(\.inUse) == [0])
    }

    /// The server responds to the uploads before it has read their bodies. Over libcurl, some requests use HTTP/1.1, because its
    /// HTTP/2 isn't suitable for them.
    @Test func allKindsOfRequestsShareAConnection() async throws {
        let server = try await nginx()
        let (session, url) = (session(), try server.url("site"))
        let large = Data(count: 100 * 1024)
        let libcurl = TestedTransport.current == .curl ? HTTP2PauseTests.version : .max
        let ofBodies = libcurl < 0x08_01_00 ? "http/1.1" : "h2"
        let ofStreams = libcurl < 0x08_11_00 ? "http/1.1" : "h2"
        try await withThrowingTaskGroup(of: (String?, expected: String).self) { group in
            for number in 0..<120 {
                group.addTask {
                    switch number % 4 {
                    case 0:
                        return (version(await session.upload(large, to: url).serializingData().response), ofBodies)
                    case 1:
                        let small = await session.upload(Data("x".utf8), to: url).serializingData().response
                        return (version(small), ofBodies)
                    case 2:
                        let request = session.streamRequest(url)
                        for await event in request.streamTask().streamingData() {
                            if case .complete(let completion) = event.event { #expect(completion.error == nil) }
                        }
                        return (request.metrics?.transactionMetrics.last?.networkProtocolName, ofStreams)
                    default: return (version(await session.request(url).serializingData().response), "h2")
                    }
                }
            }
            for try await (version, expected) in group { #expect(version == expected) }
        }
    }

    @Test func theVersionIsChosenBySessionAndRequest() async throws {
        let server = try await nginx()
        let url = try server.url("site")
        let old = session { $0.httpVersion = .http1 }
        #expect(version(await old.request(url).serializingData().response) == "http/1.1")
        let session = session()
        let one = await session.request(url).options { $0.httpVersion = .http1 }.serializingData().response
        #expect(version(one) == "http/1.1")
        let two = await session.request(url).options { $0.httpVersion = .http2PriorKnowledge }.serializingData()
            .response
        #expect(version(two) == "h2")
        #expect(two.response != nil)
        #expect(version(await session.request(try server.url("old")).serializingData().response) == "http/1.1")
    }

    @Test func aServerWithoutTheRequiredVersionFails() async throws {
        let (server, plain) = (try await nginx(), try await TestServer.start())
        let (two, latest) = (session { $0.httpVersion = .http2PriorKnowledge }, session { $0.httpVersion = .http3 })
        for url in [try server.url("old"), plain.url("/get")] {
            let response = await two.request(url).serializingData().response
            let cause =
                (response.error?.underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
            #expect(cause != nil, "\(response)")
        }
        let three = await latest.request(plain.url("/get")).serializingData().response
        let cause = (three.error?.underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
        #expect(cause?.code == .unsupportedByTransport)
    }

    @Test func priorKnowledgeRequiresNoTLS() async throws {
        let server = try await nghttpd("--no-tls")
        let session = session { $0.httpVersion = .http2PriorKnowledge }
        try await withThrowingTaskGroup(of: (Data?, String?).self) { group in
            for _ in 0..<100 {
                group.addTask {
                    let response = await session.request("http://127.0.0.1:\(server.port)/small").serializingData()
                        .response
                    return (response.value, response.error.map { "\($0)" } ?? version(response))
                }
            }
            for try await (data, version) in group { #expect(data?.count == 3 && version == "h2", "\(version ?? "")") }
        }
    }

    @Test func aServerCanAllowFewerStreams() async throws {
        let server = try await nghttpd("--max-concurrent-streams=10")
        let session = session()
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<300 {
                group.addTask {
                    version(await session.request("https://localhost:\(server.port)/small").serializingData().response)
                }
            }
            for try await version in group { #expect(version == "h2") }
        }
    }

    @Test func largeBodiesOfManyStreamsAreComplete() async throws {
        let server = try await nghttpd(files: ["large": 3_000_000])
        let session = session()
        let expected = try Data(contentsOf: server.folder.appending(path: "large"))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let url = "https://localhost:\(server.port)/large"
                    if number % 2 == 0 { return try await session.request(url).serializingData().value == expected }
                    return try await session.download(url).serializingData().value == expected
                }
            }
            for try await isWhole in group { #expect(isWhole) }
        }
    }

    @Test func cancelledStreamsDoNotAffectOthers() async throws {
        let server = try await nghttpd(files: ["large": 2_000_000])
        let session = session()
        try await withThrowingTaskGroup(of: (Int?, AFError?).self) { group in
            for number in 0..<60 {
                group.addTask {
                    let request = session.request("https://localhost:\(server.port)/large")
                    if number % 3 == 0 { request.downloadProgress { _ in request.cancel() } }
                    let response = await request.serializingData().response
                    return (response.value?.count, response.error)
                }
            }
            for try await (count, error) in group {
                #expect(
                    error?.isExplicitlyCancelledError == true || count == 2_000_000, "\(count as Any) \(error as Any)")
            }
        }
    }

    /// nginx sends GOAWAY after 200 requests on a connection.
    @Test func endedConnectionsAreReplaced() async throws {
        let server = try await nginx("", requests: 200)
        let (session, url) = (session(), try server.url("site"))
        try await withThrowingTaskGroup(of: AFError?.self) { group in
            for _ in 0..<1_000 { group.addTask { await session.request(url).serializingString().response.error } }
            for try await error in group { #expect(error == nil) }
        }
        for _ in 0..<250 { #expect(try await session.request(url).serializingString().value.isEmpty == false) }
    }

    /// Each connection refuses most of the requests that wait for it. They are sent before requests that haven't been refused.
    @Test(.onlyOverHTTP("libcurl sends a refused request only five times"))
    func refusedRequestsPrecedeOthers() async throws {
        let server = try await nginx("http2_max_concurrent_streams 3;", requests: 7)
        let (session, url) = (session(), try server.url("site"))
        try await withThrowingTaskGroup(of: AFError?.self) { group in
            for _ in 0..<500 { group.addTask { await session.request(url).serializingString().response.error } }
            for try await error in group { #expect(error == nil) }
        }
    }

    @Test func anIdleConnectionThatIsClosedIsReplaced() async throws {
        let server = try await nginx("keepalive_timeout 1s; http2_idle_timeout 1s;")
        let (session, url) = (session(), try server.url("site"))
        let first = try await session.request(url).serializingString().value
        var next = first
        // The server closes the connection after a second without requests. No event signals this.
        try await Task.sleep(for: .seconds(2.5))
        next = try await session.request(url).serializingString().value
        #expect(first != next)
    }

    @Test func trustIsDecidedOncePerConnection() async throws {
        let server = try await nginx()
        let count = Counter()
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        configuration.httpVersion = .http2
        let session = Session(
            configuration: configuration,
            serverTrustManager: ServerTrustManager(evaluators: ["localhost": Counting(count)]))
        let url = try server.url("site")
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<100 { group.addTask { version(await session.request(url).serializingString().response) } }
            for try await version in group { #expect(version == "h2") }
        }
        #expect(count.value == 1)
    }

    @Test func aHostWithoutHTTP2KeepsItsLimit() async throws {
        let server = try await nginx()
        let (session, url) = (session(), try server.url("old"))
        var connections: Set<Substring> = []
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<200 { group.addTask { try? await session.request(url).serializingString().value } }
            for try await answer in group {
                if let number = answer?.split(separator: " ").first { connections.insert(number) }
            }
        }
        #expect((1...6).contains(connections.count))
    }
}

extension TestedTransport {
    /// Creates a session over the transport of the current test run.
    static func session(_ configuration: SessionConfiguration) -> Session {
        guard current == .curl else { return Session(configuration: configuration) }
        return Session(configuration: configuration, transport: CurlTransport(configuration: .init(configuration)))
    }
}

private final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
}

private struct Counting: ServerTrustEvaluating {
    private let counter: Counter

    init(_ counter: Counter) { self.counter = counter }

    func evaluate(_ trust: ServerTrust, forHost host: String) throws { counter.add() }
}

import Afar
import AfarTransport
import Foundation
import HTTPTypes
import Synchronization
import TestServers
import TestSupport
import Testing

/// HTTP/2 with Apache's mod_http2 and with Go's net/http.
@Suite(.timeLimit(.minutes(1)), .peers(.apache, .go)) struct HTTP2PeerTests {
    static let peers = [HTTP2Peer.apache, .go]

    // MARK: Sessions

    /// Returns a session with the default version of HTTP, and the URL of the server.
    private func sessionForGo() throws -> (Session, url: String) {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = try TestCertificates.shared.get().authority
        let port = try #require(HTTP2Peer.running[.go]).port
        return (Session(configuration: configuration), "https://localhost:\(port)")
    }

    /// The server sends each part of the body back as soon as it has arrived. A session uses HTTP/2 by default.
    @Test func aConversationProceedsInTurns() async throws {
        let (session, base) = try sessionForGo()
        let (chunks, input) = AsyncStream.makeStream(of: Data.self)
        let request = session.streamRequest(
            sending: chunks, trailers: { ["X-Sum": "5"] }, to: "\(base)/echo",
            headers: ["Trailer": "X-Sum"])
        input.yield(Data("ping".utf8))
        var count = 0
        var completion: DataStreamRequest.Completion?
        for await stream in request.streamTask().streamingData() {
            completion = stream.completion
            guard let value = stream.value else { continue }
            count += value.count
            if count < 400 { input.yield(Data("ping".utf8)) } else { input.finish() }
        }
        #expect(count == 400)
        #expect(completion?.error == nil)
        #expect(completion?.trailers["X-Sum"] == "5")
        #expect(completion?.metrics?.transactionMetrics.last?.networkProtocolName == "h2")
    }

    @Test func trailersAndEarlyHintsAreAvailable() async throws {
        let (session, base) = try sessionForGo()
        let response = await session.request("\(base)/trailers?size=3").serializingString().response
        #expect(response.value == "aaa")
        #expect(["X-Late", "X-Sum"].map { response.trailers[$0] } == ["8", "7"])
        let links = Mutex<[String?]>([])
        let (finish, end) = AsyncStream.makeStream(of: Never.self)
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
        monitor.requestDidReceiveInformationalResponse = { _, head in links.withLock { $0.append(head.headers["Link"]) }
        }
        monitor.requestDidFinish = { _ in end.finish() }
        let hinted = session.request("\(base)/hints?count=2").eventMonitor(monitor)
        #expect(try await hinted.serializingString().value == "ok")
        for await _ in finish {}
        #expect(links.withLock { $0 } == ["</0>; rel=preload", "</1>; rel=preload"])
    }

    // MARK: Both servers

    @Test(arguments: peers) func requestsShareAConnection(peer: HTTP2Peer) async throws {
        let client = try HTTP2Client(peer)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<200 { group.addTask { try await client.connection(for: "/small") } }
            let ports: Set<Int> = try await group.reduce(into: []) { $0.insert($1) }
            #expect(ports.count == 1)
        }
    }

    @Test(arguments: peers) func aHeadRequestHasNoBody(peer: HTTP2Peer) async throws {
        let client = try HTTP2Client(peer)
        for _ in 0..<2 {
            let response = try await client.send("/large") { $0.request.method = .head }
            #expect(response.head.contentLength == Int64(HTTP2Peer.large.count))
            #expect(try await response.wholeBody().isEmpty)
        }
        #expect(try await client.body("/small") == Data("small".utf8))
    }

    @Test(arguments: peers) func downloadsAreComplete(peer: HTTP2Peer) async throws {
        let client = try HTTP2Client(peer)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<6 {
                group.addTask { try await client.body("/large", isStreamed: number % 2 == 0) == HTTP2Peer.large }
            }
            for try await isComplete in group { #expect(isComplete) }
        }
    }

    @Test(arguments: peers, [true, false]) func aLargeUploadIsComplete(peer: HTTP2Peer, hasLength: Bool) async throws {
        let client = try HTTP2Client(peer)
        let data = Data.varied(count: 10 << 20)
        let body: RequestBody = hasLength ? .data(data) : .stream(.chunks(of: data))
        #expect(try await received(body, by: peer, client).data == data)
    }

    @Test(arguments: peers) func anUploadCanAwaitConsent(peer: HTTP2Peer) async throws {
        let client = try HTTP2Client(peer)
        let data = Data.varied(count: 1 << 20)
        let observer = Observer()
        let received = try await received(.data(data), by: peer, client) {
            $0.request.headerFields[.expect] = "100-continue"
            $0.observer = observer
        }
        #expect(received.data == data)
        #expect(observer.heads.first?.status == 100)
    }

    @Test(arguments: peers) func uploadsShareAConnection(peer: HTTP2Peer) async throws {
        let client = try HTTP2Client(peer)
        let data = Data.varied(count: 500_000)
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let body: RequestBody = number % 2 == 0 ? .data(data) : .stream(.chunks(of: data))
                    let (received, port) = try await received(body, by: peer, client)
                    #expect(received == data)
                    return port
                }
            }
            let ports: Set<Int?> = try await group.reduce(into: []) { $0.insert($1) }
            #expect(ports.count == 1)
        }
    }

    /// Sends an upload. Returns the data that the server has received, and the local port of the connection.
    private func received(
        _ body: RequestBody, by peer: HTTP2Peer, _ client: HTTP2Client,
        _ change: (inout Exchange) -> Void = { _ in }
    ) async throws -> (data: Data, port: Int?) {
        if peer == .go {
            let response = try await client.send("/echo", body: body, change)
            return (try await response.wholeBody(), response.report.localPort)
        }
        let path = "/uploads/\(UUID())"
        let response = try await client.send(path, body: body) {
            $0.request.method = .put
            change(&$0)
        }
        #expect(response.head.status == 201)
        return (try await client.body(path), response.report.localPort)
    }

    @Test(arguments: peers) func aSlowReaderBlocksOnlyItself(peer: HTTP2Peer) async throws {
        let client = try HTTP2Client(peer)
        let slow = try await client.send("/large", delivery: .stream(highWaterMark: 1))
        var ports: Set<Int?> = []
        for _ in 0..<20 { ports.insert(try await client.connection(for: "/small")) }
        #expect(try await client.body("/large") == HTTP2Peer.large)
        #expect(try await slow.wholeBody() == HTTP2Peer.large)
        #expect(await ports == [slow.wholeReport.localPort])
    }

    // MARK: Apache

    @Test func aConnectionIsReplacedAfterTheServersTimeout() async throws {
        let server = try await HTTP2Peer.apache("KeepAliveTimeout 100ms")
        let client = try HTTP2Client(server)
        let port = try await client.connection(for: "/small")
        try await waitWhile { await client.transport.connectionStatistics?.hosts.isEmpty == false }
        #expect(try await client.connection(for: "/small") != port)
    }

    // MARK: Go

    @Test(arguments: [0, 10, 100_000], [true, false])
    func trailersAreReported(bodyCount: Int, isStreamed: Bool) async throws {
        let client = try HTTP2Client(.go)
        let response = try await client.send(
            "/trailers?size=\(bodyCount)", delivery: isStreamed ? .stream() : .collect())
        #expect(try await response.wholeBody().count == bodyCount)
        let report = await response.wholeReport
        for (name, value) in ["X-Sum": "7", "X-Late": "8"] {
            let name = try #require(HTTPField.Name(name))
            #expect(report.trailers[name] == value)
            #expect(response.head.fields[name] == nil)
        }
    }

    @Test func earlyHintsAreReported() async throws {
        let client = try HTTP2Client(.go)
        let observer = Observer()
        let response = try await client.send("/hints?count=3") { $0.observer = observer }
        #expect(observer.heads.map(\.status) == [103, 103, 103, 200])
        let link = try #require(HTTPField.Name("Link"))
        #expect(observer.heads.map { $0.fields[link]?.prefix(4) } == ["</0>", "</1>", "</2>", nil])
        #expect(try await response.wholeBody() == Data("ok".utf8))
    }

    /// After the response, Go resets the stream with NO_ERROR.
    @Test(arguments: [0, 1, 100_000]) func aServerCanRespondBeforeTheEndOfTheBody(count: Int) async throws {
        let client = try HTTP2Client(.go)
        let data = Data(count: 5 << 20)
        var ports: Set<Int?> = []
        for hasLength in [true, false, true, false] {
            let body: RequestBody = hasLength ? .data(data) : .stream(.chunks(of: data))
            let response = try await client.send("/part?size=\(count)", body: body)
            #expect(response.head.status == 413)
            #expect(try await response.wholeBody() == Data("enough".utf8))
            ports.insert(response.report.localPort)
        }
        #expect(ports.count == 1)
    }

    @Test(
        arguments: [
            "/abort", "/abort?length=10", "/abort?size=10", "/abort?size=10&length=20", "/abort?size=10&length=10",
            "/abort?size=1000000", "/abort?size=1000000&length=2000000",
        ], [true, false])
    func anAbortedResponseFails(path: String, isStreamed: Bool) async throws {
        let client = try HTTP2Client(.go)
        let port = try await client.connection(for: "/small")
        let error = await #expect(throws: TransportError.self) { try await client.body(path, isStreamed: isStreamed) }
        #expect(error?.code == (path.contains("size") ? .bodyIncomplete : .connectionLost), "\(error as Any)")
        #expect(try await client.connection(for: "/small") == port)
    }

    @Test func aBodyCanConsistOfTinyPieces() async throws {
        let client = try HTTP2Client(.go)
        let expected = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0) })
        for isStreamed in [true, false] {
            #expect(try await client.body("/pieces?count=5000", isStreamed: isStreamed) == expected)
        }
    }

    @Test(arguments: [204, 304]) func aStatusCanExcludeABody(status: Int) async throws {
        let client = try HTTP2Client(.go)
        let response = try await client.send("/status?code=\(status)")
        #expect(response.head.status == status)
        #expect(try await response.wholeBody().isEmpty)
    }

    /// After a response with `Connection: close`, Go sends GOAWAY.
    @Test func noRequestIsLostWhenTheServerClosesTheConnection() async throws {
        let client = try HTTP2Client(.go)
        let data = Data.varied(count: 100_000)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    switch number % 10 {
                    case 0: try await client.body("/last") == Data("last".utf8)
                    case 1...5: try await client.body("/echo", sending: .data(data)) == data
                    default: try await client.body("/small") == Data("small".utf8)
                    }
                }
            }
            for try await isComplete in group { #expect(isComplete) }
        }
        let port = try await client.connection(for: "/last")
        #expect(try await client.connection(for: "/small") != port)
    }
}

/// Records the heads of all responses.
private final class Observer: ExchangeObserver {
    private let storage = Mutex<[ResponseHead]>([])

    var heads: [ResponseHead] { storage.withLock { $0 } }

    func exchangeDidReceiveInformational(_ head: ResponseHead) { storage.withLock { $0.append(head) } }

    func exchangeDidReceiveHead(_ head: ResponseHead) { storage.withLock { $0.append(head) } }
}

extension RequestBodyStream {
    /// Creates a body of unknown length.
    fileprivate static func chunks(of data: Data) -> RequestBodyStream {
        let chunks = stride(from: 0, to: data.count, by: 100_000).map { data[$0..<min($0 + 100_000, data.count)] }
        return RequestBodyStream(
            AsyncStream { continuation in
                for chunk in chunks { continuation.yield(chunk) }
                continuation.finish()
            })
    }
}

import Afar
import AfarTransport
import Foundation
import Server
import Synchronization
import Testing

/// Requests over HTTP/2.
@Suite(.timeLimit(.minutes(1))) struct RequestTests {
    private let server: HummingbirdServer
    private let session: Session

    init() async throws {
        server = try await .start()
        session = try HummingbirdServer.session()
    }

    // MARK: Responses

    @Test(
        arguments: zip(
            [.automatic, .http2PriorKnowledge, .http1] as [ExchangeOptions.HTTPVersion], ["h2", "h2", "http/1.1"]))
    func theServerUsesTheRequestedVersion(version: ExchangeOptions.HTTPVersion, name: String) async throws {
        let session = try HummingbirdServer.session { $0.httpVersion = version }
        let response = await session.request(server.url("small")).serializingString().response
        #expect(try response.result.get() == "small")
        #expect(response.metrics?.transactionMetrics.last?.networkProtocolName == name)
    }

    @Test func sixtyFourRequestsAtATimeShareAConnection() async throws {
        var connections: Set<Int> = []
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<640 {
                if number >= 64, let connection = try await group.next() { connections.insert(connection) }
                group.addTask { try await server.connection(of: session) }
            }
            for try await connection in group { connections.insert(connection) }
        }
        #expect(connections.count == 1)
    }

    @Test func aHeadRequestHasNoBody() async throws {
        for _ in 0..<2 {
            let response = await session.request(server.url("small"), method: .head).serializingData().response
            #expect(try response.result.get().isEmpty)
            #expect(response.response?.value(forHTTPHeaderField: "Content-Length") == "5")
        }
    }

    @Test(arguments: [204, 304]) func aStatusCanExcludeABody(status: Int) async throws {
        let response = await session.request(server.url("status?code=\(status)")).serializingData().response
        #expect(response.response?.statusCode == status)
        #expect(response.error?.transportError == nil)
    }

    @Test(arguments: [true, false], [true, false])
    func aLargeDownloadIsComplete(hasLength: Bool, isStreamed: Bool) async throws {
        let count = 10 << 20
        let url = server.url("bytes?count=\(count)" + (hasLength ? "&length=\(count)" : ""))
        guard isStreamed else {
            #expect(try await session.request(url).serializingData().value == Data.varied(count))
            return
        }
        let (data, completion) = try await session.streamRequest(url).wholeResponse()
        #expect(completion.error == nil)
        #expect(data == Data.varied(count))
    }

    @Test func aSlowReaderBlocksOnlyItself() async throws {
        let count = 10 << 20
        let slow = session.streamRequest(server.url("bytes?count=\(count)"))
        var data = Data()
        var connections: Set<Int> = []
        for await stream in slow.streamTask().streamingData() {
            if data.isEmpty {
                for _ in 0..<20 { connections.insert(try await server.connection(of: session)) }
                let other = await session.request(server.url("bytes?count=\(count)")).serializingData().response
                #expect(try other.result.get() == Data.varied(count))
                connections.insert(try other.connection)
            }
            data += stream.value ?? Data()
            #expect(stream.completion?.error == nil)
        }
        #expect(data == Data.varied(count))
        #expect(connections == [slow.metrics?.transactionMetrics.last?.localPort])
    }

    @Test(arguments: [0, 10, 100_000], [true, false])
    func trailersFollowTheBody(count: Int, isStreamed: Bool) async throws {
        let url = server.url("bytes?count=\(count)&trailers=true")
        if isStreamed {
            let (data, completion) = try await session.streamRequest(url).wholeResponse()
            #expect(data == Data.varied(count) && completion.error == nil)
            #expect(completion.trailers["X-Sum"] == "7")
        } else {
            let response = await session.request(url).serializingData(emptyResponseCodes: [200]).response
            #expect(try response.result.get() == Data.varied(count))
            #expect(response.trailers["X-Sum"] == "7")
        }
    }

    @Test(
        arguments: [
            "count=0", "count=0&length=0", "count=10", "count=10&length=10", "count=10&length=20", "count=1000000",
        ], [true, false])
    func anAbortedResponseFails(query: String, isStreamed: Bool) async throws {
        let connection = try await server.connection(of: session)
        let url = server.url("bytes?\(query)&aborts=true")
        let error: AFError?
        if isStreamed {
            error = try await session.streamRequest(url).wholeResponse().completion.error
        } else {
            error = await session.request(url).serializingData(emptyResponseCodes: [200]).response.error
        }
        #expect(error?.transportError?.code == .bodyIncomplete, "\(error as Any)")
        #expect(try await server.connection(of: session) == connection)
    }

    // MARK: Informational responses

    /// Sends a request. Returns the status and the `Link` field of each informational response.
    private func informationalHeads(for request: DataRequest) async throws -> [String] {
        let heads = Mutex<[String]>([])
        let (finish, end) = AsyncStream.makeStream(of: Never.self)
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
        monitor.requestDidReceiveInformationalResponse = { _, head in
            heads.withLock { $0.append("\(head.statusCode) \(head.headers["Link"] ?? "")") }
        }
        monitor.requestDidFinish = { _ in end.finish() }
        _ = try await request.eventMonitor(monitor).serializingString().value
        for await _ in finish {}
        return heads.withLock { $0 }
    }

    @Test func earlyHintsAreReported() async throws {
        let heads = try await informationalHeads(for: session.request(server.url("hints")))
        #expect(heads == ["103 </0>; rel=preload", "103 </1>; rel=preload"])
    }

    @Test func anUploadCanAwaitConsent() async throws {
        let request = session.upload(
            Data.varied(1_000_000), to: server.url("compare"), headers: ["Expect": "100-continue"])
        #expect(try await informationalHeads(for: request) == ["100 "])
        #expect(try await request.serializingString().value == "1000000 true")
    }

    // MARK: Uploads

    @Test(arguments: [0, 1, 16_384, 65_535, 65_536, 1_000_000]) func theBodyIsSentBack(count: Int) async throws {
        let upload = session.upload(Data.varied(count), to: server.url("echo"))
        let response = await upload.serializingData(emptyResponseCodes: [200]).response
        #expect(try response.result.get() == Data.varied(count))
    }

    @Test(arguments: [true, false]) func aLargeUploadIsComplete(hasLength: Bool) async throws {
        let data = Data.varied(10 << 20)
        let url = server.url("compare")
        let request = hasLength ? session.upload(data, to: url) : session.upload(data.chunks(), to: url)
        #expect(try await request.serializingString().value == "\(data.count) true")
    }

    @Test func uploadsShareAConnection() async throws {
        let data = Data.varied(500_000)
        let connections = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let url = server.url("echo")
                    let trailers = { @Sendable () -> HTTPHeaders in ["X-Sum": "\(number)"] }
                    let request =
                        number % 2 == 0
                        ? session.upload(data, to: url) : session.upload(data.chunks(), trailers: trailers, to: url)
                    let response = await request.serializingData().response
                    #expect(try response.result.get() == data)
                    #expect(response.trailers["X-Sum"] == (number % 2 == 0 ? nil : "\(number)"))
                    return try response.connection
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(connections.count == 1)
    }

    @Test func theServerCanRespondBeforeTheEndOfTheBody() async throws {
        let data = Data.varied(5 << 20)
        var connections: Set<Int> = []
        for hasLength in [true, false, true, false] {
            let url = server.url("early")
            let request = hasLength ? session.upload(data, to: url) : session.upload(data.chunks(), to: url)
            let response = await request.serializingString().response
            #expect(response.response?.statusCode == 413)
            #expect(try response.result.get() == "enough")
            connections.insert(try response.connection)
        }
        #expect(connections.count == 1)
    }

    // MARK: Conversations

    /// Each chunk is sent after the response to the previous one has arrived.
    @Test func aConversationProceedsInTurns() async throws {
        let (chunks, input) = AsyncStream.makeStream(of: Data.self)
        let request = session.streamRequest(sending: chunks, trailers: { ["X-Sum": "5"] }, to: server.url("echo"))
        input.yield(Data("turn 0;".utf8))
        var turn = 0
        var text = ""
        var completion: DataStreamRequest.Completion?
        for await stream in request.streamTask().streamingData() {
            completion = stream.completion ?? completion
            text += String(decoding: stream.value ?? Data(), as: UTF8.self)
            guard text.hasSuffix("turn \(turn);") else { continue }
            turn += 1
            if turn < 100 { input.yield(Data("turn \(turn);".utf8)) } else { input.finish() }
        }
        #expect(text == (0..<100).map { "turn \($0);" }.joined())
        #expect(completion?.error == nil)
        #expect(completion?.trailers["X-Sum"] == "5")
        #expect(completion?.metrics?.transactionMetrics.last?.networkProtocolName == "h2")
    }

    /// The server closes connections over which it receives several empty DATA frames in a row.
    @Test func emptyChunksAreNotSent() async throws {
        let connection = try await server.connection(of: session)
        let chunks = AsyncStream<Data> { continuation in
            for number in 0..<100 { continuation.yield(number % 10 == 9 ? Data("a".utf8) : Data()) }
            continuation.finish()
        }
        let (data, completion) = try await session.streamRequest(sending: chunks, to: server.url("echo"))
            .wholeResponse()
        #expect(completion.error == nil)
        #expect(data == Data(repeating: UInt8(ascii: "a"), count: 10))
        #expect(try await server.connection(of: session) == connection)
    }
}

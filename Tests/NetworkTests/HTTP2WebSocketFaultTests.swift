import Afar
import AfarTransport
import Foundation
import TestServers
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// WebSockets over HTTP/2 with a server that violates the protocols, or doesn't read or respond.
@Suite(.serialized, .timeLimit(.minutes(2))) struct HTTP2WebSocketFaultTests {
    private static let server = Task { try await ServerChild.hostileHTTP2(TestCertificates.shared.get()) }

    private let session: Session
    private let authority: String

    init() async throws {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = try TestCertificates.shared.get().authority
        session = Session(configuration: configuration)
        authority = "localhost:\(try await Self.server.value.port)"
    }

    /// Performs a request over HTTP/2. The first one opens the connection.
    private func get(_ path: String = "/ok") async throws {
        let response = await session.request("https://\(authority)\(path)").serializingData().response
        #expect(response.response?.statusCode == 200)
        #expect(response.metrics?.transactionMetrics.last?.networkProtocolName == "h2")
    }

    private func request(_ kind: String, after delay: Double = 0) -> WebSocketRequest {
        session.webSocketRequest(to: "wss://\(authority)/websocket?kind=\(kind)&delay=\(delay)")
    }

    /// Receives all messages. Returns the error.
    private func failure(_ request: WebSocketRequest) async -> TransportError? {
        let error = await #expect(throws: AFError.self) { for try await _ in request.webSocketTask().messages {} }
        let cause = error?.underlyingError as? URLError
        return cause?.userInfo[NSUnderlyingErrorKey] as? TransportError
    }

    @Test func aSilentServerTimesOut() async throws {
        try await get()
        let request = request("silent").options { $0.idleTimeout = 0.1 }
        let error = await failure(request)
        #expect(error?.code == .timedOut)
        #expect(error?.phase == .awaitingResponse)
        try await waitWhile { request.metrics == nil }
        #expect(request.metrics?.transactionMetrics.last?.requestEndDate != nil)
    }

    /// The server reads nothing for a second.
    @Test func anOpenWebSocketHasNoIdleTimeout() async throws {
        try await get()
        let request = request("deaf", after: 1).options { $0.idleTimeout = 0.1 }
        let task = request.webSocketTask()
        for _ in 0..<4 { try await task.send(.data(Data(count: 100_000))) }
        request.cancel()
    }

    @Test(arguments: ["reset", "closed", "end-in-frame"])
    func aLostWebSocketHasTheSameErrorAsOverHTTP1(kind: String) async throws {
        try await get()
        #expect(await failure(request(kind))?.code == .connectionLost)
    }

    /// The reader waits for the writer while the server resets the stream.
    @Test func aWriterDoesNotWaitForALostStream() async throws {
        try await get()
        let task = request("flood", after: 0.5).webSocketTask()
        let error = await #expect(throws: (any Error).self) {
            for try await _ in task.messages { try await task.send(.data(Data(count: 1 << 20))) }
        }
        #expect((error as? TransportError)?.code == .connectionLost)
    }

    @Test func aWebSocketContinuesAfterTheServerHasSaidGoodbye() async throws {
        try await get()
        let task = request("echo-goaway").webSocketTask()
        var messages = task.messages.makeAsyncIterator()
        for number in 0..<3 {
            try await task.send(.string("\(number)"))
            guard case .string("\(number)") = try await messages.next() else { Issue.record("no echo arrived"); return }
            try await get()
        }
        task.cancel()
    }

    @Test func aWrongProtocolIsReportedAtOnce() async throws {
        try await get()
        let request = request("wrong-protocol")
        #expect(await failure(request)?.code == .malformedResponse)
        try await waitWhile { request.metrics == nil }
        let metrics = try #require(request.metrics?.transactionMetrics.last)
        let (start, end) = try (#require(metrics.responseStartDate), #require(metrics.responseEndDate))
        #expect(end.timeIntervalSince(start) < 0.9)
    }

    /// The server allows two streams.
    @Test func webSocketsDoNotBlockOtherRequests() async throws {
        try await get("/limit-streams?count=2")
        var tasks: [WebSocketTask] = []
        for _ in 0..<2 {
            let task = request("echo").webSocketTask()
            try await task.send(.string("hello"))
            tasks.append(task)
        }
        try await get()
        for task in tasks { task.cancel() }
    }
}

import Afar
import AfarTransport
import Foundation
import HTTPTypes
import TestServers
import TestSupport
import Testing

/// WebSockets over HTTP/2 (RFC 8441), with nghttpx in front of a WebSocket server.
@Suite(.serialized, .timeLimit(.minutes(2))) struct HTTP2WebSocketTests {
    private static let servers = Task {
        let server = try await ServerChild.webSockets()
        return (
            backend: server, proxy: try await ServerChild.nghttpx(TestCertificates.shared.get(), backend: server.port)
        )
    }

    private let session: Session
    private let transport: HTTPTransport
    private let backend: ServerChild
    private let authority: String

    init() async throws {
        transport = try Self.makeTransport()
        session = Session(configuration: .default, transport: transport)
        backend = try await Self.servers.value.backend
        authority = "localhost:\(try await Self.servers.value.proxy.port)"
    }

    private static func makeTransport() throws -> HTTPTransport {
        var configuration = ConnectionConfiguration()
        configuration.certificateBundle = try TestCertificates.shared.get().authority
        return HTTPTransport(configuration: configuration)
    }

    /// Opens an HTTP/2 connection, or uses the open one. Returns its local port.
    @discardableResult private func connect() async throws -> Int {
        let response = await session.request("https://\(authority)/missing").serializingData().response
        #expect(response.response?.statusCode == 404)
        let metrics = try #require(response.metrics?.transactionMetrics.last)
        #expect(metrics.networkProtocolName == "h2")
        return try #require(metrics.localPort)
    }

    private func request(_ path: String, protocol name: String? = nil) -> WebSocketRequest {
        session.webSocketRequest(to: "wss://\(authority)\(path)", configuration: .init(protocol: name))
    }

    private typealias Message = URLSessionWebSocketTask.Message

    /// Sends a message and expects that it comes back.
    private func expectEcho(
        of message: Message, _ task: WebSocketTask, _ messages: inout WebSocketMessages.Iterator
    ) async throws {
        async let sent: Void = task.send(message)
        switch (message, try await messages.next()) {
        case (.string(let text), .string(let echo)?): #expect(echo == text)
        case (.data(let data), .data(let echo)?): #expect(echo == data)
        case (_, let other): Issue.record("unexpected: \(String(describing: other))")
        }
        try await sent
    }

    @Test func messagesUseTheSharedConnection() async throws {
        let port = try await connect()
        let request = request("/echo", protocol: "chat")
        let (closings, continuation) = AsyncStream.makeStream(of: String.self)
        request.streamMessageEvents(on: .global()) { event in
            switch event.kind {
            case .connected(let name): continuation.yield("connected \(name ?? "")")
            case .disconnected(let code, let reason):
                continuation.yield("closed \(code.rawValue) \(String(decoding: reason ?? Data(), as: UTF8.self))")
            case .completed(let completion):
                continuation.yield("completed \(completion.response?.statusCode ?? 0) \(completion.error as Any)")
                continuation.finish()
            case .receivedMessage, .serializerFailed: break
            }
        }
        let task = request.webSocketTask()
        var messages = task.messages.makeAsyncIterator()
        let texts = ["", "hello", String(repeating: "long ", count: 40_000)]
        let data = [Data([0, 255]), Data.varied(count: 1_000_000)]
        for message in texts.map(Message.string) + data.map(Message.data) {
            try await expectEcho(of: message, task, &messages)
        }
        #expect(try await connect() == port)
        task.close(sending: .goingAway, reason: Data("bye".utf8))
        #expect(try await messages.next() == nil)
        var events: [String] = []
        for await event in closings { events.append(event) }
        #expect(events == ["connected chat", "closed 1001 bye", "completed 200 nil"])
        try await waitWhile { request.metrics == nil }
        let metrics = request.metrics?.transactionMetrics.last
        #expect(metrics?.networkProtocolName == "h2")
        #expect(metrics?.localPort == port)
        #expect(try await connect() == port)
    }

    @Test func aFirstWebSocketHasItsOwnConnection() async throws {
        let request = request("/echo")
        let task = request.webSocketTask()
        var messages = task.messages.makeAsyncIterator()
        try await expectEcho(of: .string("hello"), task, &messages)
        #expect(request.response?.statusCode == 101)
    }

    /// The connection ends after the request has been prepared, and the next one doesn't report support early enough.
    @Test func aLostConnectionIsReplaced() async throws {
        try await connect()
        var fields = HTTPFields([
            HTTPField(name: .connection, value: "Upgrade"), .init(name: .upgrade, value: "websocket"),
        ])
        fields[.secWebSocketVersion] = "13"
        fields[.secWebSocketKey] = "dGhlIHNhbXBsZSBub25jZQ=="
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: authority, path: "/push?count=1", headerFields: fields)
        let hop = Hop(Exchange(request: request, delivery: .connection))
        let prepared = try transport.prepare(hop)
        transport.closeIdleConnections()
        let response = try await prepared.response()
        #expect(response.head.status == 101)
        guard case .connection(let connection) = response.body else {
            Issue.record("no connection")
            return
        }
        #expect(try await connection.read(atMost: 100, timeout: 10).isEmpty == false)
    }

    @Test(arguments: [("/missing", 404), ("/private/request", 401)])
    func aRefusalIsReported(path: String, status: Int) async throws {
        let port = try await connect()
        let request = request(path)
        let error = await #expect(throws: AFError.self) { for try await _ in request.webSocketTask().messages {} }
        #expect(error?.responseCode == status)
        #expect(request.response?.statusCode == status)
        #expect(try await connect() == port)
    }

    @Test func manyWebSocketsShareAConnection() async throws {
        let port = try await connect()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let request = request("/echo")
                    let task = request.webSocketTask()
                    var messages = task.messages.makeAsyncIterator()
                    for count in 0..<10 {
                        try await expectEcho(of: .string("\(number) \(count)"), task, &messages)
                    }
                    #expect(request.response?.statusCode == 200)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await connect() == port)
    }

    /// A slow reader doesn't receive more than the windows allow, and doesn't block other requests.
    @Test func aSlowReaderBlocksOnlyItself() async throws {
        let port = try await connect()
        let task = request("/push?count=200&size=100000").webSocketTask()
        var count = 0
        for await event in task.streamingMessageEvents() {
            guard case .receivedMessage = event.kind else { continue }
            count += 1
            if count % 50 == 1 { #expect(try await connect() == port) }
        }
        #expect(count == 200)
    }

    @Test func cancellationEndsTheStream() async throws {
        let port = try await connect()
        let request = request("/closed")
        let task = request.webSocketTask()
        try await task.send(.string("left \(authority)"))
        request.cancel()
        try await waitWhile { !backend.output.contains("closed left \(authority)") }
        #expect(try await connect() == port)
    }

    @Test func aLossIsReported() async throws {
        let port = try await connect()
        let task = request("/drop").webSocketTask()
        let error = await #expect(throws: AFError.self) {
            async let sent: Void = task.send(.string("now"))
            for try await _ in task.messages {}
            try await sent
        }
        #expect((error?.underlyingError as? URLError)?.code == .networkConnectionLost)
        #expect(try await connect() == port)
    }

    @Test func theTransportIsReleased() async throws {
        weak var transport: HTTPTransport?
        do {
            let owned = try Self.makeTransport()
            transport = owned
            let session = Session(configuration: .default, transport: owned)
            _ = await session.request("https://\(authority)/missing").serializingData().response
            let request = session.webSocketRequest(to: "wss://\(authority)/echo")
            let task = request.webSocketTask()
            var messages = task.messages.makeAsyncIterator()
            try await expectEcho(of: .string("hello"), task, &messages)
            #expect(request.response?.statusCode == 200)
            task.close(sending: .normalClosure)
            #expect(try await messages.next() == nil)
        }
        try await waitWhile { transport != nil }
    }

    /// The bytes are written before the connection is closed, and arrive although it is closed at once.
    @Test func closingSendsTheLastBytes() async throws {
        try await connect()
        let request = request("/raw?bytes=ff00")
        await #expect(throws: AFError.self) { for try await _ in request.webSocketTask().messages {} }
        try await waitWhile { !backend.output.contains("closed with 1002") }
        #expect(backend.output.contains("closed with 1002"))
    }
}

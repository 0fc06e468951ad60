import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

typealias Step = MockWebSocket.Step
typealias Message = URLSessionWebSocketTask.Message

/// The URL of a WebSocket for which ``mock(_:_:)`` has stubs.
let chat = "ws://mock.test/chat"

/// Returns a mock whose only stub has these responses.
func mock(_ response: MockResponse, _ other: MockResponse? = nil, delays: MockTransport.Delays = .scripted)
    -> MockTransport
{
    let stub = other.map { Stub(.get, chat, response, $0) } ?? Stub(.get, chat, response)
    return MockTransport(delays: delays, stubs: [stub])
}

/// Opens a WebSocket, sends messages, and returns descriptions of its events after it has finished.
func events(
    over transport: any Transport, _ configuration: SessionConfiguration = SessionConfiguration(),
    retrier: (any RequestRetrier)? = nil, settings: WebSocketRequest.Configuration = .default,
    sending messages: [Message] = []
) async -> [String] {
    let session = Session(
        configuration: configuration, interceptor: Interceptor(retriers: retrier.map { [$0] } ?? []),
        transport: transport)
    let request = session.webSocketRequest(to: chat, configuration: settings)
    for message in messages { request.send(message, queue: .global()) { _ in } }
    let events = await events(of: request)
    withExtendedLifetime(session) {}
    return events
}

/// Starts a WebSocket and returns descriptions of its events after it has finished.
func events(of request: WebSocketRequest) async -> [String] {
    let (events, continuation) = AsyncStream.makeStream(of: String.self)
    request.streamMessageEvents(on: .global()) { event in
        switch event.kind {
        case .connected(let name): continuation.yield("connected \(name ?? "-")")
        case .receivedMessage(.string(let text)): continuation.yield(text)
        case .receivedMessage(.data(let data)): continuation.yield(data.count > 9 ? "\(data)" : "\(Array(data))")
        case .receivedMessage, .serializerFailed: continuation.yield("unexpected")
        case .disconnected(let code, let reason):
            continuation.yield("disconnected \(code.rawValue) \(String(decoding: reason ?? Data(), as: UTF8.self))")
        case .completed(let completion):
            continuation.yield(
                completion.error.map { "failed \(outcome($0))" } ?? "completed \(completion.response?.statusCode ?? 0)")
            continuation.finish()
        }
    }
    return await events.reduce(into: []) { $0.append($1) }
}

/// Returns the code and the message of the transport's error, or the status that was refused.
func outcome(_ error: AFError) -> String {
    error.transportError.map { "\($0.code): \($0.message)" } ?? "\(error.responseCode ?? 0)"
}

@Suite(.timeLimit(.minutes(1))) struct MockWebSocketTests {
    // MARK: Scripts

    @Test func aScriptRunsInOrder() async {
        let mock = mock(
            .webSocket(
                protocol: "v2", .expect(.string("hello")), .send(.string("grüße 🌍")), .expect(.data(Data([1, 2]))),
                .send(json: ["b": 2, "a": 1]), .send(.data(Data())), .close(.goingAway, reason: "bye")))
        let sent = [Message.string("hello"), .data(Data([1, 2]))]
        let events = await events(over: mock, settings: .protocol("v2"), sending: sent)
        let texts = ["grüße 🌍", #"{"a":1,"b":2}"#, "[]"]
        #expect(events == ["connected v2"] + texts + ["disconnected 1001 bye", "completed 101"])
        #expect(mock.failedExpectations.isEmpty)
        #expect(mock.requests.map(\.url) == ["http://mock.test/chat"])
    }

    @Test func expectationsCanBePatternsAndConditions() async {
        let mock = mock(
            .webSocket(
                .expect(matching: .json(["a": 1, "b": 2])), .expect(matching: .data(Data([7]))),
                .expect("a number") { if case .string(let text) = $0 { Int(text) != nil } else { false } },
                .send(.string("well done"))))
        let sent = [Message.string(#"{ "b": 2, "a": 1 }"#), .data(Data([7])), .string("42")]
        let events = await events(over: mock, sending: sent)
        #expect(events == ["connected -", "well done", "disconnected 1000 ", "completed 101"])
        #expect(mock.failedExpectations.isEmpty)
    }

    @Test(
        arguments: [
            (.expect(.string("hello")), #"the text "hello", but the client sent the text "a b""#),
            (.expect(.data(Data("a\nb".utf8))), "3 bytes of data, but"),
            (.expect(matching: .json(["a": 1])), #"a message with the body {"a":1}, but"#),
            (.expect("a number") { _ in false }, "a number, but"),
            (.expectClose(), "a close, but"),
        ] as [(Step, String)])
    func anUnexpectedMessageFailsTheRequest(step: Step, message: String) async {
        let mock = mock(.webSocket(.send(.string("first")), step, .send(.string("never"))))
        let events = await events(over: mock, sending: [.string("a\nb")])
        #expect(events.dropLast() == ["connected -", "first"])
        #expect(
            events.last?.hasPrefix("failed invalidUse: the mock WebSocket /chat expected \(message)") == true,
            "\(events)")
        #expect(mock.failedExpectations.map { "failed invalidUse: \($0)" } == events.suffix(1))
    }

    @Test(
        arguments: [
            (
                .webSocket(.expect(.string("more"))),
                #"the text "more", but the client closed the WebSocket with the code 4001"#
            ),
            (
                .webSocket(.expectClose(.goingAway)),
                "a close with the code 1001, but the client closed the WebSocket with the code 4001"
            ),
            (
                .webSocket(.delay(.seconds(3600)), .ping, .send(.string("late")), .expect("more") { _ in true }),
                "more, but"
            ),
        ] as [(MockResponse, String)])
    func anUnexpectedCloseIsReported(response: MockResponse, message: String) async throws {
        let mock = mock(response)
        let session = Session(transport: mock)
        let task = session.webSocketRequest(to: chat).webSocketTask()
        for await event in task.streamingMessageEvents() {
            if case .connected = event.kind { event.close(sending: WebSocketCloseCode(rawValue: 4001)) }
        }
        #expect(mock.failedExpectations.count == 1)
        #expect(mock.failedExpectations.first?.hasPrefix("the mock WebSocket /chat expected \(message)") == true)
    }

    @Test func aMistakeInAScriptIsReported() async {
        for (response, message) in [
            (.webSocket(.close(), .send(.string("late"))), "the server has closed the WebSocket"),
            (.webSocket(.send(json: ["x": Double.nan])), "a message can't be encoded as JSON"),
        ] as [(MockResponse, String)] {
            let mock = mock(response)
            _ = await events(over: mock)
            #expect(mock.failedExpectations.count == 1)
            #expect(mock.failedExpectations.first?.hasPrefix(message) == true)
        }
    }

    @Test func aFailedExpectationFailsTheTest() async throws {
        let trait: StubTrait = .stubs(Stub(.get, "wss://mock.test/*", .webSocket(.expect(.string("a")))))
        let test = try #require(Test.current)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {
                let socket = live.webSocketRequest(to: "wss://mock.test/chat").webSocketTask()
                try await socket.send(.string("b"))
                do { for try await _ in socket.messages {} } catch {}
            }
        } matching: {
            "\($0)".contains(#"the mock WebSocket /chat expected the text "a", but the client sent the text "b""#)
        }
    }

    // MARK: The handshake

    @Test func aWebSocketCanBeRefused() async {
        #expect(await events(over: mock(.text("no", status: 403))) == ["failed 403"])
        let busy = mock(.status(503), .webSocket(.send(.string("welcome"))))
        let policy = RetryPolicy(exponentialBackoffScale: 0.001)
        #expect(await events(over: busy, retrier: policy).contains("welcome"))
    }

    @Test func aLostConnectionCanBeOpenedAgain() async {
        let mock = mock(.webSocket(.send(.string("first")), .disconnect), .webSocket(.send(.string("second"))))
        let once = Retrier { request, _, _, completion in completion(request.retryCount == 0 ? .retry : .doNotRetry) }
        let events = await events(over: mock, retrier: once)
        #expect(events == ["connected -", "first", "connected -", "second", "disconnected 1000 ", "completed 101"])
        #expect(mock.requests.count == 2)
    }

    @Test func aSubprotocolThatWasNotOfferedFailsTheHandshake() async {
        let surprising = await events(over: mock(.webSocket(protocol: "v1")))
        #expect(surprising.first?.contains("a subprotocol that was not offered") == true)
        let forged = await events(over: mock(.webSocket().adding("Sec-WebSocket-Accept", "wrong")))
        #expect(forged.first?.hasPrefix("failed malformedResponse") == true)
    }

    @Test func handshakesCanBeDelayedAndTimeOut() async {
        var configuration = SessionConfiguration()
        configuration.timeoutIntervalForResource = 0.05
        let slow = mock(.webSocket().delayed(by: .seconds(3600)))
        #expect(await events(over: slow, configuration).first?.hasPrefix("failed timedOut") == true)
        // The timeout covers only the handshake.
        let open = mock(.webSocket(.delay(.milliseconds(200)), .send(.string("late"))))
        #expect(await events(over: open, configuration).contains("late"))
    }

    @Test func onlyWebSocketsAreAnswered() async throws {
        let session = Session(transport: mock(.webSocket()))
        let error = await session.request("http://mock.test/chat").serializingData().response.error
        #expect(error?.transportError?.code == .invalidUse)
        #expect(error?.transportError?.message.contains("accepts a WebSocket, but the request isn't for one") == true)
        let raw = await #expect(throws: AFError.self) {
            _ = try await session.stream(withHostName: "mock.test", port: 7).readData(ofMinLength: 1, maxLength: 1)
        }
        #expect(raw?.transportError?.code == .unsupportedByTransport)
    }

    // MARK: Closures

    @Test func aClosureCanServe() async throws {
        let session = Session(
            transport: MockTransport(stubs: [
                Stub(.get, "ws://mock.test/echo/{name}") { request in
                    .webSocket { socket in
                        try await socket.send(.string(request.parameters["name"] ?? ""))
                        try await socket.send(.string(socket.request["X-App"] ?? ""))
                        while let message = try await socket.receive() { try await socket.send(message) }
                    }
                }
            ]))
        let socket = session.webSocketRequest(to: "ws://mock.test/echo/ada", headers: ["X-App": "7"]).webSocketTask()
        var messages = socket.messages.makeAsyncIterator()
        for expected in ["ada", "7"] {
            guard case .string(expected) = try await messages.next() else { throw Unexpected(what: "not \(expected)") }
        }
        // Long messages have several frames.
        let texts = ["", String(repeating: "é🌍", count: 200_000 / 6)]
        let blocks = [Data(), Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })]
        for message in texts.map(Message.string) + blocks.map(Message.data) {
            try await socket.send(message)
            let echo = try await messages.next()
            switch message {
            case .string(let text): guard case .string(text)? = echo else { throw Unexpected(what: "\(text.count)") }
            case .data(let data): guard case .data(data)? = echo else { throw Unexpected(what: "\(data)") }
            @unknown default: break
            }
        }
        socket.close(sending: .normalClosure)
        #expect(try await messages.next() == nil)
    }

    @Test func errorsOfTheClosureFailTheConnection() async {
        struct Own: Error {}
        for (error, code) in [
            (URLError(.notConnectedToInternet), "notConnected"), (Own(), "unknown"),
        ] as [(any Error, String)] {
            let mock = mock(
                .webSocket { socket in
                    try await socket.send(.string("first"))
                    throw error
                })
            let events = await events(over: mock)
            #expect(events.dropLast() == ["connected -", "first"])
            #expect(events.last == "failed \(code): the mock's closure failed")
            #expect(mock.failedExpectations.isEmpty)
        }
    }

    @Test func aSlowReaderSlowsTheServer() async throws {
        let sent = Locked(0)
        let mock = mock(
            .webSocket { socket in
                for _ in 0..<100 {
                    try await socket.send(.data(Data(count: 100_000)))
                    sent.withLock { $0 += 1 }
                }
            })
        let session = Session(transport: mock)
        var received = 0
        for try await _ in session.webSocketRequest(to: chat).webSocketTask().messages {
            received += 1
            // The pipe and the reader hold fewer than ten messages.
            #expect(sent.withLock(\.self) < received + 10)
        }
        #expect(received == 100)
    }

    // MARK: Pings

    @Test func bothSidesAnswerPings() async throws {
        let mock = mock(.webSocket(.expect(.string("go")), .ping, .send(.string("answered")), .expectClose()))
        let (pongs, continuation) = AsyncStream.makeStream(of: Bool.self)
        let session = Session(transport: mock)
        let socket = session.webSocketRequest(to: chat)
        let task = socket.webSocketTask()
        try await task.send(.string("go"))
        for try await message in task.messages {
            guard case .string("answered") = message else { throw Unexpected(what: "\(message)") }
            socket.sendPing(respondingOn: .global()) { response in
                if case .pong = response { continuation.yield(true) } else { continuation.yield(false) }
            }
            for await isAnswered in pongs.prefix(1) { #expect(isAnswered) }
            task.close(sending: .normalClosure)
        }
        #expect(mock.failedExpectations.isEmpty)
    }

    @Test func pingsAreAnsweredDuringDelays() async throws {
        let mock = mock(.webSocket(.delay(.milliseconds(900)), .send(.string("late"))))
        let events = await events(over: mock, settings: .pingInterval(0.4))
        #expect(events == ["connected -", "late", "disconnected 1000 ", "completed 101"])
    }

    // MARK: Delays

    @Test func delaysUseTheSessionsTime() async throws {
        let clock = ManualClock()
        var configuration = SessionConfiguration()
        configuration.timeSource = clock.timeSource
        let mock = mock(
            .webSocket(.send(.string("now")), .delay(.seconds(3600)), .send(.string("later")))
                .delayed(by: .seconds(60)))
        let session = Session(configuration: configuration, transport: mock)
        let socket = session.webSocketRequest(to: chat).webSocketTask()
        async let advanced: Void = {
            for duration in [Duration.seconds(60), .seconds(3600)] {
                await clock.waitForSleepers()
                clock.advance(by: duration)
            }
        }()
        var texts: [String] = []
        for try await case .string(let text) in socket.messages { texts.append(text) }
        await advanced
        #expect(texts == ["now", "later"])
    }

    @Test func delaysCanBeSkipped() async throws {
        let hour = Duration.seconds(3600)
        let stub = Stub(.get, chat, .webSocket(.delay(hour), .send(.string("sent"))).delayed(by: hour))
        let other = Stub(.get, "/slow", .text("abc").chunked(into: 1, every: hour).delayed(by: hour))
        let mock = MockTransport(delays: .none, stubs: [stub, other])
        #expect(await events(over: mock).contains("sent"))
        #expect(try await mock.send(.to("/slow")).text == "abc")
        let closure = MockTransport(delays: .none) { _ in .text("abc").delayed(by: hour) }
        #expect(try await closure.send(.to("/")).text == "abc")
    }

    @Suite(.stubs(Stub(.get, "/suite", .text("suite").delayed(by: .seconds(3600))), delays: .none))
    struct SuiteTests {
        @Test(.stubs(Stub(.get, "/test", .text("test").delayed(by: .seconds(3600)))))
        func aSuiteSkipsTheDelaysOfItsTests() async throws {
            for path in ["suite", "test"] {
                let data = try await live.request("http://mock.test/\(path)").serializingData().value
                #expect(String(decoding: data, as: UTF8.self) == path)
            }
        }
    }
}

import Afar
import AfarConformance
import AfarHAR
import AfarTestServer
import AfarTesting
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app's code, which uses `AF`.
enum API {
    struct Order: Codable, Sendable, Equatable {
        var item: Int
        var count: Int
    }

    static func userName(_ id: Int) async throws -> String {
        struct User: Decodable, Sendable { var name: String }
        return try await AF.request("https://api.example.com/users/\(id)", interceptor: RetryPolicy())
            .validate().serializingDecodable(User.self).value.name
    }

    static func place(_ order: Order) async throws -> String {
        try await AF.request(
            "https://api.example.com/orders", method: .post, parameters: order, encoder: JSONParameterEncoder.default
        ).validate().serializingString().value
    }

    static func replies(to greeting: String) async throws -> [String] {
        let socket = AF.webSocketRequest(to: "wss://example.com/chat").webSocketTask()
        try await socket.send(.string(greeting))
        var replies: [String] = []
        for try await case .string(let reply) in socket.messages { replies.append(reply) }
        return replies
    }
}

@Suite struct TestKitSamples {
    @Test(.stubs(Stub(.get, "https://api.example.com/users/{id}", .json(["name": "Ada"]))))
    func theNameIsRead() async throws {
        #expect(try await API.userName(7) == "Ada")
    }

    @Test(
        .stubs(
            Stub(.get, "/users/{id}", .status(503), .json(["name": "Ada"])),
            Stub(.post, "/orders", .text("thanks", status: 201)).withBody(.json(API.Order(item: 7, count: 1))),
            Stub(.post, "/orders", .status(422)).when("without a count") { !$0.body.contains(UInt8(ascii: "1")) },
            Stub(.get, "/echo/{word}") { request in .text(request.parameters["word"] ?? "") },
            allowsUnused: true))
    func stubsOfAllKinds() async throws {
        #expect(try await API.userName(7) == "Ada")
        #expect(try await API.place(API.Order(item: 7, count: 1)) == "thanks")
        #expect(MockTransport.current?.requests.map(\.path) == ["/users/7", "/users/7", "/orders"])
    }

    @Test func timeIsAdvanced() async throws {
        let clock = ManualClock()
        var configuration = SessionConfiguration.default
        configuration.timeSource = clock.timeSource
        let mock = MockTransport(stubs: [Stub(.get, "/", .status(503).adding("Retry-After", "3600"), .text("hello"))])
        let session = Session(
            configuration: configuration, interceptor: .retryPolicy(respectingRetryAfterUpTo: 7_200), transport: mock)

        async let text = session.request("https://api.example.com/").validate().serializingString().value
        await clock.waitForSleepers()
        clock.advance(by: .seconds(3_600))
        #expect(try await text == "hello")
    }

    @Test(
        .stubs(
            Stub(
                .get, "wss://example.com/chat",
                .webSocket(
                    .expect(.string("hello")), .delay(.seconds(60)), .send(.string("welcome")), .close(.goingAway))),
            delays: .none))
    func theChatWelcomesUsers() async throws {
        #expect(try await API.replies(to: "hello") == ["welcome"])
    }

    @Test func aServerForWebSockets() async throws {
        let echo = Stub(
            .get, "/echo",
            .webSocket { socket in
                while let message = try await socket.receive() { try await socket.send(message) }
            })
        let session = Session(transport: MockTransport(stubs: [echo]))
        let socket = session.webSocketRequest(to: "wss://example.com/echo").webSocketTask()
        try await socket.send(.string("hello"))
        for try await message in socket.messages {
            if case .string(let text) = message { #expect(text == "hello") }
            socket.close(sending: .normalClosure)
        }
    }

    @Test func aMockForAllSessions() async throws {
        let mock = MockTransport(stubs: [Stub(.get, "/users/{id}", .json(["name": "Grace"]))])
        let name = try await Session.withTransport(mock) { try await API.userName(7) }
        #expect(name == "Grace")
        #expect(mock.unusedStubs.isEmpty)
    }

    @Test(.replay("ada"))
    func theNameIsReadFromARecording() async throws {
        #expect(try await API.userName(7) == "Ada")
    }

    @Test func recordingByHand() async throws {
        let server = try await TestServer.start()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).har")
        defer { try? FileManager.default.removeItem(at: file) }

        let recording = RecordingTransport(around: Session().transport, redaction: .secrets(and: ["X-Customer"]))
        let live = Session(transport: recording)
        let expected = try await live.request(server.url("/json")).serializingString().value
        try recording.archive.write(to: file)
        await server.stop()

        let replay = try ReplayTransport(contentsOf: file, matching: .lenient)
        let offline = Session(transport: replay)
        #expect(try await offline.request(server.url("/json")).serializingString().value == expected)
        #expect(replay.unusedEntries.isEmpty)
    }

    @Test func trafficForABrowser() async throws {
        let server = try await TestServer.start()
        let monitor = HARMonitor()
        let session = Session(eventMonitors: [monitor])
        _ = try await session.request(server.url("/get")).serializingData().value
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).har")
        try monitor.archive.write(to: file)
        #expect(monitor.archive.entries.count == 1)
        try FileManager.default.removeItem(at: file)
        await server.stop()
    }

    @Test func aCustomInterceptor() async throws {
        let session = Session(transport: MockTransport(stubs: []))
        let request = try session.makeRequest("https://api.example.com/", response: .status(503), retryCount: 1)
        let error = AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: 503))
        let decision = await withCheckedContinuation { continuation in
            RetryPolicy(retryLimit: 1).retry(request, for: session, dueTo: error) { continuation.resume(returning: $0) }
        }
        guard case .doNotRetry = decision else {
            Issue.record("a second retry: \(decision)")
            return
        }
    }

    @Test func aTransportIsTested() async throws {
        let subject = ConformanceSubject("mine", hasSockets: false) {
            MockTransport { request in
                let answer = ConformanceServer.response(
                    to: .init(
                        method: request.method.rawValue, target: request.exchange.request.path ?? "/",
                        fields: request.fields, body: request.body))
                return MockResponse(status: answer.status, fields: answer.fields, body: answer.body)
            }
        }
        for test in ConformanceCase.all where test.area == .requests && subject.exclusionReason(for: test) == nil {
            try await test.run(subject)
        }
    }
}

import AfarCore
import AfarTesting
import Foundation
import HTTPTypes
import Testing

@Suite struct MockTransportTests {
    @Test func closureAnswersAndRequestsAreRecorded() async throws {
        let transport = MockTransport { request in
            request.path == "/users" ? .json(["id": 1], status: 201) : .status(404)
        }
        let defaults = DefaultFields([.accept: "x"])
        let found = try await transport.send(.to("/users?page=2") { $0.options.defaultFields = defaults })
        #expect(found.head.status == 201)
        #expect(found.text == "{\"id\":1}")
        #expect(found.head.contentLength == 8)
        #expect(found.head.value(for: .contentType) == "application/json")
        #expect(try await transport.send(.to("/other")).head.status == 404)
        #expect(transport.requests.map(\.url) == ["http://mock.test/users?page=2", "http://mock.test/other"])
        #expect(transport.requests.first?.query == "page=2")
        #expect(transport.requests.first?.fields[.accept] == "x")
    }

    @Test func everyFormOfBodyIsCollected() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).txt")
        try Data("file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let transport = MockTransport { .data($0.body) }
        let recorder = Recorder()
        let stream = RequestBodyStream.of(["st", "ream"])
        for (body, expected) in [
            (RequestBody.none, ""), (.data(Data("data".utf8)), "data"), (.file(file), "file"),
            (.stream(stream), "stream"),
        ] {
            let response = try await transport.send(.to("/") { ($0.body, $0.observer) = (body, recorder) })
            #expect(response.text == expected)
        }
        #expect(recorder.events.withLock { $0.filter { $0.hasPrefix("sent") } } == [4, 4, 2, 6].map { "sent \($0)" })
    }

    @Test func informationalResponsesComeFirst() async throws {
        let recorder = Recorder()
        let transport = MockTransport { _ in .text("ok").preceded(by: 102).preceded(by: 103, fields: [.server: "x"]) }
        _ = try await transport.send(.to("/") { $0.observer = recorder })
        #expect(recorder.events.withLock { $0 } == ["info 102", "info 103", "head 200", "received 2/2"])
        let error = await failure {
            _ = try await transport.send(.to("/") { $0.options.maximumInformationalResponses = 1 })
        }
        #expect(error?.code == .headTooLarge)
    }

    @Test func wrongBodiesFail() async throws {
        let transport = MockTransport { _ in .status(204) }
        let missing = RequestBody.file(URL(fileURLWithPath: "/nonexistent"))
        for body in [missing, .stream(.of(["abc"], length: 4)), .stream(.of(["abc"], length: 2))] {
            let error = await failure { _ = try await transport.send(.to("/") { $0.body = body }) }
            #expect(error?.code == .requestBodyFailed)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func errorsOfTheClosureFailTheExchange() async throws {
        struct Own: Error {}
        #expect(await failure { _ = try await MockTransport { _ in throw Own() }.send(.to("/")) }?.underlying is Own)
        let named = MockTransport { _ in .failure(.notConnected) }
        #expect(await failure { _ = try await named.send(.to("/")) }?.code == .notConnected)
        let unspeakable = MockTransport { _ in .json(["x": Double.nan]) }
        #expect(await failure { _ = try await unspeakable.send(.to("/")) }?.code == .invalidUse)
    }

    @Test func capabilitiesAreEnforced() async throws {
        let poor = MockTransport(capabilities: TransportCapabilities(name: "poor", features: [])) { _ in .status(200) }
        let error = await failure { _ = try await poor.send(.to("/") { $0.delivery = .stream() }) }
        #expect(error?.code == .unsupportedByTransport)
        #expect(poor.requests.isEmpty)
    }

    @Test func hookAndObserverReceiveTheResponseInOrder() async throws {
        struct Refused: Error {}
        let transport = MockTransport { _ in .text("abcdef").chunked(into: 4) }
        let recorder = Recorder()
        let response = try await transport.send(.to("/") { $0.observer = recorder })
        #expect(recorder.events.withLock { $0 } == ["head 200", "received 4/6", "received 6/6"])
        #expect(response.report.transactions.first?.countOfResponseBodyBytesAfterDecoding == 6)
        let refused = await failure {
            _ = try await transport.send(.to("/") { $0.decide = { _ in .refuse(Refused()) } })
        }
        #expect(refused?.underlying is Refused)
    }

    @Test func recordedRequestsDoNotRetainObservers() async throws {
        let transport = MockTransport { _ in .text("abc") }
        weak var observer: Recorder?
        do {
            let recorder = Recorder()
            observer = recorder
            _ = try await transport.send(.to("/") { $0.observer = recorder })
        }
        // The mock's task can retain the exchange a little longer.
        await eventually { observer == nil }
        #expect(transport.requests.count == 1)
    }

    @Test func headHasNoBody() async throws {
        let transport = MockTransport { _ in .text("abc") }
        let response = try await transport.send(.to("/") { $0.request.method = .head })
        #expect(response.text == "")
        #expect(response.head.contentLength == 3)
    }
}

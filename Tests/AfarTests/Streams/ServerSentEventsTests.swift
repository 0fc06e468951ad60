import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The events of one response.
@Suite struct ServerSentEventsTests {
    static let kinds = TransportKind.all(with: [.streamedDelivery])

    private static func stream(_ body: String, type: String = "text/event-stream", status: Int = 200) -> RawServer.Step
    {
        .respond(
            "HTTP/1.1 \(status) OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
    }

    @Test(arguments: kinds)
    func eventsAreDeliveredAsTheyAreSent(kind: TransportKind) async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n"),
            .send("data: one\n\n"), .hold(gate), .send("event: b\nid: 7\ndata: two\n\n"), .close,
        ])
        let session = kind.session()
        var events: [ServerSentEvent] = []
        var end: DataStreamRequest.Completion?
        for await stream in session.streamRequest(server.url).streamTask().streamingServerSentEvents() {
            if let event = stream.value { events.append(event) }
            end = stream.completion
            // The server sends more only after the first event has been received.
            gate.open()
        }
        #expect(events == [ServerSentEvent(data: "one"), ServerSentEvent(event: "b", data: "two", id: "7")])
        #expect(end?.error == nil)
        await server.stop()
    }

    @Test(arguments: kinds)
    func aHandlerReceivesEvents(kind: TransportKind) async throws {
        let server = try await RawServer.start([Self.stream("data: one\n\ndata: two\n\n")])
        let session = kind.session()
        let seen = StreamLog<ServerSentEvent>()
        session.streamRequest(server.url).responseStreamServerSentEvents(on: seen.queue, stream: seen.note)
        #expect(await seen.completion.error == nil)
        #expect(seen.events.compactMap(\.value?.data) == ["one", "two"])
        await server.stop()
    }

    @Test(arguments: kinds, ["text/plain", "text/event-streams", "application/json"])
    func anotherContentTypeFails(kind: TransportKind, type: String) async throws {
        let server = try await RawServer.start([Self.stream("data: one\n\n", type: type)])
        let session = kind.session()
        let seen = StreamLog<ServerSentEvent>()
        session.streamRequest(server.url).responseStreamServerSentEvents(on: seen.queue, stream: seen.note)
        #expect(await seen.completion.error?.acceptableContentTypes == ["text/event-stream"])
        #expect(seen.events.count == 1)
        await server.stop()
    }

    @Test(arguments: kinds)
    func anotherStatusFails(kind: TransportKind) async throws {
        let server = try await RawServer.start([Self.stream("data: one\n\n", status: 206)])
        let session = kind.session()
        let seen = StreamLog<ServerSentEvent>()
        session.streamRequest(server.url).responseStreamServerSentEvents(on: seen.queue, stream: seen.note)
        #expect(await seen.completion.error?.responseCode == 206)
        #expect(seen.events.count == 1)
        await server.stop()
    }

    @Test(arguments: kinds)
    func noContentHasNoEvents(kind: TransportKind) async throws {
        let server = try await RawServer.start([.respond("HTTP/1.1 204 No Content\r\n\r\n")])
        let session = kind.session()
        let seen = StreamLog<ServerSentEvent>()
        session.streamRequest(server.url).responseStreamServerSentEvents(on: seen.queue, stream: seen.note)
        let completion = await seen.completion
        #expect(completion.error == nil)
        #expect(completion.response?.statusCode == 204)
        #expect(seen.events.count == 1)
        await server.stop()
    }

    @Test(arguments: kinds, [true, false])
    func anOversizedEventCancelsOnRequest(kind: TransportKind, cancels: Bool) async throws {
        let body = "data: a\n\ndata: \(String(repeating: "x", count: 100))\n\ndata: b\n\n"
        let server = try await RawServer.start([Self.stream(body)])
        let session = kind.session()
        let seen = StreamLog<ServerSentEvent>()
        session.streamRequest(server.url, automaticallyCancelOnStreamError: cancels)
            .responseStreamServerSentEvents(on: seen.queue, maximumEventSize: 50, stream: seen.note)
        _ = await seen.completion
        #expect(seen.events.compactMap(\.value?.data) == (cancels ? ["a"] : ["a", "b"]))
        let errors = seen.events.compactMap { $0.error?.underlyingError as? ServerSentEventTooLarge }
        #expect(errors.map(\.limit) == [50])
        await server.stop()
    }
}

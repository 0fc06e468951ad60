import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Events from a source that reconnects.
@Suite struct EventSourceTests {
    static let kinds = TransportKind.all(with: [.streamedDelivery])
    static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    static let noMore = RawServer.Step.respond("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

    /// A clock that records delays without waiting.
    private final class Pauses: Clock {
        let now = ContinuousClock.now
        private let noted = Locked<[Duration]>([])
        var all: [Duration] { noted.withLock { $0 } }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) {
            noted.withLock { $0.append(now.duration(to: deadline)) }
        }

        func source(
            _ kind: TransportKind, _ server: RawServer, interceptor: (any RequestInterceptor)? = nil,
            lastEventID: String = "", jitter: Double = 0, maximumFailures: Int? = nil
        ) -> EventSource {
            let session = kind.session(interceptor: interceptor) { $0.timeSource = TimeSource(clock: self) { Date() } }
            return session.serverSentEvents(
                server.url, lastEventID: lastEventID,
                reconnection: .init(jitter: jitter, maximumFailures: maximumFailures))
        }
    }

    /// A clock whose delays take an hour.
    private struct SlowClock: Clock {
        let onSleep: @Sendable () -> Void
        var now: ContinuousClock.Instant { .now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            onSleep()
            try await Task.sleep(for: .seconds(3600))
        }
    }

    private static func id(in head: String) -> String? {
        let line = head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("last-event-id:") }
        return line.map { $0.dropFirst("last-event-id:".count).trimmingCharacters(in: .whitespaces) }
    }

    @Test(arguments: kinds)
    func theNextConnectionSendsTheLastEventID(kind: TransportKind) async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.head + "id: 1\ndata: a\n\nid: ü\ndata: b\n\nid: lost\ndata: cut"), .close],
            [.respond(Self.head + "data: c\n\n"), .close],
            [.respond(Self.head + "id\ndata: d\n\n"), .close],
            [Self.noMore],
        ])
        let pauses = Pauses()
        var events: [ServerSentEvent] = []
        for try await event in pauses.source(kind, server) { events.append(event) }
        #expect(events.map(\.data) == ["a", "b", "c", "d"])
        #expect(events.map(\.id) == ["1", "ü", "ü", ""])
        #expect(server.requests.map(Self.id) == [nil, "ü", "ü", nil])
        #expect(pauses.all == [.seconds(3), .seconds(3), .seconds(3)])
        let first = try #require(server.requests.first).lowercased()
        #expect(first.contains("accept: text/event-stream\r\n"))
        #expect(first.contains("cache-control: no-cache\r\n"))
        await server.stop()
    }

    @Test(arguments: ["\u{1}2", "a\u{7F}", String(repeating: "x", count: 4097)])
    func anIDThatIsNoValidHeaderValueIsNotSent(id: String) async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.head + "id: 1\ndata: a\n\nid: \(id)\ndata: b\n\n"), .close],
            [.respond(Self.head + "data: c\n\n"), .close],
            [Self.noMore],
        ])
        var ids: [String] = []
        for try await event in Pauses().source(.platform, server) { ids.append(event.id) }
        #expect(ids == ["1", id, "1"])
        #expect(server.requests.map(Self.id) == [nil, "1", "1"])
        await server.stop()
    }

    @Test(arguments: kinds)
    func aLostConnectionIsReestablished(kind: TransportKind) async throws {
        let server = try await RawServer.start(scripts: [
            [
                .respond(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "f\r\nid: 1\ndata: a\n\n\r\n"), .close,
            ],
            [.receiveHead, .close],
            [.receiveHead, .close],
            [.respond(Self.head + "data: b\n\n"), .close],
            [Self.noMore],
        ])
        let pauses = Pauses()
        var data: [String] = []
        for try await event in pauses.source(kind, server) { data.append(event.data) }
        #expect(data == ["a", "b"])
        #expect(server.requests.map(Self.id).compactMap { $0 }.allSatisfy { $0 == "1" })
        // Connections without events increase the delay; an event resets it.
        #expect(pauses.all.first == .seconds(3))
        #expect(pauses.all.last == .seconds(3))
        #expect(pauses.all.contains(.seconds(6)))
        await server.stop()
    }

    @Test(arguments: kinds)
    func theServerSetsTheDelay(kind: TransportKind) async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.head + "retry: 20\n\ndata: a\n\n"), .close],
            [.respond(Self.head + "data: b\n\nretry: 70000\n\n"), .close],
            [.respond(Self.head), .close],
            [Self.noMore],
        ])
        let pauses = Pauses()
        var data: [String] = []
        for try await event in pauses.source(kind, server) { data.append(event.data) }
        #expect(data == ["a", "b"])
        #expect(pauses.all == [.milliseconds(20), .seconds(70), .seconds(70)])
        await server.stop()
    }

    /// This test waits for the actual delay.
    @Test func theDelayIsApplied() async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.head + "retry: 30\ndata: a\n\n"), .close], [Self.noMore],
        ])
        let session = TransportKind.platform.session()
        let clock = ContinuousClock()
        var came: ContinuousClock.Instant?
        for try await _ in session.serverSentEvents(server.url) { came = clock.now }
        #expect(try clock.now - #require(came) >= .milliseconds(30))
        #expect(server.requests.count == 2)
        await server.stop()
    }

    @Test(arguments: kinds)
    func theFirstIDCanBeSpecified(kind: TransportKind) async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.head + "data: a\n\n"), .close], [Self.noMore],
        ])
        var ids: [String] = []
        for try await event in Pauses().source(kind, server, lastEventID: "41") { ids.append(event.id) }
        #expect(ids == ["41"])
        #expect(server.requests.map(Self.id) == ["41", "41"])
        await server.stop()
    }

    // MARK: The end

    @Test(
        arguments: kinds,
        [
            "HTTP/1.1 500 Oops\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ndata",
        ])
    func anInvalidResponseIsThrown(kind: TransportKind, answer: String) async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.head + "data: a\n\n"), .close], [.respond(answer)],
        ])
        var iterator = Pauses().source(kind, server).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        let error = await #expect(throws: AFError.self) { try await iterator.next() }
        #expect(error?.isResponseValidationError == true)
        #expect(try await iterator.next() == nil)
        #expect(server.requests.count == 2)
        await server.stop()
    }

    @Test(arguments: kinds)
    func anOversizedEventIsThrown(kind: TransportKind) async throws {
        let server = try await RawServer.start([.respond(Self.head + "data: \(String(repeating: "x", count: 100))\n\n")]
        )
        let session = kind.session()
        var iterator = session.serverSentEvents(server.url, maximumEventSize: 50).makeAsyncIterator()
        let error = await #expect(throws: AFError.self) { try await iterator.next() }
        #expect(error?.underlyingError is ServerSentEventTooLarge)
        try await server.peerClosed(0)
        await server.stop()
    }

    @Test(arguments: ["http", "https"])
    func aServerOfAnotherProtocolIsThrown(scheme: String) async throws {
        let server = try await RawServer.start([.send("SSH-2.0-OpenSSH_9.2\r\n"), .waitForever])
        let address = server.url.absoluteString.replacingOccurrences(of: "http:", with: "\(scheme):")
        let pauses = Pauses()
        let session = TransportKind.platform.session { $0.timeSource = TimeSource(clock: pauses) { Date() } }
        var iterator = session.serverSentEvents(address, reconnection: .init(maximumFailures: 3)).makeAsyncIterator()
        let error = await #expect(throws: AFError.self) { try await iterator.next() }
        #expect(error?.isSessionTaskError == true)
        #expect(pauses.all.isEmpty)
        #expect(try await iterator.next() == nil)
        await server.stop()
    }

    @Test func anInvalidRequestIsThrown() async throws {
        let session = TransportKind.platform.session()
        var iterator = session.serverSentEvents("http://[bad").makeAsyncIterator()
        let error = await #expect(throws: AFError.self) { try await iterator.next() }
        #expect(error?.isInvalidURLError == true)
    }

    @Test func theNumberOfFailuresCanBeLimited() async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.head + "data: a\n\n"), .close], [.respond(Self.head), .close], [.receiveHead, .close],
        ])
        let pauses = Pauses()
        var iterator = pauses.source(.platform, server, maximumFailures: 2).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        let error = await #expect(throws: AFError.self) { try await iterator.next() }
        #expect(error?.isSessionTaskError == true)
        #expect(pauses.all == [.seconds(3), .seconds(3)])
        await server.stop()
    }

    @Test(arguments: kinds)
    func leavingTheLoopClosesTheConnection(kind: TransportKind) async throws {
        let server = try await RawServer.start([.respond(Self.head + "data: a\n\n")])
        let session = kind.session()
        for try await event in session.serverSentEvents(server.url) where event.data == "a" { break }
        try await server.peerClosed(0)
        await server.stop()
    }

    @Test(arguments: kinds)
    func cancellingTheTaskEndsTheLoop(kind: TransportKind) async throws {
        let server = try await RawServer.start([.respond(Self.head + "data: a\n\n")])
        let session = kind.session()
        let came = Signal()
        let task = Task {
            var count = 0
            for try await _ in session.serverSentEvents(server.url) {
                count += 1
                came.set()
            }
            return count
        }
        await came.wait()
        task.cancel()
        #expect(try await task.value == 1)
        try await server.peerClosed(0)
        await server.stop()
    }

    @Test func cancellingTheTaskEndsTheWait() async throws {
        let server = try await RawServer.start([.respond(Self.head + "data: a\n\n"), .close])
        let waits = Signal()
        let session = TransportKind.platform.session {
            $0.timeSource = TimeSource(clock: SlowClock { waits.set() }) { Date() }
        }
        let task = Task {
            var count = 0
            for try await _ in session.serverSentEvents(server.url) { count += 1 }
            return count
        }
        await waits.wait()
        task.cancel()
        #expect(try await task.value == 1)
        await server.stop()
    }

    // MARK: Retries

    /// A retry is another connection, so it sends the last event's ID, too.
    @Test func aRetrySendsTheLastEventID() async throws {
        let server = try await RawServer.start(scripts: [
            [
                .respond(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "f\r\nid: 1\ndata: a\n\n\r\n"), .reset,
            ],
            [.respond(Self.head + "data: b\n\n"), .close],
            [Self.noMore],
        ])
        let pauses = Pauses()
        var events: [ServerSentEvent] = []
        let source = pauses.source(.platform, server, interceptor: RetryPolicy(exponentialBackoffScale: 0.001))
        for try await event in source { events.append(event) }
        #expect(events == [ServerSentEvent(data: "a", id: "1"), ServerSentEvent(data: "b", id: "1")])
        #expect(server.requests.map(Self.id) == [nil, "1", "1"])
        // The retry had a delay, too.
        #expect(pauses.all.filter { $0 >= .seconds(1) } == [.seconds(3)])
        await server.stop()
    }

    // MARK: Large streams

    /// 100 MB of events exceed the total size of all buffers between the server and the loop.
    @Test(arguments: TransportKind.all(with: [.streamedDelivery, .backpressure]))
    func aSlowLoopAppliesBackpressure(kind: TransportKind) async throws {
        let total = 2_000
        let written = Locked(0)
        let server = try await TestServer.start()
        server.route("/{events}") { request in
            let isCounted = request.path == "/events"
            return ServerResponse(headers: ["Content-Type": "text/event-stream"]) { body in
                let event = "data: " + String(repeating: "x", count: 50_000) + "\n\n"
                for _ in 0..<total {
                    try body.write(event)
                    if isCounted { written.withLock { $0 += 1 } }
                }
            }
        }
        let session = kind.session()
        var count = 0
        for try await event in session.serverSentEvents(server.url("/events")) {
            #expect(event.data.utf8.count == 50_000)
            count += 1
            if count == 1 {
                // Without backpressure, the first response would complete first.
                for await _ in session.streamRequest(server.url("/others")).streamTask().streamingData() {}
                #expect(written.withLock { $0 } < total / 2)
            }
            if count == total { break }
        }
        #expect(count == total)
        await server.stop()
    }
}

import AfarHTTP1
import AfarTransport
import CNghttp2
import HTTPTypes
import Testing

@testable import AfarHTTP2

/// A session with an nghttp2 server, in memory.
struct HTTP2SessionTests {
    /// Transfers bytes until both sides have nothing to send.
    private func exchange(_ client: HTTP2Session, _ server: Server, pieceSize: Int = .max) throws {
        while true {
            let output = client.output(pieceSize: min(pieceSize, 16_384))
            #expect(server.receive(output) == output.count)
            let input = server.output()
            try client.receive(input, pieceSize: pieceSize)
            if output.isEmpty, input.isEmpty { return }
        }
    }

    @Test(arguments: [1, 7, .max]) func requestAndResponse(pieceSize: Int) throws {
        let (client, server, recorder) = (try HTTP2Session(), Server(), Recorder())
        server.respond = { _, _ in
            Server.Response(
                fields: [(":status", "200"), ("content-length", "5"), ("set-cookie", "a"), ("set-cookie", "b")],
                body: Array("hello".utf8), trailers: [("x-checksum", "1"), ("content-type", "text/plain")],
                informational: [[(":status", "103"), ("link", "</a>")]])
        }
        let id = try client.get(recorder, fields: [.accept: "text/plain"])
        try exchange(client, server, pieceSize: pieceSize)
        #expect(
            server.requests[id]?.fields == [
                ":method: GET", ":scheme: https", ":authority: example.org", ":path: /a?b", "accept: text/plain",
            ])
        #expect(
            recorder.text
                == "informational 103 link=</a> | head 200 content-length=5 set-cookie=a set-cookie=b | body | trailers x-checksum=1 | end"
        )
        #expect(recorder.body == Array("hello".utf8))
        #expect(recorder.head?.httpVersion == "HTTP/2")
        #expect(recorder.head?.url == "https://example.org/a?b")
        #expect(client.activeStreamCount == 0)
        #expect(server.resets.isEmpty)
        #expect(client.hasReceivedSettings)
    }

    @Test func manyStreamsShareTheConnection() throws {
        let (client, server) = (try HTTP2Session(), Server())
        server.respond = { id, request in Server.Response(body: Array("\(id)".utf8) + request.body) }
        var recorders: [Int32: Recorder] = [:]
        for round in 0..<50 {
            for index in 0..<50 {
                let recorder = Recorder()
                recorder.partBytes = [UInt8](repeating: 1, count: round * 10 + index)
                let body = RequestHead.BodyFraming.length(Int64(recorder.partBytes.count))
                recorders[try client.get(recorder, .post, body: body)] = recorder
            }
            try exchange(client, server)
        }
        #expect(recorders.count == 2_500)
        #expect(recorders.allSatisfy { $1.isComplete && $1.body.starts(with: "\($0)".utf8) })
        #expect(client.activeStreamCount == 0)
        #expect(client.failure == nil)
    }

    @Test(arguments: [1_000, 16_384]) func largeBodiesInBothDirections(pieceSize: Int) throws {
        let (client, server, recorder) = (try HTTP2Session(), Server(), Recorder())
        server.respond = { _, request in Server.Response(body: request.body) }
        recorder.partBytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let sent = recorder.partBytes
        recorder.onBody = { [weak client] count in client?.consume(count, of: 1) }
        _ = try client.get(recorder, .put, body: .length(Int64(sent.count)))
        try exchange(client, server, pieceSize: pieceSize)
        #expect(recorder.body == sent)
        #expect(recorder.isComplete)
        #expect(server.requests[1]?.fields.contains("content-length: 300000") == true)
    }

    /// A stream whose handler doesn't consume bytes receives at most its window. Other streams continue.
    @Test func streamWindowsLimitTheBodies() throws {
        let (client, server) = (try HTTP2Session(), Server())
        let (slow, fast) = (Recorder(), Recorder())
        server.respond = { _, _ in Server.Response(body: [UInt8](repeating: 1, count: 30 << 20)) }
        let slowID = try client.get(slow)
        try exchange(client, server)
        #expect(slow.body.count == 1 << 20)
        fast.onBody = { [weak client] count in client?.consume(count, of: 3) }
        _ = try client.get(fast)
        try exchange(client, server)
        #expect(fast.body.count == 30 << 20)
        #expect(fast.isComplete)
        #expect(!slow.isComplete)
        client.consume(1 << 20, of: slowID)
        client.consume(1 << 30, of: slowID)
        try exchange(client, server)
        #expect(slow.body.count == 2 << 20)
        // A canceled stream returns its window.
        client.cancel(slowID)
        try exchange(client, server)
        #expect(server.resets[slowID] == NGHTTP2_CANCEL.rawValue)
        #expect(!slow.isComplete)
        #expect(slow.failure == nil)
    }

    @Test func bodyThatWaitsAndHasTrailers() throws {
        let (client, server, recorder) = (try HTTP2Session(), Server(), Recorder())
        recorder.partBytes = Array("abcdef".utf8)
        recorder.parts = [.bytes(3, isLast: false), .wait]
        let id = try client.get(recorder, .post, body: .chunked)
        try exchange(client, server)
        #expect(server.requests[id]?.body == Array("abc".utf8))
        #expect(recorder.readCount == 2)
        #expect(!client.wantsWrite)
        recorder.parts = [.bytes(0, isLast: false)]
        client.resumeBody(of: id)
        #expect(client.wantsWrite)
        try exchange(client, server)
        #expect(recorder.readCount == 3)
        recorder.parts = [.bytes(3, isLast: false), .trailers([.server: "x", .contentLength: "7"])]
        client.resumeBody(of: id)
        client.resumeBody(of: id)
        try exchange(client, server)
        #expect(server.requests[id]?.body == Array("abcdef".utf8))
        #expect(server.requests[id]?.trailers == ["server: x"])
        #expect(server.requests[id]?.fields.contains { $0.hasPrefix("content-length") } == false)
        #expect(recorder.isComplete)
    }

    @Test func wrongBodyLengthsAndReaders() throws {
        let wrong: [[HTTP2BodyPart]] = [
            [.bytes(2, isLast: true)], [.bytes(4, isLast: false)], [.bytes(4, isLast: true)], [.trailers([:])],
            [.bytes(-1, isLast: false), .bytes(-1, isLast: true)], [.bytes(1 << 30, isLast: true)],
        ]
        for parts in wrong {
            let (client, server, recorder) = (try HTTP2Session(), Server(), Recorder())
            recorder.parts = parts
            if parts.count == 2 { recorder.parts.removeFirst() }
            recorder.partBytes = Array("abcd".utf8)
            let id = try client.get(recorder, .post, body: .length(3))
            try exchange(client, server)
            #expect(recorder.terminalCount == 1)
            #expect(recorder.failure?.fault.code == .requestBodyFailed || recorder.failure?.fault.code == .invalidUse)
            #expect(server.resets[id] == NGHTTP2_CANCEL.rawValue)
            #expect(!server.completeIDs.contains(id))
            #expect(client.failure == nil)
        }
    }

    @Test func settingsOfTheServer() throws {
        let client = try HTTP2Session()
        #expect(client.maximumConcurrentStreams == 100)
        #expect(!client.supportsExtendedConnect)
        let server = Server(settings: [
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 2), (NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1),
        ])
        server.respond = { _, _ in nil }
        try exchange(client, server)
        #expect(client.maximumConcurrentStreams == 2)
        #expect(client.supportsExtendedConnect)
        let recorders = [Recorder(), Recorder(), Recorder()]
        let ids = try recorders.map { try client.get($0) }
        #expect(!client.canOpenStream)
        try exchange(client, server)
        #expect(server.requests.count == 2)
        client.cancel(ids[0])
        #expect(!client.canOpenStream)
        try exchange(client, server)
        #expect(server.requests.count == 3)
        for id in ids.dropFirst() { server.send(Server.Response(), id) }
        try exchange(client, server)
        #expect(client.canOpenStream)
        #expect(recorders[1].isComplete && recorders[2].isComplete)

        let unlimited = try HTTP2Session()
        try exchange(unlimited, Server())
        #expect(unlimited.maximumConcurrentStreams == Int(UInt32.max))
    }

    /// A stream that waits for another one to end is canceled without having been sent.
    @Test func cancelingWaitingStream() throws {
        let (client, server) = (try HTTP2Session(), Server(settings: [(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1)]))
        server.respond = { _, _ in nil }
        try exchange(client, server)
        let (first, second) = (Recorder(), Recorder())
        _ = try client.get(first)
        let id = try client.get(second)
        try exchange(client, server)
        client.cancel(id)
        try exchange(client, server)
        server.send(Server.Response(), 1)
        try exchange(client, server)
        #expect(first.isComplete)
        #expect(second.events.isEmpty)
        #expect(server.requests.count == 1)
        #expect(client.failure == nil)
    }

    @Test func pings() throws {
        let (client, server) = (try HTTP2Session(), Server())
        client.ping()
        client.ping()
        #expect(client.pendingPingCount == 2)
        try exchange(client, server)
        #expect(client.pendingPingCount == 0)
    }

    @Test func closing() throws {
        let (client, server, recorder) = (try HTTP2Session(), Server(), Recorder())
        _ = try client.get(recorder)
        client.sendGoAway()
        #expect(client.isDraining)
        #expect(throws: Fault.self) { try client.get(Recorder()) }
        try exchange(client, server)
        #expect(recorder.isComplete)
        #expect(server.goAwayCode == 0)
        #expect(client.failure == nil)
    }

    @Test func handlersAreReleased() throws {
        let (client, server) = (try HTTP2Session(), Server())
        weak var ended: Recorder?
        weak var canceled: Recorder?
        weak var failed: Recorder?
        server.respond = { id, _ in id == 1 ? Server.Response() : nil }
        do {
            let recorders = [Recorder(), Recorder(), Recorder()]
            (ended, canceled, failed) = (recorders[0], recorders[1], recorders[2])
            let ids = try recorders.map { try client.get($0) }
            try exchange(client, server)
            client.cancel(ids[1])
        }
        #expect(ended == nil)
        #expect(canceled == nil)
        #expect(failed != nil)
        client.receiveEndOfInput()
        #expect(failed == nil)
    }

    @Test func extendedConnect() throws {
        let client = try HTTP2Session()
        let server = Server(settings: [(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1)])
        server.respond = { _, _ in nil }
        var request = HTTPRequest(method: .connect, scheme: "https", authority: "example.org", path: "/chat")
        request.extendedConnectProtocol = "websocket"
        #expect(throws: Fault.self) {
            try client.submit(request, body: .chunked, url: "wss://example.org/chat", handler: Recorder())
        }
        try exchange(client, server)
        let recorder = Recorder()
        recorder.parts = [.wait]
        let id = try client.submit(request, body: .chunked, url: "wss://example.org/chat", handler: recorder)
        try exchange(client, server)
        #expect(
            server.requests[id]?.fields == [
                ":method: CONNECT", ":protocol: websocket", ":scheme: https", ":authority: example.org", ":path: /chat",
            ])
        recorder.partBytes = Array("abc".utf8)
        recorder.parts = [.bytes(3, isLast: false), .wait]
        client.resumeBody(of: id)
        server.send(Server.Response(body: Array("def".utf8), trailers: []), id)
        try exchange(client, server)
        #expect(server.requests[id]?.body == Array("abc".utf8))
        #expect(recorder.text == "head 200 | body | end")
    }
}

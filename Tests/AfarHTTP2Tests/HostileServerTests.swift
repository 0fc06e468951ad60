import AfarHTTP1
import AfarTransport
import CNghttp2
import HTTPTypes
import Testing

@testable import AfarHTTP2

/// Frames that a server must not send, and frames in unusual order.
struct HostileServerTests {
    private func session(_ configure: (inout HTTP2Session.Configuration) -> Void = { _ in }) throws -> HTTP2Session {
        var configuration = HTTP2Session.Configuration()
        configure(&configuration)
        let client = try HTTP2Session(configuration)
        try client.receive(Frames.settings + Frames.settingsAcknowledgement)
        return client
    }

    // MARK: Streams

    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let frames: [UInt8]
        let expected: String
        var message = ""
        /// The error code that the client sends for the stream.
        var code: UInt32?
        var method = HTTPRequest.Method.get

        init(
            _ name: String, _ frames: [[UInt8]], _ expected: String, message: String = "",
            code: nghttp2_error_code? = nil, method: HTTPRequest.Method = .get
        ) {
            (self.name, self.frames, self.expected) = (name, Array(frames.joined()), expected)
            (self.message, self.code, self.method) = (message, code?.rawValue, method)
        }

        var testDescription: String { name }
    }

    static let heads = [
        "no status": [("a", "1")], "two statuses": [(":status", "200"), (":status", "200")],
        "status after a field": [("a", "1"), (":status", "200")],
        "unknown pseudo field": [(":status", "200"), (":foo", "1")],
        "request's pseudo field": [(":status", "200"), (":path", "/")],
        "status of two digits": [(":status", "20")], "status that isn't a number": [(":status", "2x0")],
        "empty status": [(":status", "")], "status 101": [(":status", "101")], "status 099": [(":status", "099")],
        "uppercase name": [(":status", "200"), ("A", "1")], "name with a space": [(":status", "200"), ("a b", "1")],
        "empty name": [(":status", "200"), ("", "1")], "name with a colon": [(":status", "200"), ("a:b", "1")],
        "CR in a value": [(":status", "200"), ("a", "1\r2")], "LF in a value": [(":status", "200"), ("a", "1\n2")],
        "NUL in a value": [(":status", "200"), ("a", "1\02")],
        "connection": [(":status", "200"), ("connection", "close")],
        "keep-alive": [(":status", "200"), ("keep-alive", "1")],
        "proxy-connection": [(":status", "200"), ("proxy-connection", "1")],
        "transfer-encoding": [(":status", "200"), ("transfer-encoding", "chunked")],
        "upgrade": [(":status", "200"), ("upgrade", "h3")],
        "invalid length": [(":status", "200"), ("content-length", "-1")],
        "two lengths": [(":status", "200"), ("content-length", "1"), ("content-length", "2")],
        "end without a body": [(":status", "200"), ("content-length", "1")],
        "informational response with the end": [(":status", "103")],
    ].map { name, fields in
        Case(
            name, [Frames.headers(1, fields, endsStream: true)],
            "malformedResponse", code: NGHTTP2_PROTOCOL_ERROR)
    }

    static let bodies = [
        Case("no body", [Frames.ok(1, endsStream: true)], "head 200 | end"),
        Case("white space", [Frames.ok(1, [("a", " 1\t")], endsStream: true)], "head 200 a=1 | end"),
        Case(
            "body", [Frames.ok(1), Frames.data(1, "a"), Frames.data(1, "b", endsStream: true)],
            "head 200 | body | end"),
        Case(
            "empty last frame", [Frames.ok(1), Frames.data(1, "a"), Frames.data(1, "", endsStream: true)],
            "head 200 | body | end"),
        Case(
            "padding", [Frames.ok(1), Frames.frame(0, flags: 9, 1, [3, 0x61, 0, 0, 0])], "head 200 | body | end"),
        Case(
            "trailers", [Frames.ok(1), Frames.data(1, "a"), Frames.headers(1, [("b", "1")], endsStream: true)],
            "head 200 | body | trailers b=1 | end"),
        Case(
            "trailers without the end", [Frames.ok(1), Frames.headers(1, [("b", "1")])],
            "head 200 | malformedResponse", code: NGHTTP2_PROTOCOL_ERROR),
        Case(
            "status in the trailers", [Frames.ok(1), Frames.headers(1, [(":status", "200")], endsStream: true)],
            "head 200 | malformedResponse", code: NGHTTP2_PROTOCOL_ERROR),
        Case(
            "body shorter than its length",
            [Frames.ok(1, [("content-length", "3")]), Frames.data(1, "ab", endsStream: true)],
            "head 200 content-length=3 | body | bodyIncomplete", message: "1 bytes before",
            code: NGHTTP2_PROTOCOL_ERROR),
        Case(
            "body shorter than its length, with trailers",
            [
                Frames.ok(1, [("content-length", "3")]), Frames.data(1, "ab"),
                Frames.headers(1, [("a", "1")], endsStream: true),
            ],
            "head 200 content-length=3 | body | malformedResponse", code: NGHTTP2_PROTOCOL_ERROR),
        Case(
            "body longer than its length",
            [Frames.ok(1, [("content-length", "1")]), Frames.data(1, "a"), Frames.data(1, "b", endsStream: true)],
            "head 200 content-length=1 | body | malformedResponse", message: "Content-Length",
            code: NGHTTP2_PROTOCOL_ERROR),
        Case(
            "length of a response to HEAD", [Frames.ok(1, [("content-length", "3")], endsStream: true)],
            "head 200 content-length=3 | end", method: .head),
        Case(
            "length with 304", [Frames.headers(1, [(":status", "304"), ("content-length", "3")], endsStream: true)],
            "head 304 content-length=3 | end"),
        Case(
            "body longer than its length, without the end",
            [Frames.ok(1, [("content-length", "1")]), Frames.data(1, "a"), Frames.data(1, "b")],
            "head 200 content-length=1 | body | malformedResponse", message: "Content-Length",
            code: NGHTTP2_PROTOCOL_ERROR),
        Case(
            "body longer than its length, in one frame",
            [Frames.ok(1, [("content-length", "1")]), Frames.data(1, "ab", endsStream: true)],
            "head 200 content-length=1 | malformedResponse", message: "longer", code: NGHTTP2_PROTOCOL_ERROR),
        Case(
            "body longer than its length, in one frame, without the end",
            [Frames.ok(1, [("content-length", "1")]), Frames.data(1, "ab")],
            "head 200 content-length=1 | malformedResponse", message: "longer", code: NGHTTP2_PROTOCOL_ERROR),
        Case("body before the head", [Frames.data(1, "a", endsStream: true)], "connection"),
        Case(
            "body after an informational response",
            [Frames.headers(1, [(":status", "103")]), Frames.data(1, "a", endsStream: true)],
            "informational 103 | malformedResponse", code: NGHTTP2_PROTOCOL_ERROR),
        Case(
            "reset without an error before the end", [Frames.ok(1), Frames.data(1, "a"), Frames.reset(1, 0)],
            "head 200 | body | bodyIncomplete", message: "NO_ERROR"),
        Case("reset without a head", [Frames.reset(1, 0)], "connectionLost", message: "NO_ERROR"),
        Case(
            "reset with an error", [Frames.ok(1), Frames.reset(1, 2)], "head 200 | bodyIncomplete",
            message: "INTERNAL_ERROR"),
        Case("unknown error", [Frames.reset(1, 0x1234)], "connectionLost", message: "error 4660"),
        Case("refused", [Frames.reset(1, 7)], "connectionLost unprocessed", message: "REFUSED_STREAM"),
        Case("refused after the head", [Frames.ok(1), Frames.reset(1, 7)], "head 200 | bodyIncomplete"),
        Case("requires HTTP/1.1", [Frames.reset(1, 13)], "connectionLost", message: "HTTP_1_1_REQUIRED"),
        Case("reset after the end", [Frames.ok(1, endsStream: true), Frames.reset(1, 0)], "head 200 | end"),
        Case(
            "frames after a reset", [Frames.reset(1, 2), Frames.ok(1), Frames.data(1, "a", endsStream: true)],
            "connectionLost"),
        Case(
            "a divided head",
            [
                Frames.headers(1, [(":status", "200")], endsStream: true, endsHeaders: false),
                Frames.frame(9, flags: 0, 1, Frames.block([("a", "1")])),
                Frames.frame(9, flags: 4, 1, Frames.block([("b", "2")])),
            ], "head 200 a=1 b=2 | end"),
        Case(
            "unknown frames", [Frames.frame(0x42, flags: 255, 1, [1, 2, 3]), Frames.ok(1, endsStream: true)],
            "head 200 | end"),
        Case(
            "stream window overflow",
            [Frames.windowUpdate(1, 0x7FFF_FFFF), Frames.ok(1, endsStream: true)], "malformedResponse"),
    ]

    @Test(arguments: heads + bodies) func streamErrors(test: Case) throws {
        for pieceSize in [Int.max, 1, 10] {
            let (client, recorder) = (try session(), Recorder())
            _ = try client.get(recorder, test.method)
            _ = client.output()
            do {
                try client.receive(test.frames, pieceSize: pieceSize)
            } catch {
                #expect(test.expected == "connection", "\(error)")
                #expect(recorder.terminalCount == 1)
                #expect(client.failure?.message == error.message)
                continue
            }
            let resets = client.frames().filter(\.isReset)
            #expect(recorder.text == test.expected)
            #expect(recorder.failure?.fault.message.contains(test.message) ?? true, "\(recorder.failure as Any)")
            #expect(recorder.terminalCount == 1)
            if let code = test.code { #expect(resets.map(\.number) == [code]) }
            #expect(client.failure == nil)
            #expect(client.activeStreamCount == 0)
            // The connection can be used further.
            let next = Recorder()
            let id = try client.get(next)
            _ = client.output()
            try client.receive(Frames.ok(id, [("x", "y")], endsStream: true))
            #expect(next.text == "head 200 x=y | end")
            #expect(!recorder.hasLateEvent)
        }
    }

    @Test func messagesNameTheField() throws {
        let (client, recorder) = (try session(), Recorder())
        _ = try client.get(recorder)
        _ = client.output()
        try client.receive(Frames.ok(1, [("transfer-encoding", "chunked")]))
        #expect(recorder.failure?.fault.message.contains("transfer-encoding") == true)
        let other = Recorder()
        _ = try client.get(other)
        _ = client.output()
        try client.receive(Frames.ok(3, [("bad name", "1")]))
        #expect(other.failure?.fault.message.contains("bad name") == true)
    }

    /// RFC 9113, section 8.1: the response is complete, although the server doesn't read the rest of the request.
    @Test func responseBeforeTheEndOfTheRequest() throws {
        for reset in [[], Frames.reset(1, 0)] {
            let (client, recorder) = (try session(), Recorder())
            recorder.partBytes = [1]
            recorder.parts = [.bytes(1, isLast: false), .wait]
            let id = try client.get(recorder, .post, body: .chunked)
            _ = client.output()
            try client.receive(Frames.ok(id, endsStream: true) + reset)
            #expect(recorder.text == "head 200 | end")
            client.resumeBody(of: id)
            #expect(client.frames().filter(\.isReset).allSatisfy { $0.number == 0 })
            #expect(recorder.readCount == 2)
        }
    }

    // MARK: GOAWAY

    @Test func goAwayRefusesLaterStreams() throws {
        let client = try session()
        let recorders = [Recorder(), Recorder(), Recorder()]
        for recorder in recorders { _ = try client.get(recorder) }
        _ = client.output()
        let unsent = Recorder()
        _ = try client.get(unsent)
        try client.receive(Frames.goAway(3, 0, "maintenance"))
        #expect(recorders[2].text == "connectionLost unprocessed")
        #expect(unsent.text == "connectionLost unprocessed")
        #expect(recorders[2].failure?.fault.message.contains("maintenance") == true)
        #expect(client.isDraining)
        #expect(!client.canOpenStream)
        #expect(client.goAway?.lastStreamID == 3)
        #expect(throws: Fault.self) { try client.get(Recorder()) }
        _ = client.output()
        try client.receive(Frames.ok(1, endsStream: true) + Frames.ok(3, endsStream: true))
        #expect(recorders[0].text == "head 200 | end")
        #expect(recorders[1].text == "head 200 | end")
        #expect(client.failure == nil)
        #expect(!client.wantsWrite)
    }

    /// A stream whose response has begun was processed, even if the server claims otherwise.
    @Test func goAwayDuringAResponse() throws {
        let (client, recorder) = (try session(), Recorder())
        _ = try client.get(recorder)
        _ = client.output()
        try client.receive(Frames.ok(1) + Frames.data(1, "a") + Frames.goAway(0))
        #expect(recorder.text == "head 200 | body | bodyIncomplete")
    }

    @Test func gracefulShutdown() throws {
        let (client, recorder) = (try session(), Recorder())
        _ = try client.get(recorder)
        _ = client.output()
        try client.receive(Frames.goAway(.max))
        #expect(client.isDraining)
        #expect(recorder.events.isEmpty)
        try client.receive(Frames.goAway(1) + Frames.ok(1, endsStream: true))
        #expect(recorder.text == "head 200 | end")
    }

    /// An error that follows a GOAWAY frame is found when the client's GOAWAY frame is written.
    @Test func errorAfterGoAway() throws {
        let (client, recorder) = (try session(), Recorder())
        _ = try client.get(recorder)
        _ = client.output()
        try client.receive(Frames.goAway(1))
        try? client.receive(Frames.frame(6, [1]))
        let frames = client.frames()
        #expect(frames.contains { $0.goAwayCode == NGHTTP2_FRAME_SIZE_ERROR.rawValue })
        #expect(client.failure != nil)
        #expect(recorder.text == "malformedResponse")
    }

    @Test func endOfInput() throws {
        let (client, unsent, sent, started) = (try session(), Recorder(), Recorder(), Recorder())
        _ = try client.get(started)
        _ = try client.get(sent)
        _ = client.output()
        try client.receive(Frames.ok(1))
        _ = try client.get(unsent)
        client.receiveEndOfInput()
        client.receiveEndOfInput()
        #expect(started.text == "head 200 | bodyIncomplete")
        #expect(sent.text == "connectionLost")
        #expect(unsent.text == "connectionLost unprocessed")
        #expect(throws: Fault.self) { try client.receive(Frames.ok(3)) }
        #expect(throws: Fault.self) { try client.get(Recorder()) }
        #expect(client.output().isEmpty)
        #expect(!client.wantsWrite)
        client.ping()
        client.cancel(1)
        client.consume(1, of: 1)
        client.resumeBody(of: 1)
        client.sendGoAway()
    }

    /// The server announces why it closes the connection. For example, nginx does this for trailer fields.
    @Test func endOfInputAfterAnError() throws {
        let (client, started, sent) = (try session(), Recorder(), Recorder())
        _ = try client.get(started)
        _ = try client.get(sent)
        _ = client.output()
        try client.receive(Frames.ok(1) + Frames.goAway(3, 1, "no trailers"))
        client.receiveEndOfInput()
        #expect(started.text == "head 200 | bodyIncomplete")
        #expect(sent.text == "connectionLost")
        let reason = #"(GOAWAY, PROTOCOL_ERROR, "no trailers")"#
        for recorder in [started, sent] {
            let message = recorder.failure?.fault.message ?? ""
            #expect(message.contains(reason), "\(message)")
        }
    }

    // MARK: Connection errors

    static let errorCases: [(String, [UInt8], String, UInt32)] = [
        ("push", Frames.frame(5, flags: 4, 1, Frames.bytes(2) + Frames.block([(":method", "GET")])), "push", 1),
        ("HPACK error", Frames.frame(1, flags: 4, 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]), "", 9),
        ("index 0", Frames.frame(1, flags: 4, 1, [0x80]), "", 9),
        ("table size", Frames.frame(1, flags: 4, 1, [0x3F, 0xE1, 0xFF, 0x03]), "", 9),
        ("large frame", Frames.frame(0, flags: 0, 1, [UInt8](repeating: 0, count: 16_385)), "", 6),
        ("DATA on stream 0", Frames.frame(0, flags: 0, 0, [1]), "", 1),
        ("HEADERS on stream 0", Frames.ok(0), "", 1),
        ("HEADERS on an idle stream", Frames.ok(9), "", 1),
        ("HEADERS on a server's stream", Frames.ok(2), "", 1),
        ("SETTINGS on a stream", Frames.frame(4, flags: 0, 1, []), "", 1),
        ("SETTINGS of 5 bytes", Frames.frame(4, [1, 2, 3, 4, 5]), "", 6),
        ("enabling push", Frames.settings([(2, 1)]), "", 1),
        ("window above the limit", Frames.settings([(4, 0x8000_0000)]), "", 3),
        ("frame size below the limit", Frames.settings([(5, 1)]), "", 1),
        ("SETTINGS acknowledgement with payload", Frames.frame(4, flags: 1, 0, [0, 1, 0, 0, 0, 0]), "", 6),
        ("PING of 7 bytes", Frames.frame(6, [1, 2, 3, 4, 5, 6, 7]), "", 6),
        ("PING on a stream", Frames.frame(6, flags: 0, 1, [UInt8](repeating: 0, count: 8)), "", 1),
        ("WINDOW_UPDATE of 0", Frames.windowUpdate(0, 0), "", 1),
        ("window overflow", Frames.windowUpdate(0, 0x7FFF_FFFF), "", 3),
        ("reset of an idle stream", Frames.reset(9, 0), "", 1),
        ("CONTINUATION alone", Frames.frame(9, flags: 4, 1, []), "", 1),
        (
            "DATA in a header block", Frames.headers(1, [(":status", "200")], endsHeaders: false) + Frames.data(1, "a"),
            "", 1
        ),
        (
            "CONTINUATION of another stream",
            Frames.headers(1, [(":status", "200")], endsHeaders: false) + Frames.frame(9, flags: 4, 3, []), "", 1
        ),
        ("padding larger than the frame", Frames.ok(1) + Frames.frame(0, flags: 8, 1, [9, 1]), "", 1),
        ("frames after the end", Frames.ok(1, endsStream: true) + Frames.ok(9), "", 1),
        ("increasing GOAWAY", Frames.goAway(1) + Frames.goAway(3), "", 1),
    ]

    @Test(arguments: errorCases.indices) func connectionErrors(index: Int) throws {
        let (name, bytes, message, code) = Self.errorCases[index]
        for pieceSize in [Int.max, 1] {
            let (client, recorder) = (try session(), Recorder())
            _ = try client.get(recorder)
            _ = client.output()
            try? client.receive(bytes, pieceSize: pieceSize)
            let frames = client.frames()
            let fault = try #require(client.failure, "\(name)")
            #expect(fault.message.contains(message), "\(name): \(fault.message)")
            #expect(frames.compactMap(\.goAwayCode) == [code], "\(name): \(frames)")
            #expect(frames.allSatisfy { $0.type != 1 && $0.type != 0 })
            #expect(recorder.terminalCount == 1, "\(name): \(recorder.text)")
            #expect(name == "frames after the end" || !recorder.isComplete, "\(name)")
            #expect(client.output().isEmpty)
            #expect(throws: Fault.self) { try client.receive(Frames.ping) }
        }
    }

    @Test func firstFrameMustBeSettings() throws {
        for (bytes, message) in [
            (Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), "HTTP/1"), (Frames.ping, "SETTINGS"),
            (Frames.settingsAcknowledgement, "SETTINGS"), ([UInt8](repeating: 0xFF, count: 9), "SETTINGS"),
        ] {
            let (client, recorder) = (try HTTP2Session(), Recorder())
            _ = try client.get(recorder)
            let error = #expect(throws: Fault.self) { try client.receive(bytes) }
            #expect(error?.message.contains(message) == true)
            #expect(recorder.failure?.isUnprocessed == true)
            // The preface precedes the GOAWAY frame.
            #expect(client.frames().compactMap(\.goAwayCode) == [1])
        }
    }

    /// The frames before the error are processed, however the bytes are divided.
    @Test func framesBeforeTheError() throws {
        for pieceSize in [Int.max, 1] {
            let (client, recorder, other) = (try session(), Recorder(), Recorder())
            _ = try client.get(recorder)
            _ = try client.get(other)
            _ = client.output()
            let bytes = Frames.ok(1) + Frames.data(1, "a", endsStream: true) + Frames.windowUpdate(0, 0)
            #expect(throws: Fault.self) { try client.receive(bytes + Frames.ok(3), pieceSize: pieceSize) }
            #expect(recorder.text == "head 200 | body | end")
            #expect(other.text == "malformedResponse")
        }
    }

    // MARK: Limits

    @Test func headLimits() throws {
        for (fields, count) in [([("a", String(repeating: "x", count: 200))], 30), ([("a", "1")], 21)] {
            let (client, recorder, next) = (
                try session {
                    $0.maximumHeadSize = 5_000
                    $0.maximumFieldCount = 20
                }, Recorder(), Recorder()
            )
            _ = try client.get(recorder)
            _ = try client.get(next)
            _ = client.output()
            let many = (0..<count).flatMap { _ in fields }
            try client.receive(Frames.ok(1, many) + Frames.ok(3, endsStream: true))
            #expect(recorder.text == "headTooLarge")
            #expect(next.text == "head 200 | end")
            #expect(client.frames().filter(\.isReset).map(\.number) == [NGHTTP2_CANCEL.rawValue])

            let trailers = Recorder()
            let id = try client.get(trailers)
            _ = client.output()
            try client.receive(Frames.ok(id) + Frames.headers(id, many, endsStream: true))
            #expect(trailers.text == "head 200 | headTooLarge")
        }
    }

    /// One indexed entry can expand each byte to thousands. Nothing is stored beyond the limit.
    @Test func headerCompressionBomb() throws {
        let (client, recorder) = (try session(), Recorder())
        _ = try client.get(recorder)
        _ = client.output()
        let entry: [UInt8] = [0x40, 1, 0x61, 0x7F, 0x81, 0x1E] + [UInt8](repeating: 0x62, count: 4_000)
        let block = Frames.block([(":status", "200")]) + entry + [UInt8](repeating: 0xBE, count: 12_000)
        try client.receive(Frames.frame(1, flags: 5, 1, block))
        #expect(recorder.text == "headTooLarge")
        #expect(client.failure == nil)
    }

    @Test func informationalLimit() throws {
        let (client, recorder) = (try session { $0.maximumInformationalResponses = 3 }, Recorder())
        _ = try client.get(recorder)
        _ = client.output()
        try client.receive((0..<10).flatMap { _ in Frames.headers(1, [(":status", "102")]) })
        #expect(recorder.events.count == 4)
        #expect(recorder.events.last == "malformedResponse")
        #expect(client.failure == nil)
    }

    static let floodCases: [(String, [UInt8])] = [
        ("PING", Frames.ping), ("PING acknowledgement", Frames.frame(6, flags: 1, 0, [UInt8](repeating: 1, count: 8))),
        ("SETTINGS", Frames.settings), ("WINDOW_UPDATE", Frames.windowUpdate(0, 1)),
        ("stream WINDOW_UPDATE", Frames.windowUpdate(1, 1)),
        ("PRIORITY", Frames.frame(2, flags: 0, 3, [0, 0, 0, 5, 1])),
        ("empty DATA", Frames.data(1, "")), ("padding", Frames.frame(0, flags: 8, 1, [3, 0, 0, 0])),
        ("RST_STREAM of a closed stream", Frames.reset(3, 0)), ("HEADERS of a closed stream", Frames.ok(3)),
        ("empty DATA of a closed stream", Frames.data(3, "")), ("unknown", Frames.frame(0x42, flags: 0, 1, [1])),
        ("GOAWAY", Frames.goAway(3)),
    ]

    @Test(arguments: floodCases.indices) func floods(index: Int) throws {
        let (name, frame) = Self.floodCases[index]
        let (client, recorder, other) = (try session(), Recorder(), Recorder())
        _ = try client.get(recorder)
        let canceledID = try client.get(other)
        _ = client.output()
        client.cancel(canceledID)
        _ = client.output()
        try client.receive(Frames.ok(1))
        var count = 0
        var output = 0
        do {
            while count < 20_000 {
                try client.receive(frame)
                output += client.output().count
                count += 1
            }
        } catch {
            #expect(error.message.contains("without content"), "\(name): \(error)")
        }
        #expect((900...1_100).contains(count), "\(name): \(count)")
        #expect(client.frames().compactMap(\.goAwayCode) == [NGHTTP2_ENHANCE_YOUR_CALM.rawValue], "\(name)")
        #expect(recorder.failure?.fault.code == .malformedResponse, "\(name)")
        #expect(output < 100_000)
    }

    /// A server that isn't read from can't make the client store more than a limited number of acknowledgements.
    @Test func floodWithoutOutput() throws {
        let client = try session()
        #expect(throws: Fault.self) {
            for _ in 0..<100_000 {
                try client.receive(Frames.ping)
                client.refillFrameBudget()
            }
        }
        #expect(client.output().count < 100_000)
    }

    @Test func ordinaryTrafficDoesNotExhaustTheBudget() throws {
        let (client, recorder) = (try session(), Recorder())
        _ = try client.get(recorder)
        _ = client.output()
        try client.receive(Frames.ok(1))
        for _ in 0..<20_000 { try client.receive(Frames.data(1, "a")) }
        for _ in 0..<20_000 { try client.receive(Frames.frame(0, flags: 8, 1, [1, 0x61, 0])) }
        for _ in 0..<3_000 {
            try client.receive(Frames.ping)
            client.refillFrameBudget()
            _ = client.output()
        }
        #expect(client.failure == nil)
        #expect(recorder.body.count == 40_000)
    }

    /// Heads up to the limit are accepted, although they need many frames.
    @Test func largeHead() throws {
        let (client, recorder) = (try session(), Recorder())
        _ = try client.get(recorder)
        _ = client.output()
        let block = Frames.block(
            [(":status", "200")] + (0..<60).map { ("a\($0)", String(repeating: "b", count: 4_000)) })
        try client.receive(Frames.frame(1, flags: 1, 1, Array(block.prefix(16_384))))
        var rest = block.dropFirst(16_384)
        while !rest.isEmpty {
            let part = rest.prefix(16_384)
            rest = rest.dropFirst(part.count)
            try client.receive(Frames.frame(9, flags: rest.isEmpty ? 4 : 0, 1, Array(part)))
        }
        #expect(recorder.head?.fields.count == 60)
        #expect(recorder.isComplete)
    }

    @Test func continuationFlood() throws {
        let (client, recorder) = (try session(), Recorder())
        _ = try client.get(recorder)
        _ = client.output()
        var size = 0
        #expect(throws: Fault.self) {
            try client.receive(Frames.headers(1, [(":status", "200")], endsHeaders: false))
            while size < 10 << 20 {
                let piece = Frames.frame(9, flags: 0, 1, Frames.block([("a", String(repeating: "b", count: 4_000))]))
                try client.receive(piece)
                size += piece.count
            }
        }
        #expect(size < 300_000)
        #expect(recorder.terminalCount == 1)
        #expect(client.frames().compactMap(\.goAwayCode).count == 1)
    }

    /// Bodies of canceled streams refill the connection's window.
    @Test func bodyOfCanceledStreams() throws {
        let client = try session()
        let data = Frames.frame(0, flags: 0, 1, [UInt8](repeating: 1, count: 16_384))
        let (canceled, recorder) = (Recorder(), Recorder())
        let id = try client.get(canceled)
        _ = try client.get(recorder)
        _ = client.output()
        try client.receive(Frames.ok(1))
        client.cancel(id)
        for _ in 0..<10 { try client.receive(data) }
        _ = client.output()
        for _ in 0..<1_000 { try client.receive(data) }
        let updates = client.frames().filter { $0.type == 8 }
        #expect(updates.allSatisfy { $0.id == 0 })
        #expect(updates.reduce(0) { $0 + Int($1.number) } >= 8 << 20)
        #expect(canceled.text == "head 200")
        try client.receive(Frames.ok(3, endsStream: true))
        #expect(recorder.isComplete)
    }

    /// A server that exceeds the stream's window.
    @Test func windowsAreEnforced() throws {
        let (client, recorder) = (try session { $0.streamWindow = 65_535 }, Recorder())
        _ = try client.get(recorder)
        _ = client.output()
        try client.receive(Frames.ok(1))
        let data = Frames.frame(0, flags: 0, 1, [UInt8](repeating: 1, count: 16_384))
        for _ in 0..<10 { try client.receive(data) }
        #expect(recorder.body.count <= 65_535)
        #expect(recorder.failure?.fault.message.contains("window") == true)
        #expect(client.frames().filter(\.isReset).first?.number == NGHTTP2_FLOW_CONTROL_ERROR.rawValue)
        #expect(client.failure == nil)
    }

    // MARK: Handlers that call the session

    @Test func handlersCanCallTheSession() throws {
        let (client, first, second, third) = (try session(), Recorder(), Recorder(), Recorder())
        first.onHead = {
            client.cancel(1)
            _ = try? client.get(second)
            #expect(throws: Fault.self) { try client.receive(Frames.ping) }
            #expect(client.output().isEmpty)
        }
        second.onBody = { _ in client.fail(.cancelled) }
        third.onFailure = { #expect(throws: Fault.self) { try client.get(Recorder()) } }
        _ = try client.get(first)
        _ = client.output()
        try client.receive(Frames.ok(1) + Frames.data(1, "a", endsStream: true))
        #expect(first.text == "head 200")
        #expect(client.frames().contains { $0.type == 1 && $0.id == 3 })
        _ = try client.get(third)
        _ = client.output()
        #expect(throws: Fault.self) { try client.receive(Frames.ok(3) + Frames.data(3, "a") + Frames.data(3, "b")) }
        #expect(second.text == "head 200 | body | cancelled")
        #expect(second.body.count == 1)
        #expect(third.text == "cancelled")
        #expect(client.output().isEmpty)
    }
}

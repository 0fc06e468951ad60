import AfarCore
import AfarHAR
import AfarSerializers
import AfarTestServer
import AfarTesting
import Foundation
import HTTPTypes
import Testing

#if os(Linux)
    import AfarCurl
#endif

@Suite struct ReplayTests {
    private func exchange(
        _ path: String, _ method: HTTPRequest.Method = .get, body: String? = nil, type: String? = nil
    ) -> Exchange {
        var exchange = Exchange(
            request: HTTPRequest(method: method, scheme: "http", authority: "mock.test", path: path))
        if let body { exchange.body = .data(Data(body.utf8)) }
        if let type { exchange.request.headerFields[.contentType] = type }
        return exchange
    }

    /// Records exchanges with a mock.
    private func archive(of exchanges: [Exchange], _ redaction: HAR.Redaction = .secrets) async throws -> HAR {
        let recording = RecordingTransport(
            around: MockTransport { request in
                .text("\(request.method.rawValue) \(request.path) \(String(decoding: request.body, as: UTF8.self))")
            }, redaction: redaction)
        for exchange in exchanges { _ = try await recording.send(exchange) }
        return recording.archive
    }

    #if os(Linux)
        @Test func responsesOfARealServerAreReplayed() async throws {
            let server = try await TestServer.start()
            let recording = RecordingTransport(around: CurlTransport())
            let live = Session(transport: recording)
            let paths = ["/get?a=1", "/redirect/2", "/gzip", "/bytes/1000", "/status/404"]
            func ask(_ session: Session) async throws -> [Data] {
                var answers: [Data] = []
                for path in paths {
                    answers.append(try await session.request(server.url(path)).serializingData().value)
                }
                let upload = session.upload(Data("sent".utf8), to: server.url("/post"))
                answers.append(try await upload.serializingData().value)
                return answers
            }
            let expected = try await ask(live)
            await server.stop()
            let file = try TemporaryFile()
            try recording.archive.write(to: file.url)
            let replay = try ReplayTransport(contentsOf: file.url)
            let answers = try await ask(Session(transport: replay))
            #expect(answers == expected)
            #expect(replay.unusedEntries.isEmpty)
            #expect(recording.archive.entries.count == 8)
            let first = recording.archive.entries[0]
            #expect(first.response.status == 200 && first.timings.wait > 0 && first.serverIPAddress == "127.0.0.1")
        }

        @Test func failuresAreReplayed() async throws {
            let server = try await TestServer.start()
            let url = server.url("/get")
            await server.stop()
            let recording = RecordingTransport(around: CurlTransport())
            func ask(_ session: Session) async -> TransportError.Code? {
                await session.request(url).serializingData().response.error?.transportError?.code
            }
            #expect(await ask(Session(transport: recording)) == .cannotConnect)
            #expect(await ask(Session(transport: ReplayTransport(recording.archive))) == .cannotConnect)
        }
    #endif

    @Test func bodiesInFilesAndStreamsAreRecordedAndReplayed() async throws {
        let recording = RecordingTransport(
            around: MockTransport { request in .data(Data([0, 255]) + request.body).chunked(into: 3) })
        func ask(_ session: Session) async throws -> [Data] {
            let url = "http://mock.test/binary"
            let file = try TemporaryFile()
            let download = session.download(url, to: { _, _ in (file.url, [.removePreviousFile]) })
            _ = try await download.serializingDownloadedFileURL().value
            var streamed = Data()
            for await event in session.streamRequest(url).streamTask().streamingData() {
                if case .stream(let result) = event.event, case .success(let chunk) = result { streamed += chunk }
            }
            let body = InputStream(data: Data("streamed body".utf8))
            let sent = try await session.upload(body, to: url).serializingData().value
            return [try Data(contentsOf: file.url), streamed, sent]
        }
        let expected = try await ask(Session(transport: recording))
        #expect(expected == [Data([0, 255]), Data([0, 255]), Data([0, 255]) + Data("streamed body".utf8)])
        let file = try TemporaryFile()
        try recording.archive.write(to: file.url)
        let replayed = try await ask(Session(transport: try ReplayTransport(contentsOf: file.url)))
        #expect(replayed == expected)
    }

    @Test func abandoningARecordedStreamCancelsIt() async throws {
        let didEnd = Deferred<Bool>()
        struct Endless: Transport {
            let capabilities = TransportCapabilities.mock
            let didEnd: Deferred<Bool>

            func send(_ exchange: Exchange) async throws -> TransportResponse {
                let (stream, source) = ResponseBodyStream.make(
                    highWaterMark: 1000, onDemand: {}, onCancel: { [didEnd] in didEnd.fulfill(true) })
                source.yield(Data("never whole".utf8))
                return TransportResponse(head: ResponseHead(status: 200, url: exchange.url), body: .stream(stream))
            }
        }
        let recording = RecordingTransport(around: Endless(didEnd: didEnd))
        var endless = exchange("/endless")
        endless.delivery = .stream()
        _ = try await recording.send(endless)
        #expect(await didEnd.value)
        #expect(recording.archive.entries.map(\.response.content.text) == [nil])
    }

    @Test func formParametersOfBrowsersAreBodies() throws {
        let text = """
            {"log":{"entries":[{"request":{"method":"POST","url":"http://a/","postData":{"mimeType":
            "application/x-www-form-urlencoded","text":"","params":[{"name":"a","value":"b c"}]}},"response":{"status":200}}]}}
            """
        let file = try TemporaryFile()
        try Data(text.utf8).write(to: file.url)
        #expect(try HAR(contentsOf: file.url).entries.first?.request.body?.text == "a=b%20c")
    }

    @Test func aResponseWithTooManyFieldsIsRejected() async throws {
        var archive = try await archive(of: [exchange("/")])
        archive.entries[0].response.headers = Array(
            repeating: try #require(archive.entries[0].response.headers.first), count: 70_000)
        let transport = ReplayTransport(archive)
        let error = await #expect(throws: TransportError.self) { try await transport.send(exchange("/")) }
        #expect(error?.code == .headTooLarge)
    }

    @Test func responsesWithoutABodyAreReplayed() async throws {
        let text = """
            {"log":{"entries":[
            {"request":{"method":"GET","url":"http://mock.test/a"},"response":{"status":204,"content":{"size":0}}},
            {"request":{"method":"GET","url":"http://mock.test/b"},"response":{"status":302,"content":{"size":9}}},
            {"request":{"method":"HEAD","url":"http://mock.test/c"},"response":{"status":200,"content":{"size":9}}},
            {"request":{"method":"GET","url":"http://mock.test/d"},"response":{"status":200,"content":{"size":9}}},
            {"request":{"method":"GET","url":"http://mock.test/e"},"response":{"status":1000,"content":{"size":0}}}]}}
            """
        let file = try TemporaryFile()
        try Data(text.utf8).write(to: file.url)
        let replay = RecordingTransport(around: try ReplayTransport(contentsOf: file.url))
        #expect(try await replay.send(exchange("/a")).text == "")
        #expect(try await replay.send(exchange("/b")).text == "")
        #expect(try await replay.send(exchange("/c", .head)).text == "")
        #expect(await failure { _ = try await replay.send(exchange("/d")) }?.code == .bodyIncomplete)
        #expect(try await replay.send(exchange("/e")).head.status == 1000)
    }

    @Test func requestsWithUnrecordedBodiesMatch() async throws {
        let big = String(repeating: "x", count: 16 * 1024 * 1024 + 1)
        let file = try TemporaryFile()
        try await archive(of: [exchange("/big", .post, body: big)]).write(to: file.url)
        let replay = try ReplayTransport(contentsOf: file.url)
        #expect(
            await failure { _ = try await replay.send(exchange("/big", .post, body: big)) }?.code == .bodyIncomplete)
        #expect(replay.unusedEntries.isEmpty && replay.unansweredRequests.isEmpty)
        #expect(await failure { _ = try await replay.send(exchange("/none")) }?.code == .invalidUse)
        #expect(replay.unansweredRequests == ["GET http://mock.test/none"])
    }

    @Test func anEndlessBodyIsReleasedWithTheRequest() async throws {
        let replay = ReplayTransport(HAR())
        let isRead = Deferred<Void>()
        let never = Deferred<Data?>()
        var endless = exchange("/", .post)
        endless.body = .stream(
            RequestBodyStream(isReplayable: true) {
                {
                    isRead.fulfill(())
                    return await never.value
                }
            })
        let task = Task { [endless] in try await replay.send(endless) }
        await isRead.value
        task.cancel()
        #expect(await failure { _ = try await task.value }?.code == .cancelled)
        endless.options.totalTimeout = 0.05
        let error = await failure { [endless] in _ = try await replay.send(endless) }
        #expect(error?.code == .timedOut)
        never.fulfill(nil)
    }

    @Test func anArchivesPermissionsAreKept() throws {
        let file = try TemporaryFile()
        let link = file.url.deletingLastPathComponent().appendingPathComponent("link")
        try HAR().write(to: file.url)
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.url.path)
        try manager.createSymbolicLink(at: link, withDestinationURL: file.url)
        try HAR().write(to: link)
        #expect(try manager.attributesOfItem(atPath: file.url.path)[.posixPermissions] as? Int == 0o600)
        #expect(try manager.attributesOfItem(atPath: link.path)[.type] as? FileAttributeType == .typeSymbolicLink)
        try HAR().write(to: URL(fileURLWithPath: "/dev/null"))
        #expect(try manager.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType == .typeCharacterSpecial)
    }

    @Test func strictMatchingUsesEachEntryOnce() async throws {
        let archive = try await archive(of: [
            exchange("/a", .post, body: "1"), exchange("/a", .post, body: "2"), exchange("/a?x=1&y=2"),
        ])
        let replay = ReplayTransport(archive)
        #expect(try await replay.send(exchange("/a", .post, body: "2")).text == "POST /a 2")
        #expect(try await replay.send(exchange("/a", .post, body: "1")).text == "POST /a 1")
        let again = await failure { _ = try await replay.send(exchange("/a", .post, body: "1")) }
        #expect(again?.code == .invalidUse)
        #expect(again?.message.contains("no response left for POST http://mock.test/a with the body 1") == true)
        #expect(again?.message.contains("Not requested yet: GET http://mock.test/a?x=1&y=2") == true)
        #expect(await failure { _ = try await replay.send(exchange("/a?y=2&x=1")) } != nil)
    }

    @Test func severalTransportsAreRecordedInOneArchive() async throws {
        let recording = RecordingTransport(around: MockTransport { _ in .status(201) })
        let other = recording.around(MockTransport { _ in .status(202) })
        for transport in [other, recording, other] { _ = try await transport.send(exchange("/a")) }
        #expect(recording.archive.entries.map(\.response.status) == [202, 201, 202])
    }

    @Test func lenientMatchingReusesEntries() async throws {
        let archive = try await archive(of: [exchange("/a?x=1&y=2"), exchange("/b", .post, body: "1")])
        let replay = ReplayTransport(archive, matching: .lenient)
        for _ in 1...3 { #expect(try await replay.send(exchange("/a?y=2&x=1")).text == "GET /a ") }
        #expect(try await replay.send(exchange("/b", .post, body: "other")).text == "POST /b 1")
        #expect(await failure { _ = try await replay.send(exchange("/c")) }?.code == .invalidUse)
    }

    @Test func equivalentBodiesMatch() async throws {
        let json = "application/json"
        let archive = try await archive(of: [
            exchange("/json", .post, body: #"{"a":1,"b":[2]}"#, type: json),
            exchange("/form", .post, body: "--x1\r\n\r\nv\r\n--x1--", type: "multipart/form-data; boundary=x1"),
        ])
        let replay = ReplayTransport(archive)
        _ = try await replay.send(exchange("/json", .post, body: #"{ "b":[2], "a":1 }"#, type: json))
        _ = try await replay.send(
            exchange("/form", .post, body: "--y22\r\n\r\nv\r\n--y22--", type: "multipart/form-data; boundary=\"y22\""))
        #expect(replay.unusedEntries.isEmpty)
    }

    @Test func valuesThatChangeCanBeIgnored() async throws {
        let json = "application/json"
        let archive = try await archive(of: [exchange("/a?ts=1&x=1", .post, body: #"{"id":1,"at":"now"}"#, type: json)])
        func answers(_ matching: ReplayTransport.Matching, _ path: String, _ body: String) async -> Bool {
            for redaction in [HAR.Redaction.secrets, .none] {
                let replay = ReplayTransport(archive, matching: matching, redaction: redaction)
                let error = await failure { _ = try await replay.send(exchange(path, .post, body: body, type: json)) }
                if error != nil { return false }
            }
            return true
        }
        let ignoring = ReplayTransport.Matching.strict.ignoring(["TS", "at"])
        let later = #"{"id":1,"at":"later"}"#
        #expect(await answers(ignoring, "/a?ts=2&x=1", later))
        #expect(await !answers(.strict, "/a?ts=2&x=1", later))
        #expect(await !answers(ignoring, "/a?ts=2&x=2", later))
        #expect(await !answers(ignoring, "/a?ts=2&x=1", #"{"id":2,"at":"later"}"#))
        #expect(await answers(.lenient.ignoring(["ts"]), "/a?ts=2&x=1", ""))
    }

    @Test func secretsAreNotWrittenAndStillMatch() async throws {
        var secret = exchange(
            "/login?access_token=s3cret", .post, body: #"{"user":"ada","password":"s3cret"}"#, type: "application/json")
        secret.request.headerFields[.authorization] = "Bearer s3cret"
        secret.request.headerFields[.cookie] = "sid=s3cret; theme=s3cret"
        if let name = HTTPField.Name("X-Customer") { secret.request.headerFields[name] = "s3cret" }
        var form = exchange(
            "/form", .post,
            body: "user=ada&client_secret=s3cret&code=s3cret&code_verifier=s3cret&client_assertion=s3cret",
            type: "application/x-www-form-urlencoded")
        form.request.headerFields[.authorization] = "Basic s3cret"
        let recording = RecordingTransport(
            around: MockTransport { _ in
                var response = MockResponse.json([
                    "access_token": "s3cret", "name": "Ada", "device_code": "s3cret", "code": "kept",
                ])
                response.fields[.setCookie] = "sid=s3cret; Path=/"
                return response
            }, redaction: .secrets(and: ["X-Customer"]))
        for exchange in [secret, form] { _ = try await recording.send(exchange) }
        let file = try TemporaryFile()
        try recording.archive.write(to: file.url)
        let text = try String(contentsOf: file.url, encoding: .utf8)
        #expect(text.components(separatedBy: "\n").filter { $0.contains("s3cret") } == [])
        for kept in ["Bearer ***", "\"sid=***\"", "\"theme=***\"", "sid=***; Path=/", "ada", "Ada"] {
            #expect(text.contains(kept), "\(kept)")
        }
        let replay = try ReplayTransport(contentsOf: file.url)
        let answer = try await replay.send(secret)
        #expect(answer.text == #"{"access_token":"***","code":"kept","device_code":"***","name":"Ada"}"#)
        _ = try await replay.send(form)

        let shown = try await archive(of: [secret], .none)
        #expect(shown.entries[0].request.body?.text?.contains("s3cret") == true)
    }

    @Test func invalidArchivesAreRejectedWithTheirName() throws {
        let file = try TemporaryFile()
        for (text, expected) in [
            ("", "isn't a valid HTTP archive"), ("[]", "isn't a valid HTTP archive"), (#"{"log":{}}"#, "entries"),
            (#"{"log":{"entries":[{"request":{"method":"GET"}}]}}"#, "(at log.entries"),
        ] {
            try Data(text.utf8).write(to: file.url)
            let error = #expect(throws: HAR.FileError.self) { try HAR(contentsOf: file.url) }
            #expect(error.map { "\($0)".contains(expected) && "\($0)".contains(file.url.path) } == true, "\(error)")
        }
        #expect(throws: HAR.FileError.self) { try HAR(contentsOf: URL(fileURLWithPath: "/nowhere/x.har")) }
        #expect(throws: HAR.FileError.self) { try HAR().write(to: URL(fileURLWithPath: "/dev/null/x.har")) }
    }
}

/// An archive that Playwright recorded in Chromium.
@Suite struct ForeignArchiveTests {
    private let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("browser.har")

    @Test func aBrowsersArchiveIsReplayed() async throws {
        let replay = try ReplayTransport(contentsOf: file)
        let session = Session(transport: replay)
        let base = "http://127.0.0.1:8089"
        #expect(
            try await session.request("\(base)/json").serializingDecodable([String: String].self).value["name"] == "Ada"
        )
        #expect(try await session.request("\(base)/image").serializingData().value == Data([0x89, 0x50, 0, 255]))
        let form = session.request(
            "\(base)/form", method: .post, parameters: ["name": "Ada"], encoder: JSONParameterEncoder.default)
        #expect(try await form.serializingString().value == #"got {"name":"Ada"}"#)
    }
}

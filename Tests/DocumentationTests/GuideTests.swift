import Afar
import AfarCore
import AfarTestServer
import Testing

/// Runs the samples in the guides to requests, streams, uploads and downloads, and checks their output.
@Suite(.timeLimit(.minutes(1))) struct GuideTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "guide-\(UUID().uuidString)")

    @Test func encodersMatchTheGuide() async throws {
        try await EncodingSamples.router()
        #expect(await Output.has("Notes of /notes?page=2"))
        #expect(await Output.has(#"application/json: {"text":"Buy tea"}"#))
        try await EncodingSamples.startedLater()
        #expect(await Output.has("initialized"))
        let form = try EncodingSamples.formOptions()
        #expect(
            form == "is_open=true&page=null&place.city=London&since=1970-01-01T00%3A00%3A00Z"
                + "&tags%5B0%5D=a&tags%5B1%5D=b&user_name=Ada+L.")
        try await EncodingSamples.oldEncodings()
        #expect(await Output.has(#"application/json: {"name":"Ada","open":true,"tags":["a","b"]}"#))
        try await EncodingSamples.enveloped()
        #expect(await Output.has(#"application/json: {"data":{"text":"Buy tea"}}"#))
        try await EncodingSamples.ownBody()
        #expect(await Output.has("text/csv: text\nBuy tea\n"))
        try await EncodingSamples.compressed()
        #expect(await Output.has("Sent less than 200 bytes"))
        try await EncodingSamples.raw()
        #expect(await Output.has(where: { $0.hasPrefix("gzip: ") }))
        #expect(try wireForms() == Self.guideForms)
    }

    /// The encoded forms in the guide's table of the form encoder's options.
    private static let guideForms = [
        "tags%5B%5D=a&tags%5B%5D=b", "tags=a&tags=b", "tags%5B0%5D=a&tags%5B1%5D=b", "isOpen=1", "isOpen=true",
        "place%5Bcity%5D=London", "place.city=London", "page=", "page=null", "name=a%20b", "name=a+b", "user_name=x",
        "user-name=x", "UserName=x", "key=aGk%3D", "when=-978307200.0", "when=0.0", "when=1970-01-01T00%3A00%3A00Z",
    ]

    private func wireForms() throws -> [String] {
        struct Page: Encodable {
            var page: Int?
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(["page": page])
            }
        }
        let tags = ["tags": ["a", "b"]]
        let when = ["when": Date(timeIntervalSince1970: 0)]
        return [
            try URLEncodedFormEncoder().encode(tags),
            try URLEncodedFormEncoder(arrayEncoding: .noBrackets).encode(tags),
            try URLEncodedFormEncoder(arrayEncoding: .indexInBrackets).encode(tags),
            try URLEncodedFormEncoder().encode(["isOpen": true]),
            try URLEncodedFormEncoder(boolEncoding: .literal).encode(["isOpen": true]),
            try URLEncodedFormEncoder().encode(["place": ["city": "London"]]),
            try URLEncodedFormEncoder(keyPathEncoding: .dots).encode(["place": ["city": "London"]]),
            try URLEncodedFormEncoder(nilEncoding: .dropValue).encode(Page()),
            try URLEncodedFormEncoder(nilEncoding: .null).encode(Page()),
            try URLEncodedFormEncoder().encode(["name": "a b"]),
            try URLEncodedFormEncoder(spaceEncoding: .plusReplaced).encode(["name": "a b"]),
            try URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase).encode(["userName": "x"]),
            try URLEncodedFormEncoder(keyEncoding: .convertToKebabCase).encode(["userName": "x"]),
            try URLEncodedFormEncoder(keyEncoding: .capitalized).encode(["userName": "x"]),
            try URLEncodedFormEncoder().encode(["key": Data("hi".utf8)]),
            try URLEncodedFormEncoder().encode(when),
            try URLEncodedFormEncoder(dateEncoding: .secondsSince1970).encode(when),
            try URLEncodedFormEncoder(dateEncoding: .iso8601).encode(when),
        ]
    }

    @Test func observersAreNotified() async throws {
        let map = try await SampleServer.shared.value.url("/range/100000")
        try await WatchingSamples.progress(map: map)
        #expect(await Output.has("100000 of 100000 bytes"))
        await WatchingSamples.decidingAtTheHead()
        #expect(await Output.has("Too large: true"))
        try await WatchingSamples.heads()
        #expect(await Output.has("An attempt was answered with 503"))
        #expect(await Output.has("An attempt was answered with 200"))
        WatchingSamples.urlRequests()
        #expect(await Output.has("Sending to /motd"))
        try await WatchingSamples.curl()
        #expect(await Output.has(where: { $0.hasPrefix("curl ") && $0.contains("'Authorization: Bearer ***'") }))
        try await WatchingSamples.tasks()
        #expect(await Output.has("Task received 8 bytes, true"))
    }

    @Test func eventsAreLogged() async throws {
        #expect(DebuggingSamples.logged().eventMonitor.monitors.first is LoggingMonitor)
        #expect((DebuggingSamples.logger().eventMonitor.monitors.first as? LoggingMonitor)?.level == .debug)
        try await DebuggingSamples.loggedElsewhere()
        #expect(
            await Output.has(where: { $0.hasPrefix("HTTP: GET https://api.example.com/motd -> 200, 8 bytes in ") }))
        try await DebuggingSamples.descriptions()
        #expect(await Output.has("GET https://api.example.com/motd (200)"))
        #expect(await Output.has(#"success("Be kind.")"#))
        #expect(await Output.has(where: { $0.hasPrefix("1 request in ") && $0.contains("\n  Waiting") }))
        try await DebuggingSamples.phases()
        #expect(await Output.has(where: { $0.hasPrefix("The server took ") }))
        try await MonitorSamples.closures()
        #expect(await Output.has("Retry number 1"))
        #expect(await Output.has(where: { $0.hasPrefix("Finished: GET https://api.example.com/unstable") }))
        let (session, traffic) = MonitorSamples.ownClass()
        #expect(session.eventMonitor.monitors.count == 2)
        _ = await AF.request("https://api.example.com/motd").eventMonitor(traffic).serializingString().response
        #expect(traffic.total == 8)
        #expect(MonitorSamples.delegate().delegate.taskDidComplete != nil)
        let observer = MonitorSamples.notifications()
        _ = await AF.request("https://api.example.com/motd").serializingString().response
        #expect(await Output.has("Attempt finished: GET https://api.example.com/motd (200)"))
        NotificationCenter.default.removeObserver(observer)
    }

    @Test func theGuideShowsAResponsesDescription() async throws {
        let response = await AF.request("https://api.example.com/motd").serializingString().response
        let shown = response.debugDescription.split(separator: "\n").filter { !$0.hasPrefix("Times: ") }
        let page = try #require(Markdown.pages.first { $0.name == "Docs/Logging-Metrics-Tracing-and-Debugging.md" })
        for line in shown where !line.contains("Date: ") && !line.contains("Connection: ") {
            #expect(page.lines.contains(String(line)), "\(line)")
        }
    }

    @Test func interceptorsMatchTheGuide() async throws {
        try await InterceptorSamples.closures()
        #expect(await Output.has(where: { $0.contains(/nobody, trace [0-9a-f-]{36}/) }))
        try await InterceptorSamples.awaiting(Vault())
        #expect(await Output.has("Bearer from the vault, trace none"))
        try await InterceptorSamples.policy()
        #expect(await Output.has("Steady"))
        await InterceptorSamples.ownRetrier()
        #expect(await Output.has("Unlocked"))
        try await InterceptorSamples.respectingRetryAfter()
        #expect(await Output.has("Your turn"))
        try await InterceptorSamples.posting()
        #expect(await Output.has(where: { $0.hasPrefix("POST /tables, application/x-www-form-urlencoded") }))
        #expect((InterceptorSamples.offline().interceptor as? OfflineRetrier)?.maximumWait == .seconds(30))
        let expired = OAuthToken(access: "a1", refresh: "r1", expires: .distantPast)
        try await InterceptorSamples.refreshing(expired)
        let refused = OAuthToken(access: "a1", refresh: "r1", expires: .distantFuture)
        try await InterceptorSamples.refreshing(refused)
        #expect(await Output.has("Ada's account"))
        try await InterceptorSamples.signing(SampleServer.standInHMAC)
        #expect(await Output.has("Ordered tea=2"))
        let session = InterceptorSamples.together(
            Service(token: "s3cret"), Signer(keyID: "k1", authenticationCode: SampleServer.standInHMAC))
        #expect((session.interceptor as? Interceptor)?.adapters.count == 2)
    }

    @Test func streamsAreDelivered() async throws {
        StreamSamples.handler()
        #expect(await Output.has("The feed has ended"))
        try await StreamSamples.awaited()
        #expect(await Output.has("Note 2: scones"))
        await StreamSamples.decodables()
        #expect(await Output.has("Decoded whole"))
        #expect(await Output.has("No more notes"))
        StreamSamples.serializer()
        #expect(await Output.has(where: { $0.hasSuffix(" lines more") }))
        StreamSamples.throwingHandler()
        #expect(await Output.has("Stopped: true"))
        await StreamSamples.leaving()
        #expect(await Output.has("cancelled"))
        await StreamSamples.buffered()
        #expect(await Output.has(where: { $0.hasPrefix("Newest: ") }))
        StreamSamples.inputStream()
        #expect(await Output.has("Read 100000 bytes"))
    }

    @Test func linesAndEventsAreDelivered() async throws {
        await EventSamples.lines()
        #expect(await Output.has("Noted scones"))
        #expect(await Output.has("All notes are there"))
        EventSamples.handler()
        #expect(await Output.has("Received tea"))
        let failure = JSONStreamError(reason: .possiblyTruncated, framing: .line, number: 17)
        EventSamples.badLine(.responseSerializationFailed(reason: .customSerializationFailed(error: failure)))
        #expect(await Output.has("Error in line 17"))
        try await EventSamples.answer()
        #expect(await Output.has("word: forty"))
        #expect(await Output.has("word: two"))
        try await EventSamples.question()
        #expect(await Output.has("Answered two"))
        #expect(try EventSamples.decoded(ServerSentEvent(data: #"{"name":"tea","pence":120}"#)).pence == 120)
        try await EventSamples.prices()
        #expect(await Output.has(#"Price 2: {"name":"tea","pence":121}"#))
        #expect(EventSamples.reconnecting().reconnection.maximumFailures == 10)
        EventSamples.measurements()
        #expect(await Output.has("Measured -2.0"))
        for size in [1, 7, 1_000] {
            let body = Data("1;\(String(repeating: "2", count: 200));3;".utf8)
            var parser = Measurements()
            let results = stride(from: 0, to: body.count, by: size).flatMap {
                parser.parse(body[$0..<min($0 + size, body.count)])
            }
            #expect(results.map { try? $0.get() } == [1, nil, 3])
        }
    }

    @Test func aPlugInLooksBuiltIn() async throws {
        try await PluginSamples.decoder()
        #expect(await Output.has("web runs 3 times"))
        PluginSamples.handler()
        #expect(await Output.has("3 of web"))
        try await PluginSamples.awaited()
        #expect(await Output.has("web, awaited"))
        try await PluginSamples.streamed()
        #expect(await Output.has("Streamed db"))
        for size in [1_000, 4 << 20] {
            let body = Data("name: \(String(repeating: "x", count: 2 << 20))\n---\nname: b\nreplicas: 2\n".utf8)
            var parser = YAMLDocuments<Deployment>()
            let results = stride(from: 0, to: body.count, by: size).flatMap {
                parser.parse(body[$0..<min($0 + size, body.count)])
            }
            #expect((results + parser.finish()).map { try? $0.get().name } == [nil, "b"])
        }
        try await PluginSamples.sent()
        #expect(await Output.has("application/yaml: name: web\nreplicas: 5\n"))
        try await YAMLSamples.limited()
        #expect(await Output.has("web, within limits"))
    }

    @Test func uploadsArrive() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "table.csv")
        try Data("a,b\n1,2\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await UploadSamples.data()
        #expect(await Output.has("PUT /tables, text/csv, length 8: 8 bytes"))
        try await UploadSamples.inputStream(file: file, length: 8)
        #expect(await Output.has("POST /tables, no type, length 8: 8 bytes"))
        try await UploadSamples.chunks()
        #expect(await Output.has("POST /tables, no type, chunked: 21 bytes"))
        let (lines, feed) = AsyncStream.makeStream(of: Data.self)
        for number in 1...3 { feed.yield(Data("line \(number)\n".utf8)) }
        feed.finish()
        try await UploadSamples.chunksWithLength(lines)
        #expect(await Output.has("POST /tables, no type, length 21: 21 bytes"))
        try await UploadSamples.convertible(folder: folder)
        #expect(await Output.has("PUT /backups, text/plain, length 9: 9 bytes"))
        #expect(await Output.has("POST /countdown, no type, chunked: 6 bytes"))
        try await UploadSamples.progress(video: file)
        #expect(await Output.has("100 % sent"))
    }

    @Test func formsArrive() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let portrait = folder.appending(path: "ada.png")
        try Data(count: 100).write(to: portrait)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await UploadSamples.form(portrait: portrait)
        #expect(await Output.has(where: { $0.hasPrefix("POST /people, multipart/form-data, length ") }))
        let stream = InputStream(data: Data(count: 50))
        try await UploadSamples.allParts(portrait: portrait, stream: stream, length: 50)
        #expect(await Output.has(where: { $0.hasPrefix("PUT /people, multipart/form-data, length ") }))
        try await UploadSamples.allParts(portrait: portrait, stream: InputStream(data: Data(count: 40)), length: 50)
        #expect(await Output.has(where: { $0.hasPrefix("Nothing was sent: ") }))
        try UploadSamples.formInAFile(folder: folder)
        let form = try String(contentsOf: folder.appending(path: "form"), encoding: .utf8)
        #expect(form == "--limes\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAda\r\n--limes--\r\n")
    }

    @Test func downloadsMatchTheGuide() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let server = try await SampleServer.shared.value
        defer { try? FileManager.default.removeItem(at: folder) }
        let destination: DownloadRequest.Destination = { [folder] _, _ in (folder.appending(path: "map"), []) }
        let bookmark = folder.appending(path: "bookmark")
        // Other processes that run this test use the same folder.
        let name = "map-\(UUID().uuidString)"
        server.route("/\(name)") { _ in .content("application/octet-stream", PatternBytes.bytes(1_000)) }
        try await DownloadSamples.suggested(map: server.url("/\(name)"))
        #expect(await Output.has("Saved as \(name)"))
        try await DownloadSamples.intoMemory(map: server.url("/range/1000"))
        #expect(await Output.has("1000 bytes read from the file"))
        let broken = server.url("/range/1000?cuts=400")
        remove(await DownloadSamples.failures(map: broken, destination: destination))
        #expect(await Output.has("Interrupted, can be resumed"))
        try await DownloadSamples.interrupted(map: broken, bookmark: bookmark, destination: destination)
        try await DownloadSamples.resuming(bookmark: bookmark, destination: destination)
        #expect(await Output.has("Complete at map"))
        #expect(try Data(contentsOf: folder.appending(path: "map")) == PatternBytes.bytes(1_000))
        remove(await DownloadSamples.failures(map: server.url("/range/1000"), destination: destination))
        #expect(await Output.has(where: { $0.hasPrefix("Complete, but still at downloaded: ") }))
        remove(await DownloadSamples.cancelling(map: server.url("/range/100000?stalls=50000")))
        #expect(await Output.has("Cancelled, can be resumed: true"))
        DownloadSamples.cancellingWithAHandler(AF.download(server.url("/range/1000")))
        #expect(await Output.has("Nothing to resume"))
    }

    @Test func parallelAndVerifiedDownloadsMatchTheGuide() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let server = try await SampleServer.shared.value
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "map")
        let destination = DownloadRequest.destination(file)
        let large = PatternBytes.bytes(3_000_000)
        try await DownloadSamples.parallel(map: server.url("/range/3000000"), file: file)
        #expect(await Output.has("Complete at map"))
        #expect(try Data(contentsOf: file) == large)
        try await DownloadSamples.plugin(map: server.url("/range/3000000"), destination: file)
        try await DownloadSamples.parallelFailures(map: server.url("/status/404"), file: file)
        #expect(await Output.has(where: { $0.hasPrefix("A request failed: ") }))
        let digest = try FileDigest(.sha256, of: file).bytes.map { String(format: "%02x", $0) }.joined()
        let whole = server.url("/range/3000000")
        try await DownloadSamples.verified(map: whole, published: digest, destination: destination)
        #expect(await Output.has("Verified map"))
        await #expect(throws: AFError.self) {
            try await DownloadSamples.verifiedByTheServer(map: whole, destination: destination)
        }
        let bookmark = folder.appending(path: "bookmark")
        let broken = server.url("/range/1000?cuts=400")
        try await DownloadSamples.interrupted(map: broken, bookmark: bookmark, destination: destination)
        try await DownloadSamples.relocated(
            bookmark: bookmark, newURL: server.url("/range/1000?signature=2"), destination: destination)
        #expect(try Data(contentsOf: file) == PatternBytes.bytes(1_000))
        #expect(server.lastRequest(path: "/range/1000")?.headers["Range"] == "bytes=400-")
    }

    @Test func aDownloadOfAReleasedSessionCanBeResumed() async throws {
        let url = try await SampleServer.shared.value.url("/range/100000?stalls=50000")
        var session: Session? = Session()
        let request = try #require(session).download(url)
        let file = request.serializingDownloadedFileURL()
        for await progress in request.downloadProgress() where progress.completedUnitCount >= 50_000 { break }
        session = nil
        let response = await file.response
        #expect(response.error?.isSessionDeinitializedError == true)
        #expect(response.resumeData != nil)
        remove(response)
    }

    /// Removes the temporary files of a download.
    private func remove(_ response: AFDownloadResponse<URL>) {
        let part = response.resumeData.flatMap { try? ResumeData(decoding: $0) }.map { URL(filePath: $0.path) }
        for file in [part, response.error?.sourceURL].compactMap({ $0 }) {
            try? FileManager.default.removeItem(at: file.deletingLastPathComponent())
        }
    }
}

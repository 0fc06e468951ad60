import Afar
import AfarResumableUploads
import AfarTransport
import Foundation
import Testing

/// Servers that break the protocols. Each upload ends with a typed error after a limited number of requests.
@Suite(.timeLimit(.minutes(2))) struct HostileServerTests {
    private static func created(_ location: String) -> UploadServer.Answer {
        .send("HTTP/1.1 201 Created\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n", closes: false)
    }

    private static func offset(_ text: String?) -> UploadServer.Answer {
        .send("HTTP/1.1 204 No Content\r\n\(text.map { "Upload-Offset: \($0)\r\n" } ?? "")\r\n", closes: false)
    }

    /// Uploads 1,000 bytes to a server that answers all requests with a closure.
    private static func fail(
        _ uploadProtocol: ResumableUploadProtocol = .tus, options: ResumableUploadOptions = ResumableUploadOptions(),
        headers: HTTPHeaders = [:], _ answer: @escaping @Sendable (UploadServer.Request, Int) -> UploadServer.Answer?
    ) async throws -> (ResumableUploadError?, [UploadServer.Request]) {
        let (result, requests) = try await run(uploadProtocol, options: options, headers: headers, answer)
        return (result.uploadError, requests)
    }

    private static func run(
        _ uploadProtocol: ResumableUploadProtocol = .tus, options: ResumableUploadOptions = ResumableUploadOptions(),
        headers: HTTPHeaders = [:], _ answer: @escaping @Sendable (UploadServer.Request, Int) -> UploadServer.Answer?
    ) async throws -> (Result<ResumableUploadResponse, any Error>, [UploadServer.Request]) {
        let server = try UploadServer { $0.answer = answer }
        defer { server.stop() }
        let folder = try TestFolder()
        let (file, _) = try folder.file(1_000)
        let result = await skippingSession().uploadResumable(
            file, to: server.url(), protocol: uploadProtocol, headers: headers, options: options
        ).result
        return (result, server.requests)
    }

    @Test(arguments: [
        "1001", "-1", "99999999999999999999", "9223372036854775807", "1e3", "0x10", "", "5, 5", "?1", "٣",
    ])
    func impossibleOffsetsAreErrors(_ text: String) async throws {
        let (error, requests) = try await Self.fail { request, _ in request.method == "POST" ? nil : Self.offset(text) }
        guard case .invalidOffset = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(requests.count == 2)
    }

    @Test(arguments: ["1001", "99999999999999999999", "-1", ""])
    func impossibleOffsetsAfterAnInterruptionAreErrors(_ text: String) async throws {
        let (error, requests) = try await Self.fail { request, _ in
            switch request.method {
            case "POST": nil
            case "HEAD": Self.offset(text)
            default: .close
            }
        }
        guard case .invalidOffset = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(requests.map(\.method) == ["POST", "PATCH", "HEAD"])
    }

    /// The record would be removed although most of the file is missing.
    @Test func anUploadThatIsCompleteBeforeItsEndIsAnError() async throws {
        var options = ResumableUploadOptions()
        options.chunkSize = 100
        let (error, _) = try await Self.fail(.draft(.v8), options: options) { request, _ in
            request.method == "PATCH"
                ? .send("HTTP/1.1 204 No Content\r\nUpload-Complete: ?1\r\nUpload-Offset: 200\r\n\r\n", closes: false)
                : nil
        }
        guard case .invalidOffset = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aMissingOffsetIsAnError() async throws {
        let (error, _) = try await Self.fail { request, _ in request.method == "POST" ? nil : Self.offset(nil) }
        guard case .invalidOffset("is missing") = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func offsetsThatGoBackwardForeverAreAnError() async throws {
        let (error, requests) = try await Self.fail { request, number in
            request.method == "POST" ? nil : Self.offset(request.method == "HEAD" ? "0" : String(500 - number))
        }
        guard case .noProgress = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(requests.count <= 20)
    }

    @Test func aServerThatAcceptsNothingIsAnError() async throws {
        let (error, requests) = try await Self.fail { request, _ in request.method == "POST" ? nil : Self.offset("0") }
        guard case .noProgress(attempts: 8, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(requests.count <= 17)
    }

    @Test func tinyProgressIsLimitedByTheTotalNumberOfInterruptions() async throws {
        let count = Locked(0)
        var options = ResumableUploadOptions()
        options.maximumInterruptions = 20
        let (error, requests) = try await Self.fail(options: options) { request, _ in
            switch request.method {
            case "POST": return nil
            case "HEAD":
                return Self.offset(
                    count.withLock {
                        $0 += 1
                        return String($0)
                    })
            default: return .close
            }
        }
        guard case .tooManyInterruptions = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(requests.count <= 50)
    }

    @Test func anotherLengthIsAnError() async throws {
        let (error, _) = try await Self.fail { request, _ in
            switch request.method {
            case "POST": nil
            case "HEAD":
                .send(
                    "HTTP/1.1 200 OK\r\nUpload-Offset: 5\r\nUpload-Length: 999\r\nContent-Length: 0\r\n\r\n",
                    closes: false)
            default: .close
            }
        }
        guard case .lengthMismatch(expected: 1_000, server: 999) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [
        "", "http://", "ftp://x/", "file:///etc/passwd", "http:\\\\x", "http://a b/",
        String(repeating: "x", count: 10_000),
    ])
    func unusableLocationsAreErrors(_ location: String) async throws {
        let (error, requests) = try await Self.fail { _, _ in Self.created(location) }
        switch error {
        case .invalidLocation, .otherOrigin: break
        default: Issue.record("\(String(describing: error))")
        }
        #expect(requests.count == 1)
    }

    @Test func aRedirectLoopIsAnError() async throws {
        let (result, requests) = try await Self.run { request, _ in
            .send(
                "HTTP/1.1 307 Temporary Redirect\r\nLocation: \(request.path)\r\nContent-Length: 0\r\n\r\n",
                closes: false)
        }
        #expect(result.requestError?.transportError?.code == .tooManyRedirects)
        #expect(requests.count <= 22)
    }

    @Test func aLocationThatIsTheEndpointEnds() async throws {
        let (error, requests) = try await Self.fail { request, _ in
            request.method == "POST"
                ? Self.created("/files") : .send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", closes: false)
        }
        guard case .uploadGone(status: 404) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(requests.count == 4)
    }

    @Test(arguments: [ResumableUploadProtocol.tus, .draft(.latest)])
    func endlessInformationalResponsesAreAnError(_ uploadProtocol: ResumableUploadProtocol) async throws {
        let informational = "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: 8\r\n\r\n"
        let (result, _) = try await Self.run(uploadProtocol) { _, _ in
            .send(String(repeating: informational, count: 20_000), closes: true)
        }
        #expect(result.requestError != nil)
    }

    @Test func locationsThatDifferAreAnError() async throws {
        @Sendable func informational(_ path: String) -> String {
            "HTTP/1.1 104 X\r\nUpload-Draft-Interop-Version: 8\r\nLocation: \(path)\r\n\r\n"
        }
        let (error, _) = try await Self.fail(.draft(.v8)) { request, _ in
            request.method == "POST"
                ? .send(
                    informational("/a") + informational("/b") + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                    closes: false)
                : nil
        }
        guard case .invalidLocation = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func statusesAreTypedErrors() async throws {
        let (large, _) = try await Self.fail { _, _ in
            .send("HTTP/1.1 413 Too Large\r\nTus-Max-Size: 999\r\nContent-Length: 0\r\n\r\n", closes: false)
        }
        guard case .tooLarge(limit: 999) = large else {
            Issue.record("\(String(describing: large))")
            return
        }
        let (version, _) = try await Self.fail { _, _ in
            .send("HTTP/1.1 412 X\r\nTus-Version: 0.2.2,0.2.1<b>\r\nContent-Length: 0\r\n\r\n", closes: false)
        }
        guard case .unsupportedVersion(["0.2.2", "0.2.1"]) = version else {
            Issue.record("\(String(describing: version))")
            return
        }
        let (refused, requests) = try await Self.fail { _, _ in
            .send("HTTP/1.1 401 X\r\nContent-Length: 2\r\n\r\nno", closes: false)
        }
        guard case .rejected(method: "POST", status: 401, let data) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(data == Data("no".utf8))
        #expect(requests.count == 1)
    }

    /// A proxy limits the size of one request, not of the upload.
    @Test func aProxysLimitIsNotTheServers() async throws {
        let (error, requests) = try await Self.fail { request, _ in
            request.method == "PATCH"
                ? .send("HTTP/1.1 413 Too Large\r\nServer: nginx\r\nContent-Length: 0\r\n\r\n", closes: true) : nil
        }
        guard case .requestTooLarge(byteCount: 1_000) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(requests.count == 2)
        #expect(error?.localizedDescription.contains("chunkSize") == true)
    }

    @Test func aDateInRetryAfterIsRespected() async throws {
        let clock = SkippingClock()
        let server = try UploadServer { state in
            state.answer = { request, number in
                number == 2
                    ? .send(
                        "HTTP/1.1 503 X\r\nDate: Wed, 25 Jun 2036 16:00:00 GMT\r\nRetry-After: Wed, 25 Jun 2036 16:00:42 GMT\r\nContent-Length: 0\r\n\r\n",
                        closes: false)
                    : nil
            }
        }
        defer { server.stop() }
        let folder = try TestFolder()
        let (file, _) = try folder.file(1_000)
        _ = try await skippingSession(clock).uploadResumable(file, to: server.url(), protocol: .tus).value
        #expect(clock.delays.count == 1)
        #expect(clock.delays.allSatisfy { $0 > .milliseconds(41_900) && $0 <= .seconds(42) })
    }

    @Test func aHugeRetryAfterIsLimited() async throws {
        let clock = SkippingClock()
        let server = try UploadServer { state in
            state.answer = { request, number in
                number == 2
                    ? .send(
                        "HTTP/1.1 503 X\r\nRetry-After: 99999999999999999999999999\r\nContent-Length: 0\r\n\r\n",
                        closes: false)
                    : nil
            }
        }
        defer { server.stop() }
        let folder = try TestFolder()
        let (file, _) = try folder.file(1_000)
        _ = try await skippingSession(clock).uploadResumable(file, to: server.url(), protocol: .tus).value
        #expect(clock.delays.count == 1)
        #expect(clock.delays.allSatisfy { $0 > .milliseconds(59_900) && $0 <= .seconds(60) })
    }

    // MARK: Other origins

    @Test func anotherOriginIsRefused() async throws {
        let other = try UploadServer()
        defer { other.stop() }
        let location = other.url("/files/1").absoluteString
        let (error, requests) = try await Self.fail { _, _ in Self.created(location) }
        guard case .otherOrigin(host: "127.0.0.1") = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(requests.count == 1)
        #expect(other.log.isEmpty)
    }

    @Test func credentialsDontFollowToAnotherOrigin() async throws {
        let other = try UploadServer { state in
            state.answer = { _, _ in Self.offset("1000") }
        }
        let location = other.url("/files/1").absoluteString
        let server = try UploadServer { state in state.answer = { _, _ in Self.created(location) } }
        defer {
            other.stop()
            server.stop()
        }
        let folder = try TestFolder()
        let (file, _) = try folder.file(1_000)
        var options = ResumableUploadOptions()
        options.allowsOtherOrigins = true
        func adapter(_ name: String) -> Interceptor {
            let adapter = Adapter { request, _, completion in
                var request = request
                request.setValue("adapted", forHTTPHeaderField: name)
                completion(.success(request))
            }
            return Interceptor(adapters: [adapter])
        }
        var configuration = SessionConfiguration.default
        configuration.headers.add(name: "X-Auth-Token", value: "default")
        let url = try #require(URL(string: "http://me:hidden@127.0.0.1:\(server.port)/files"))
        let session = Session(configuration: configuration, interceptor: adapter("X-Session-Key"))
        _ = try await session.uploadResumable(
            file, to: url, protocol: .tus, headers: ["Cookie": "a=b", "X-Plain": "1"],
            interceptor: adapter("X-Api-Key"), options: options
        ).value
        let (first, second) = (try #require(server.requests.first), try #require(other.requests.first))
        for name in ["Cookie", "X-Api-Key", "X-Auth-Token", "X-Session-Key"] {
            #expect(first[name] != nil)
            #expect(second[name] == nil, "\(name)")
        }
        #expect(second["Authorization"] == nil)
        #expect(second["X-Plain"] == "1")
        #expect(second.method == "PATCH")
    }

    @Test func anInsecureLocationIsRefused() async throws {
        // The endpoint is checked without a connection, by the URL in a record.
        let folder = try TestFolder()
        let (file, _) = try folder.file(10)
        var status = stat()
        #expect(stat(file.path, &status) == 0)
        let record = """
            {"version":1,"uploadProtocol":"tus","endpoint":"https://example.com/files","file":{"size":10,\
            "modificationSeconds":\(status.st_mtim.tv_sec),"modificationNanoseconds":\(status.st_mtim.tv_nsec),\
            "inode":\(status.st_ino)},"parts":[{"start":0,"count":10,"url":"http://example.com/files/1"}]}
            """
        try Data(record.utf8).write(to: folder.record)
        var options = ResumableUploadOptions(record: folder.record)
        options.allowsOtherOrigins = true
        let error = await skippingSession().uploadResumable(
            file, to: "https://example.com/files", protocol: .tus, options: options
        ).result.uploadError
        guard case .insecureLocation(host: "example.com") = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}

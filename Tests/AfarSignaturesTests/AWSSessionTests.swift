import Afar
import AfarTestServer
import AfarTesting
import AfarTransport
import HTTPTypes
import TestServers
import Testing

@testable import AfarSignatures

/// Sessions that send signed requests to a server that recomputes the signatures with PyPI's botocore.
@Suite(.enabled(if: SigningPeer.isInstalled), .timeLimit(.minutes(5))) struct AWSSessionTests {
    static let credentials = AWSCredentials(
        accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        sessionToken: "AQoDYXdz//EXAMPLE==")

    struct Answer: Decodable {
        let path: String
        let body: Data
        let fields: [[String]]

        func field(_ name: String) -> String? { fields.first { $0[0].lowercased() == name }?[1] }
    }

    static func session(
        service: String = "s3", body: AWSSigningStage.Body = .automatic, time: TimeSource = .system,
        retrying: Bool = false
    ) -> Session {
        var configuration = SessionConfiguration.default
        configuration.timeSource = time
        let signer = AWSSigner(region: "us-east-1", service: service)
        return Session(
            configuration: configuration,
            interceptor: retrying ? Interceptor(retriers: [RetryPolicy(exponentialBackoffScale: 0)]) : nil,
            stages: [AWSSigningStage(signer, credentials: credentials, body: body)])
    }

    static func send(_ request: DataRequest) async throws -> Answer {
        let response = await request.serializingData().response
        let text = String(decoding: response.data ?? Data(), as: UTF8.self)
        #expect(response.response?.statusCode == 200, "\(response.response?.statusCode ?? 0) \(text)")
        return try JSONDecoder().decode(Answer.self, from: try response.result.get())
    }

    /// Chunks of 1,000 bytes that can be read once.
    static func chunks(of data: Data) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for start in stride(from: 0, to: data.count, by: 1_000) {
                continuation.yield(data[start..<min(start + 1_000, data.count)])
            }
            continuation.finish()
        }
    }

    @Test(arguments: ["s3", "execute-api"])
    func requestsAreAccepted(service: String) async throws {
        let server = try await SigningPeer.awsServer()
        let session = Self.session(service: service)
        let root = "http://127.0.0.1:\(server.port)"
        for path in [
            "/", "/a/b.txt?versionId=1&a=x%20y&a=", "/?a=b+c&d+e=%2B&f=%20", "/a%20b/%C3%A4%2B(1)?q=%F0%9F%98%80&empty",
        ] {
            let answer = try await Self.send(session.request(root + path))
            #expect(answer.field("user-agent") != nil)
            #expect(answer.field("x-amz-security-token") == "AQoDYXdz//EXAMPLE==")
            #expect((answer.field("x-amz-content-sha256") != nil) == (service == "s3"))
        }
        let parameters = ["text": "a b+c/ä&=", "list": "1"]
        _ = try await Self.send(session.request(root + "/query", parameters: parameters))
        let form = try await Self.send(session.request(root + "/form", method: .post, parameters: parameters))
        #expect(String(decoding: form.body, as: UTF8.self).contains("list=1"))
        let file = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
        try Data("contents".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let upload = try await Self.send(session.upload(file, to: root + "/file", method: .put))
        #expect(upload.body == Data("contents".utf8))
    }

    @Test(arguments: [
        AWSSigningStage.Body.automatic, .unsigned, .signedChunks(), .signedChunks(checksum: .crc32),
        .signedChunks(checksum: .crc32c), .signedChunks(checksum: .sha256), .unsignedChunks(checksum: .crc32),
        .unsignedChunks(checksum: .sha256),
    ])
    func bodiesAreAccepted(body: AWSSigningStage.Body) async throws {
        let server = try await SigningPeer.awsServer()
        let session = Self.session(body: body)
        let url = "http://127.0.0.1:\(server.port)/object"
        for size in [0, 1, 65_536, 200_001] {
            let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let answer = try await Self.send(session.upload(data, to: url, method: .put))
            #expect(answer.body == data)
            #expect(answer.field("transfer-encoding") == nil)
            if case .signedChunks = body { #expect(answer.field("content-encoding") == "aws-chunked") }
            let file = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
            try data.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(try await Self.send(session.upload(file, to: url, method: .put)).body == data)
            let upload = session.upload(Self.chunks(of: data), length: Int64(size), to: url, method: .put)
            #expect(try await Self.send(upload).body == data)
        }
    }

    @Test func streamsThatCantBeSignedFail() async throws {
        let server = try await SigningPeer.awsServer()
        let url = "http://127.0.0.1:\(server.port)/object"
        for (session, length) in [(Self.session(service: "sts"), Int64?(3)), (Self.session(), nil)] {
            let response = await session.upload(
                Self.chunks(of: Data([1, 2, 3])), length: length, to: url, method: .put
            ).serializingData().response
            #expect("\(try #require(response.error))".contains("can't be signed for AWS"))
        }
    }

    /// Each attempt has its own signature.
    @Test func retriesAreSignedAgain() async throws {
        let server = try await SigningPeer.awsServer()
        let session = Self.session(retrying: true)
        let request = session.request("http://127.0.0.1:\(server.port)/flaky", method: .put).validate()
        let answer = try await Self.send(request)
        #expect(answer.path == "/flaky")
        #expect(request.retryCount == 1)
    }

    @Test func redirectsWithinTheOriginAreSigned() async throws {
        let server = try await SigningPeer.awsServer()
        let session = Self.session()
        let answer = try await Self.send(
            session.request("http://127.0.0.1:\(server.port)/redirect?to=%2Fother%3Fa%3D1", method: .put))
        #expect(answer.path == "/other?a=1")
    }

    @Test func otherOriginsReceiveNeitherSignatureNorToken() async throws {
        let server = try await SigningPeer.awsServer()
        let other = try await TestServer.start()
        let received = Locked<[String]>([])
        other.route("/target") { request in
            received.withLock { $0 += request.headers.fields.map { "\($0.name): \($0.value)".lowercased() } }
            return ServerResponse(status: 307, headers: ["Location": "http://127.0.0.1:\(server.port)/back"])
        }
        let target = other.url("/target").absoluteString
        let to = try #require(target.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let session = Self.session()
        let response = await session.request("http://127.0.0.1:\(server.port)/redirect?to=\(to)")
            .serializingData().response
        // After the redirect back to the first origin, the request isn't signed either.
        #expect(response.response?.statusCode == 403, "\(String(describing: response.error))")
        #expect(String(decoding: response.data ?? Data(), as: UTF8.self) == "the request isn't signed")
        let lines = received.withLock { $0 }
        #expect(!lines.isEmpty)
        #expect(!lines.contains { $0.hasPrefix("x-amz-") || $0.hasPrefix("authorization") })
        await other.stop()
    }

    // MARK: Clocks

    @Test(arguments: [3_600, -3_600])
    func theClockIsCorrectedOnce(skew: Int) async throws {
        let server = try await SigningPeer.awsServer()
        let session = Self.session()
        let url = "http://127.0.0.1:\(server.port)/skew/\(skew)/a"
        let request = session.upload(Data("body".utf8), to: url, method: .put)
        #expect(try await Self.send(request).body == Data("body".utf8))
        let metrics = await request.serializingData().response
        #expect(metrics.response?.statusCode == 200)
        // The correction also applies to later requests, of which a stream is sent only once.
        let once = session.upload(Self.chunks(of: Data("once".utf8)), length: 4, to: url, method: .put)
        #expect(try await Self.send(once).body == Data("once".utf8))
        // When the server's clock is right again, another correction follows.
        #expect(try await Self.send(session.request("http://127.0.0.1:\(server.port)/b")).path == "/b")
    }

    /// A server whose `Date` is wrong, but refuses every request.
    @Test func aRefusedCorrectionIsntRepeated() async throws {
        let count = Locked(0)
        let transport = MockTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .status(403).adding("Date", Self.text(of: Date() + (number % 2 == 0 ? -7_200 : 7_200)))
        }
        let signer = AWSSigner(region: "us-east-1", service: "s3")
        let session = Session(
            stages: [AWSSigningStage(signer, credentials: Self.credentials)], transport: transport)
        let response = await session.request("https://example.com/").serializingData().response
        #expect(response.response?.statusCode == 403)
        #expect(count.withLock { $0 } == 2)
        #expect(transport.requests.allSatisfy { $0.fields[.authorization] != nil })
    }

    /// A server with a wrong `Date` affects neither the expiration of credentials nor other servers.
    @Test(arguments: [7_200, -7_200, 200_000]) func aWrongDateDoesNotPreventOtherRequests(skew: Double) async throws {
        let transport = MockTransport { request in
            guard request.url.contains("wrong") else { return .status(200) }
            return .status(403).adding("Date", Self.text(of: Date() + skew))
        }
        let credentials = AWSCredentials(
            accessKeyID: "a", secretAccessKey: "s", sessionToken: "t", expiration: Date() + (skew > 0 ? 3_600 : -3_600))
        let signer = AWSSigner(region: "us-east-1", service: "s3")
        let session = Session(stages: [AWSSigningStage(signer, credentials: credentials)], transport: transport)
        let isValid = skew > 0
        for host in ["wrong.example", "wrong.example", "right.example"] {
            let response = await session.request("https://\(host)/").serializingData(emptyResponseCodes: [200, 403])
                .response
            #expect((response.error == nil) == isValid, "\(String(describing: response.error))")
        }
        // Corrections of more than a day are ignored.
        #expect(transport.requests.count == (!isValid ? 0 : skew > 86_400 ? 3 : 4))
        guard isValid, let text = transport.requests.last?.fields.value("X-Amz-Date") else { return }
        let date = try #require(Self.formatter("yyyyMMdd'T'HHmmss'Z'").date(from: text))
        #expect(date.timeIntervalSinceNow.magnitude < 3_600)
    }

    private static func text(of date: Date) -> String {
        formatter("EEE, dd MMM yyyy HH:mm:ss 'GMT'").string(from: date)
    }

    private static func formatter(_ format: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = format
        return formatter
    }

    // MARK: Requests that aren't signed

    @Test func otherRequestsAreLeftAlone() async throws {
        let transport = MockTransport { _ in .status(200) }
        let signer = AWSSigner(region: "us-east-1", service: "s3")
        let stage = AWSSigningStage(signer, credentials: Self.credentials) { $0.authority != "example.org" }
        let session = Session(stages: [stage], transport: transport)
        let presigned = try signer.presignedURL(
            for: #require(URL(string: "https://example.com/a")), expiresIn: 60, with: Self.credentials)
        _ = await session.request(presigned).serializingData().response
        _ = await session.request("https://example.com/", headers: [.authorization(bearerToken: "x")])
            .serializingData().response
        _ = await session.request("https://example.org/").serializingData().response
        #expect(transport.requests.count == 3)
        for request in transport.requests {
            #expect(request.fields.value("X-Amz-Date") == nil)
            #expect(request.fields.value("X-Amz-Security-Token") == nil)
        }
    }

    @Test func expiredAndInvalidCredentialsFail() async throws {
        let transport = MockTransport { _ in .status(200) }
        let signer = AWSSigner(region: "us-east-1", service: "s3")
        struct Unavailable: Error {}
        let stages = [
            AWSSigningStage(
                signer,
                credentials: AWSCredentials(
                    accessKeyID: "A", secretAccessKey: "SECRETSECRET", expiration: .distantPast)),
            AWSSigningStage(
                signer,
                credentials: AWSCredentials(
                    accessKeyID: "A", secretAccessKey: "SECRETSECRET", sessionToken: "a\r\nb: c")),
            AWSSigningStage(AWSSigner(region: "", service: "s3"), credentials: Self.credentials),
            AWSSigningStage(signer) { throw Unavailable() },
        ]
        for stage in stages {
            let session = Session(stages: [stage], transport: transport)
            let error = try #require(await session.request("https://example.com/").serializingData().response.error)
            #expect("\(error)".contains("can't be signed for AWS"))
            #expect(!"\(error)\(error.localizedDescription)".contains("SECRET"))
        }
        #expect(transport.requests.isEmpty)
    }

    /// Over http, anyone could change a body that isn't signed.
    @Test(arguments: [AWSSigningStage.Body.unsigned, .unsignedChunks(checksum: .crc32)])
    func unsignedBodiesRequireTLS(body: AWSSigningStage.Body) async throws {
        let transport = MockTransport { _ in .status(200) }
        let signer = AWSSigner(region: "us-east-1", service: "s3")
        let session = Session(
            stages: [AWSSigningStage(signer, credentials: Self.credentials, body: body)], transport: transport)
        let data = Data("body".utf8)
        for url in [
            "http://example.com/", "http://127.0.0.1.example.com/", "http://127.example.com/", "http://localhost.com/",
            "http://[2001:db8::1]/",
        ] {
            let response = await session.upload(data, to: url, method: .put).serializingData().response
            #expect("\(try #require(response.error))".contains("without TLS"))
        }
        #expect(transport.requests.isEmpty)
        let urls = ["https://example.com/", "http://LOCALHOST:9/", "http://127.1.2.3/", "http://[::1]:9/"]
        for url in urls { _ = await session.upload(data, to: url, method: .put).serializingData().response }
        _ = await session.request("http://example.com/").serializingData().response
        #expect(transport.requests.count == urls.count + 1)
        // The network settings connect to another machine.
        let diverted = session.upload(data, to: "http://localhost:9/", method: .put).options { options in
            var network = NetworkSettings()
            network.connectTo = ["localhost:9": "example.com:80"]
            options.network = network
        }
        let response = await diverted.serializingData().response
        #expect("\(try #require(response.error))".contains("without TLS"))
    }

    // MARK: Credentials of a closure

    private static func temporary(_ name: Int, until date: Date?) -> AWSCredentials {
        AWSCredentials(accessKeyID: "A\(name)", secretAccessKey: "s", sessionToken: "t", expiration: date)
    }

    @Test func credentialsAreStoredUntilTheyExpire() async throws {
        let count = Locked(0)
        let now = Date()
        let cache = AWSCredentialCache {
            Self.temporary(
                count.withLock { count in
                    count += 1
                    return count
                }, until: now + 1_000)
        }
        for (offset, name) in [(0.0, 1), (699, 1), (701, 2), (2_000, 3)] {
            #expect(try await cache.credentials(at: now + offset).accessKeyID == "A\(name)")
        }
        // Without an expiration, they can be replaced at any time.
        let others = AWSCredentialCache {
            Self.temporary(
                count.withLock { count in
                    count += 1
                    return count
                }, until: nil)
        }
        #expect(try await others.credentials(at: now).accessKeyID == "A4")
        #expect(try await others.credentials(at: now).accessKeyID == "A5")
    }

    @Test func concurrentRequestsShareOneCall() async throws {
        let (started, gate) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let count = Locked(0)
        struct Unavailable: Error {}
        let cache = AWSCredentialCache {
            let number = count.withLock { count in
                count += 1
                return count
            }
            started.continuation.yield()
            for await _ in gate.stream { break }
            if number == 1 { throw Unavailable() }
            return Self.temporary(number, until: .distantFuture)
        }
        var starts = started.stream.makeAsyncIterator()
        for name in [nil, 2, 2] {
            let tasks = (0..<20).map { _ in Task { try await cache.credentials(at: Date()) } }
            if name != 2 || count.withLock({ $0 }) == 1 {
                await starts.next()
                gate.continuation.yield()
            }
            for task in tasks {
                if let name {
                    #expect(try await task.value.accessKeyID == "A\(name)")
                } else {
                    await #expect(throws: Unavailable.self) { try await task.value }
                }
            }
        }
        #expect(count.withLock { $0 } == 2)
    }

    /// A canceled request neither waits nor takes the credentials from others.
    @Test func waitingForCredentialsCanBeCanceled() async throws {
        let started = AsyncStream<Void>.makeStream()
        let endings = AsyncStream<Bool>.makeStream()
        let isOpen = Locked(false)
        let cache = AWSCredentialCache {
            started.continuation.yield()
            guard isOpen.withLock({ $0 }) else {
                // Ends when the last task that waits is canceled.
                do { try await Task.sleep(for: .seconds(600)) } catch {
                    endings.continuation.yield(Task.isCancelled)
                    throw error
                }
                throw CancellationError()
            }
            return Self.temporary(1, until: nil)
        }
        var starts = started.stream.makeAsyncIterator()
        let first = Task { try await cache.credentials(at: Date()) }
        await starts.next()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        var ends = endings.stream.makeAsyncIterator()
        #expect(await ends.next() == true)
        isOpen.withLock { $0 = true }
        #expect(try await cache.credentials(at: Date()).accessKeyID == "A1")
        let canceled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await cache.credentials(at: Date())
        }
        await #expect(throws: CancellationError.self) { try await canceled.value }
    }

    @Test func presignedURLsHaveLimits() throws {
        let signer = AWSSigner(region: "us-east-1", service: "s3")
        for (text, seconds) in [
            ("https://a.example/", 0), ("https://a.example/", 604_801), ("https://user:p@a.example/", 1),
            ("ftp://a.example/", 1), ("https://a.example/?X-Amz-Signature=1", 1), ("/a", 1),
        ] {
            #expect(throws: AWSSigningError.self) {
                try signer.presignedURL(
                    for: #require(URL(string: text)), expiresIn: seconds, with: Self.credentials)
            }
        }
        let url = try signer.presignedURL(
            for: #require(URL(string: "HTTPS://A.example:443?a=%7e#fragment")), expiresIn: 604_800,
            with: Self.credentials)
        #expect(url.absoluteString.hasPrefix("https://a.example/?a=%7e&X-Amz-Algorithm="))
        #expect(!url.absoluteString.contains("fragment"))
        let socket = try signer.presignedURL(
            for: #require(URL(string: "wss://A.example:443/mqtt")), expiresIn: 60, with: Self.credentials)
        #expect(socket.absoluteString.hasPrefix("wss://a.example/mqtt?X-Amz-Algorithm="))
        let upload = try signer.presignedURL(
            for: #require(URL(string: "https://a.example/")), payload: .empty, expiresIn: 60, with: Self.credentials)
        #expect(upload.absoluteString.contains("&X-Amz-Content-Sha256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934"))
        #expect(!url.absoluteString.contains("Content-Sha256"))
        #expect(url.absoluteString.contains("X-Amz-Security-Token=AQoDYXdz%2F%2FEXAMPLE%3D%3D"))
    }
}

import Afar
import AfarTestServer
import AfarTesting
import AfarTransport
import HTTPTypes
import TestServers
import TestSupport
import Testing

@testable import AfarSignatures

/// Signed requests to a server that verifies them and signs its responses with PyPI's http-message-signatures.
@Suite(.enabled(if: SigningPeer.isInstalled), .timeLimit(.minutes(5))) struct VerifyingTransportTests {
    static let components: [SignatureComponent] = [
        .status, .contentDigest, .method.ofRequest, .targetURI.ofRequest, .member("sig1", of: "signature").ofRequest,
    ]

    struct Peer {
        let server: ServerChild
        let session: Session
        /// A session that signs requests, but doesn't verify responses.
        let unverified: Session

        func url(_ path: String) -> String { "http://127.0.0.1:\(server.port)/\(path)" }
    }

    static func peer() async throws -> Peer {
        let key = try SignatureKey(privateKeyPEM: PublishedKeys.ed25519Private, algorithm: .ed25519)
        let server = try await SigningPeer.messageServer([
            "public": try key.publicKeyPEM(), "private": PublishedKeys.ed25519Private,
        ])
        let open = try key.publicKey()
        let verifier = MessageVerifier(
            components: components, algorithms: [.ed25519], maximumAge: 300, nonces: NonceStore()
        ) { $0.keyID == "ed25519" ? open : nil }
        var signer = MessageSigner(
            key: key, keyID: "ed25519", components: [.method, .targetURI, .authority, .contentDigest])
        signer.optionalComponents = ["content-type", "content-length"]
        signer.lifetime = 60
        let session = Session(
            stages: [MessageSigningStage(signer)], transport: VerifyingTransport(around: HTTPTransport(), verifier))
        let unverified = Session(stages: [MessageSigningStage(signer)], transport: HTTPTransport())
        return Peer(server: server, session: session, unverified: unverified)
    }

    static func message(_ error: AFError?) -> String { "\(error?.underlyingError ?? AFError.explicitlyCancelled)" }

    @Test func aRedirectHasASignedTarget() async throws {
        let peer = try await Self.peer()
        #expect(
            try await peer.session.request(peer.url("redirect")).serializingString().value == "hello, hello, hello")
        let error = await peer.session.request(peer.url("moved")).serializingString().response.error
        #expect(Self.message(error).contains("doesn't cover: Location"))
    }

    @Test func validResponsesAreAccepted() async throws {
        let peer = try await Self.peer()
        for _ in 0..<3 {
            let response = await peer.session.request(peer.url("a?b=c")).validate().serializingString().response
            #expect(response.value == "hello, hello, hello", "\(Self.message(response.error))")
        }
        let post = await peer.session.request(peer.url("post"), method: .post, parameters: ["a": "b"]).validate()
            .serializingString().response
        #expect(post.value == "a=b", "\(Self.message(post.error))")
        let file = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
        try Data("contents".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let upload = await peer.session.upload(file, to: peer.url("upload")).validate().serializingString().response
        #expect(upload.value == "contents", "\(Self.message(upload.error))")
        let head = await peer.session.request(peer.url("replayed")).serializingData().response
        #expect(head.error == nil)
    }

    @Test(arguments: [
        ("tampered", "doesn't match"), ("unsigned", "no signature"), ("old", "too old"), ("future", "in the future"),
        ("expired", "expired"), ("status", "invalid"), ("unbound", "doesn't cover \"signature\""),
        ("range", "doesn't cover: Content-Range"), ("swapped", "invalid"),
    ])
    func otherResponsesFail(path: String, reason: String) async throws {
        let peer = try await Self.peer()
        // The response "swapped" is one to the previous request.
        _ = try await peer.session.request(peer.url(path.contains("swapped") ? "a" : "b")).serializingData().value
        let response = await peer.session.request(peer.url(path)).serializingData().response
        #expect(response.value == nil)
        #expect(Self.message(response.error).contains(reason), "\(Self.message(response.error))")
        let transportError = response.error?.transportError
        #expect(transportError?.underlying is MessageSignatureError)
        let (destination, _) = Self.destination()
        let download = await peer.session.download(peer.url(path), to: destination).serializingDownloadedFileURL()
            .response
        #expect(download.value == nil)
        #expect(Self.message(download.error).contains(reason), "\(Self.message(download.error))")
        #expect(download.resumeData == nil)
        var received = Data()
        var failure: AFError?
        for await event in peer.session.streamRequest(peer.url(path)).streamTask().streamingData() {
            switch event.event {
            case .stream(.success(let data)): received += data
            case .complete(let completion): failure = completion.error
            }
        }
        #expect(Self.message(failure).contains(reason), "\(Self.message(failure))")
        // The chunks of a stream arrive before its digest can be compared.
        if path != "tampered" { #expect(received.isEmpty) }
    }

    static func destination() -> (DownloadRequest.Destination, URL) {
        let file = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
        return ({ _, _ in (file, [.removePreviousFile]) }, file)
    }

    @Test func nonces() async throws {
        let peer = try await Self.peer()
        let first = await peer.session.request(peer.url("replay")).serializingData().response
        #expect(first.error == nil)
        let second = await peer.session.request(peer.url("replay")).serializingData().response
        #expect(Self.message(second.error).contains("nonce"))
    }

    @Test func largeBodies() async throws {
        let peer = try await Self.peer()
        let expected = Data((0..<3_000_000).map { UInt8(ascii: "0") + UInt8($0 % 10) })
        let (destination, file) = Self.destination()
        defer { try? FileManager.default.removeItem(at: file) }
        let download = await peer.session.download(peer.url("large"), to: destination).serializingDownloadedFileURL()
            .response
        #expect(try Data(contentsOf: #require(download.value)) == expected, "\(Self.message(download.error))")
        var received = Data()
        for await event in peer.session.streamRequest(peer.url("large")).streamTask().streamingData() {
            switch event.event {
            case .stream(.success(let data)): received += data
            case .complete(let completion): #expect(completion.error == nil, "\(Self.message(completion.error))")
            }
        }
        #expect(received == expected)
        let other = await peer.session.download(peer.url("tampered/large"), to: destination)
            .serializingDownloadedFileURL().response
        #expect(Self.message(other.error).contains("doesn't match"))
    }

    /// Without the whole body, nothing protects its first part. It must not become part of a resumed download.
    @Test func interruptedDownloadsLeaveNothing() async throws {
        let peer = try await Self.peer()
        let (destination, _) = Self.destination()
        let download = await peer.session.download(peer.url("cut"), to: destination).serializingDownloadedFileURL()
            .response
        #expect(download.error != nil)
        #expect(download.resumeData == nil)
        // A download that began without verification isn't completed with it.
        let first = await peer.unverified.download(peer.url("cut"), to: destination).serializingDownloadedFileURL()
            .response
        let data = try #require(first.resumeData)
        let resumed = await peer.session.download(resumingWith: data, to: destination).serializingDownloadedFileURL()
            .response
        #expect(Self.message(resumed.error).contains("must start again"), "\(Self.message(resumed.error))")
        let second = await peer.unverified.download(resumingWith: data, to: destination)
            .serializingDownloadedFileURL().response
        #expect(try Data(contentsOf: #require(second.value)) == Data("hello, hello, hello".utf8))
        var failure: AFError?
        for await event in peer.session.streamRequest(peer.url("cut")).streamTask().streamingData() {
            if case .complete(let completion) = event.event { failure = completion.error }
        }
        #expect(failure != nil)
    }

    /// Stages and monitors don't receive the head of a response that isn't accepted.
    @Test func cookiesOfOtherResponsesAreIgnored() async throws {
        let key = try SignatureKey.generate(.hmacSHA256)
        let verifier = MessageVerifier(
            components: [.status], algorithms: [.hmacSHA256], maximumAge: 60, nonces: nil
        ) { _ in key }
        let input = "(\"set-cookie\" \"content-type\" \"@status\");created=\(Int(Date().timeIntervalSince1970))"
        let base = "\"set-cookie\": a=b\n\"content-type\": text/plain; charset=utf-8\n\"@status\": 200\n"
        let signature = try key.signature(for: Data("\(base)\"@signature-params\": \(input)".utf8))
        let isSigned = Locked(false)
        let transport = MockTransport { _ in
            let response = MockResponse.text("text").adding("Set-Cookie", "a=b")
            guard isSigned.withLock({ $0 }) else { return response }
            return response.adding("Signature-Input", "a=\(input)")
                .adding("Signature", "a=:\(signature.base64EncodedString()):")
        }
        var configuration = SessionConfiguration.default
        let store = MemoryCookieStore()
        configuration.cookieStore = store
        let session = Session(
            configuration: configuration, eventMonitors: [ClosureEventMonitor()],
            transport: VerifyingTransport(around: transport, verifier))
        let url = try #require(URL(string: "https://example.com/"))
        let refused = await session.request(url).serializingString().response
        #expect(Self.message(refused.error).contains("no signature"))
        #expect(store.cookies(for: url).isEmpty)
        isSigned.withLock { $0 = true }
        let accepted = await session.request(url).serializingString().response
        #expect(accepted.value == "text", "\(Self.message(accepted.error))")
        #expect(store.cookies(for: url).count == 1)
    }

    /// A digest covers the coded body, which the transport has decoded.
    @Test(arguments: [true, false]) func codedBodiesAreRefused(isRequired: Bool) async throws {
        let key = try SignatureKey.generate(.hmacSHA256)
        var verifier = MessageVerifier(
            components: isRequired ? [.contentDigest] : ["content-type"], algorithms: [.hmacSHA256], maximumAge: 60,
            nonces: nil
        ) { _ in key }
        verifier.requiredIfPresent = []
        let digest = try ContentDigest.sha256.value(for: Data("text".utf8))
        let input = "(\"content-digest\" \"content-type\");created=\(Int(Date().timeIntervalSince1970))"
        let base =
            "\"content-digest\": \(digest)\n\"content-type\": text/plain; charset=utf-8\n\"@signature-params\": \(input)"
        let signature = try key.signature(for: Data(base.utf8)).base64EncodedString()
        let transport = MockTransport { request in
            let response = MockResponse.text("text").adding("Content-Digest", digest)
                .adding("Signature-Input", "a=\(input)").adding("Signature", "a=:\(signature):")
            return request.path == "/coded" ? response.adding("Content-Encoding", "gzip") : response
        }
        let session = Session(
            transport: VerifyingTransport(around: transport, verifier) { $0.path != "/unverified" })
        for (path, method) in [("/", HTTPMethod.get), ("/coded", .head), ("/unverified", .get)] {
            let response = await session.request("https://example.com\(path)", method: method).serializingData()
                .response
            #expect(response.error == nil, "\(path): \(Self.message(response.error))")
        }
        let coded = await session.request("https://example.com/coded").serializingData().response
        #expect(Self.message(coded.error).contains("content coding"))
        #expect(transport.requests.map { $0.fields[.acceptEncoding] == "identity" } == [true, true, false, true])
    }

    /// The digest of a body is covered, but not required: the server isn't asked for a coding with which it couldn't be verified.
    @Test func compressibleBodiesAreAccepted() async throws {
        let key = try SignatureKey(privateKeyPEM: PublishedKeys.ed25519Private, algorithm: .ed25519)
        let peer = try await Self.peer()
        let open = try key.publicKey()
        let verifier = MessageVerifier(
            components: [.status], algorithms: [.ed25519], maximumAge: 300, nonces: nil
        ) { _ in open }
        let signing = MessageSigningStage(MessageSigner(key: key, keyID: "ed25519", components: [.method]))
        let session = Session(stages: [signing], transport: VerifyingTransport(around: HTTPTransport(), verifier))
        let response = await session.request(peer.url("compressible")).validate().serializingString().response
        #expect(response.value == "hello, hello, hello", "\(Self.message(response.error))")
    }

    @Test func theLengthOfAnEmptyBodyIsCovered() async throws {
        let key = try SignatureKey(privateKeyPEM: PublishedKeys.ed25519Private, algorithm: .ed25519)
        let peer = try await Self.peer()
        var signer = MessageSigner(key: key, keyID: "ed25519", components: [.method, "content-length"])
        let session = Session(stages: [MessageSigningStage(signer)])
        for method in [HTTPMethod.post, .put] {
            let response = await session.request(peer.url("a"), method: method).serializingString().response
            #expect(response.response?.statusCode == 200, "\(response.value ?? Self.message(response.error))")
        }
        // Other requests without a body don't have the field.
        let get = await session.request(peer.url("a")).serializingString().response
        #expect(Self.message(get.error).contains("content-length"))
        signer.components = [.method]
        signer.optionalComponents = ["content-length"]
        let lenient = Session(stages: [MessageSigningStage(signer)])
        let other = await lenient.request(peer.url("a")).serializingString().response
        #expect(other.response?.statusCode == 200, "\(other.value ?? Self.message(other.error))")
    }

    /// Ending a stream ends the exchange, also while the reader is slow.
    @Test func streamsCanBeCanceled() async throws {
        let peer = try await Self.peer()
        for _ in 0..<3 {
            let request = peer.session.streamRequest(peer.url("large"))
            var failure: AFError?
            for await event in request.streamTask().streamingData() {
                switch event.event {
                case .stream: request.cancel()
                case .complete(let completion): failure = completion.error
                }
            }
            #expect(failure?.isExplicitlyCancelledError == true)
        }
        let response = await peer.session.request(peer.url("a")).serializingData().response
        #expect(response.error == nil)
    }

    /// A stream isn't read faster than its reader.
    @Test func streamsHaveBackpressure() async throws {
        let peer = try await Self.peer()
        var exchange = Exchange(
            request: HTTPRequest(
                method: .get, scheme: "http", authority: "127.0.0.1:\(peer.server.port)", path: "/large"))
        exchange.delivery = .stream(highWaterMark: 32 * 1024)
        let key = try SignatureKey(privateKeyPEM: PublishedKeys.ed25519Private, algorithm: .ed25519)
        var signer = MessageSigner(key: key, keyID: "ed25519", components: [.method, .targetURI, .contentDigest])
        signer.digest = .sha512
        exchange.request.headerFields.set("Content-Digest", to: try ContentDigest.sha512.value(for: Data()))
        exchange.request = try signer.signed(exchange.request)
        let verifier = MessageVerifier(
            components: Self.components, algorithms: [.ed25519], maximumAge: 300, nonces: nil
        ) { _ in try key.publicKey() }
        let response = try await VerifyingTransport(around: HTTPTransport(), verifier).send(exchange)
        guard case .stream(let stream) = response.body else { return #expect(Bool(false), "not a stream") }
        var count = 0
        for try await chunk in stream {
            count += chunk.count
            await Task.yield()
        }
        #expect(count == 3_000_000)
        #expect(await stream.report().transactions.count == 1)
    }

    /// The server refuses requests whose signature or body has been changed.
    @Test func theServerVerifiesRequests() async throws {
        let peer = try await Self.peer()
        struct Tampering: ExchangeStage, StageRun {
            func begin(_ hop: Hop) -> (any StageRun)? { self }
            func before(_ hop: Hop) -> Reply<RequestAction> {
                var exchange = hop.exchange
                exchange.request.path = "/other"
                return .now(.change(exchange))
            }
        }
        let key = try SignatureKey(privateKeyPEM: PublishedKeys.ed25519Private, algorithm: .ed25519)
        let signing = MessageSigningStage(
            MessageSigner(key: key, keyID: "ed25519", components: [.method, .targetURI, .contentDigest]))
        let (first, second) = (Session(stages: [Tampering(), signing]), Session(stages: [signing, Tampering()]))
        let valid = await first.request(peer.url("a")).serializingData().response
        #expect(valid.response?.statusCode == 200, "\(Self.message(valid.error))")
        let invalid = await second.request(peer.url("a")).serializingData().response
        #expect(invalid.response?.statusCode == 403)
    }
}

/// What a package without the trait sees.
@Suite struct TraitTests {
    @Test func everyTypeNamesTheTrait() throws {
        let folder = "Plugins/AfarSignatures"
        let pattern = /^    public (?:final )?(?:struct|class|enum|protocol) (\w+)/.anchorsMatchLineEndings()
        func types(_ path: String) throws -> [String] {
            let text = try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
            return text.matches(of: pattern).map { String($0.1) }
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/Messages")
        let expected = try files.flatMap { try types("Messages/\($0)") }
        #expect(expected.count >= 9)
        #expect(try types("WithoutStructuredFields.swift").sorted() == expected.sorted())
    }
}

/// Signed requests over connections that are lost.
@Suite(.timeLimit(.minutes(5))) struct ResentRequestTests {
    /// The transport sends the same bytes again. A server that has processed the first request refuses the second, because of its nonce.
    @Test func aResentRequestKeepsItsSignature() async throws {
        let answer = RawServer.Step.respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let server = try await RawServer.start(scripts: [[answer, .receiveHead, .close], [answer]])
        let signer = MessageSigner(key: try .generate(.hmacSHA256), keyID: nil, components: [.method])
        let session = Session(stages: [MessageSigningStage(signer)], transport: HTTPTransport())
        #expect(try await session.request(server.url).serializingString().value == "ok")
        // The second request reuses the connection only if it's idle.
        try await waitWhile { await session.connectionStatistics?.hosts.map(\.idle) != [1] }
        #expect(try await session.request(server.url).serializingString().value == "ok")
        let inputs = server.requests.map { head in
            head.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("signature-input:") }
        }
        try #require(inputs.count == 3 && !inputs.contains(nil))
        #expect(inputs[0] != inputs[1])
        #expect(inputs[1] == inputs[2])
        await server.stop()
    }
}

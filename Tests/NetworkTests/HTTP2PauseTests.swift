import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import CLibcurl
import Foundation
import TestServers
import Testing

/// HTTP/2 servers that pause between frames, so that the client processes one frame at a time.
@Suite(.timeLimit(.minutes(2)), OverEachTransport()) struct HTTP2PauseTests {
    /// The version of libcurl, in the format of `version_num`: 7.88.1 is 0x07_58_01.
    static let version = curl_version_info(CURLversion(CURLVERSION_LAST.rawValue - 1))?.pointee.version_num ?? 0
    private static let pause = RawServer.Step.wait(0.03)
    private static let ok: [UInt8] = [0x88]
    private static let begin: [RawServer.Step] = [.receiveHead, frames(Frame(4)), pause]

    private static func frames(_ frames: Frame...) -> RawServer.Step { .send(Data(frames.flatMap(\.bytes))) }

    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func session(timeout: TimeInterval = 5, isSecure: Bool = true) -> Session {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        configuration.httpVersion = isSecure ? .http2 : .http2PriorKnowledge
        configuration.timeoutIntervalForRequest = timeout
        return TestedTransport.session(configuration)
    }

    private func response(_ session: Session, _ url: URL) async -> DataResponse<Data, AFError> {
        await session.request(url).serializingData(emptyResponseCodes: [200]).response
    }

    /// Runs code that is expected to fail over libcurl if its version is below `fixed`.
    private func withFault(_ reason: Comment, below fixed: UInt32 = .max, _ body: () async throws -> Void) async throws
    {
        try await withKnownIssue(reason, isIntermittent: true) {
            try await body()
        } when: {
            TestedTransport.current == .curl && Self.version < fixed
        }
    }

    // MARK: Truncated bodies

    @Test(
        arguments: [
            ("the connection closes", [.close]),
            ("the stream is reset with NO_ERROR", [frames(.reset(1, 0))]),
            ("the server goes away and closes", [frames(.goAway(last: 1, 0)), pause, .close]),
            ("the connection fails", [frames(.goAway(last: 1, 1)), pause, .close]),
            ("the stream fails", [frames(.reset(1, 2))]),
            ("the server breaks the rules", [frames(Frame(6, [1, 2, 3])), pause, .close]),
            ("the server breaks the rules of the stream", [frames(Frame(8, stream: 1, [0, 0, 0, 0])), pause, .close]),
        ] as [(String, [RawServer.Step])], [true, false])
    func aTruncatedBodyFails(_ end: (name: String, steps: [RawServer.Step]), isSecure: Bool) async throws {
        let script =
            Self.begin + [Self.frames(.headers(Self.ok)), Self.pause, Self.frames(.data("bo")), Self.pause] + end.steps
        let server = try await RawServer.start(script)
        let relay = try TLSRelay(to: server.port, certificates, speaksHTTP2: true)
        let session = session(isSecure: isSecure)
        try await withFault("libcurl treats the end of a connection or stream as the end of a body without a length") {
            #expect(await response(session, isSecure ? relay.url : server.url).error != nil)
        }
    }

    @Test(arguments: [[frames(.reset(1, 0))], [frames(.data("", ends: true))], [.close]] as [[RawServer.Step]])
    func aBodyShorterThanItsLengthFails(_ end: [RawServer.Step]) async throws {
        let head = Frame.headers(Self.ok + Frame.field("content-length", "3"))
        let script = Self.begin + [Self.frames(head), Self.pause, Self.frames(.data("bo")), Self.pause] + end
        let server = try await RawServer.start(script)
        let relay = try TLSRelay(to: server.port, certificates, speaksHTTP2: true)
        let session = session()
        #expect(await response(session, relay.url).error != nil)
    }

    // MARK: Compressed responses

    /// The payload of one frame. It decodes to 384 GB, because each of its blocks repeats a single byte 128 Ki times
    /// (RFC 8878, section 3.1.1.2).
    private static let bomb: Result<Data, any Error> = Result {
        let file = FileManager.default.temporaryDirectory.appending(path: "afar-bomb-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let block: [UInt8] = [2, 0, 16, 0]
        let blocks = Array(repeating: block, count: 3_000_000).joined()
        try Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 7 << 3] + blocks).write(to: file)
        guard try ChildProcess(["gzip", "-9", file.path], output: URL(filePath: "/dev/null")).wait() else {
            throw CocoaError(.fileWriteUnknown)
        }
        defer { try? FileManager.default.removeItem(at: file.appendingPathExtension("gz")) }
        return try Data(contentsOf: file.appendingPathExtension("gz"))
    }

    @Test(arguments: [true, false]) func aResponseIsNotDecodedBeyondItsRequestsEnd(isCancelled: Bool) async throws {
        let head = Frame.headers(Self.ok + Frame.field("content-encoding", "zstd, gzip"))
        let body = Frame(0, flags: 1, stream: 1, Array(try Self.bomb.get()))
        let server = try await RawServer.start(Self.begin + [Self.frames(head, body)])
        let relay = try TLSRelay(to: server.port, certificates, speaksHTTP2: true)
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        configuration.httpVersion = .http2
        configuration.decompressionLimit = nil
        let session = TestedTransport.session(configuration)
        let request = session.download(relay.url, to: { _, _ in (URL(filePath: "/dev/null"), []) })
        if isCancelled {
            request.onHTTPResponse { [unowned request] _ in request.cancel() }
        } else {
            request.options { $0.deadline = 0.5 }
        }
        let clock = ContinuousClock()
        let time = await clock.measure {
            let error = await request.serializingData().response.error
            #expect(isCancelled ? error?.isExplicitlyCancelledError == true : error?.transportError?.code == .timedOut)
        }
        // Decoding the entire body takes longer.
        #expect(time < .seconds(30))
    }

    // MARK: Complete responses

    @Test(arguments: [true, false]) func aHeadAndABodyJustPastABufferEnd(isSecure: Bool) async throws {
        let field = String(repeating: "x", count: 400)
        let head = Self.ok + Frame.field("a", field) + Frame.field("b", field)
        let body = String(repeating: "b", count: 15_600)
        let script = Self.begin + [Self.frames(.headers(head), .data(body, ends: true))]
        let server = try await RawServer.start(script)
        let relay = try TLSRelay(to: server.port, certificates, speaksHTTP2: true)
        let session = session(timeout: 1, isSecure: isSecure)
        try await withFault("libcurl discards its buffer after a head") {
            #expect(await response(session, isSecure ? relay.url : server.url).value?.count == 15_600)
        }
    }

    // MARK: Unprocessed requests

    @Test(
        arguments: [
            ("GOAWAY", [frames(.goAway(last: 0, 0)), pause, .close]),
            (
                "REFUSED_STREAM",
                [
                    frames(.reset(1, 7)), .wait(0.2), frames(Frame(1, flags: 5, stream: 3, ok)),
                ]
            ),
        ] as [(String, [RawServer.Step])])
    func anUnprocessedRequestIsResent(_ refusal: (name: String, steps: [RawServer.Step])) async throws {
        let server = try await RawServer.start(scripts: [
            Self.begin + refusal.steps, Self.begin + [Self.frames(.headers(Self.ok, ends: true))],
        ])
        let relay = try TLSRelay(to: server.port, certificates, speaksHTTP2: true)
        let session = session()
        try await withFault("libcurl doesn't retry a request that the server declares unprocessed") {
            #expect(await response(session, relay.url).error == nil)
        }
    }

    // MARK: Unresponsive connections

    private static let answer = begin + [frames(.headers(ok, ends: true))]

    @Test func aConnectionWithATimeoutIsNotReused() async throws {
        let server = try await RawServer.start(scripts: [Self.answer, Self.answer])
        let relay = try TLSRelay(to: server.port, certificates, speaksHTTP2: true)
        let session = session(timeout: 0.5)
        #expect(await response(session, relay.url).error == nil)
        #expect(await response(session, relay.url).error?.transportError?.code == .timedOut)
        try await server.peerClosed(0)
        #expect(await response(session, relay.url).error == nil)
        #expect(server.connectionCount == 2)
    }

    @Test func aTimeoutDuringABodyEndsTheConnection() async throws {
        let half = Self.begin + [Self.frames(.headers(Self.ok)), Self.pause, Self.frames(.data("bo"))]
        let server = try await RawServer.start(scripts: [half, Self.answer])
        let relay = try TLSRelay(to: server.port, certificates, speaksHTTP2: true)
        let session = session(timeout: 0.5)
        #expect(await response(session, relay.url).error?.transportError?.code == .timedOut)
        try await server.peerClosed(0)
        #expect(await response(session, relay.url).error == nil)
        #expect(server.connectionCount == 2)
    }

    private func pingingSession() -> Session {
        var settings = ConnectionConfiguration()
        settings.pingInterval = 0.3
        var configuration = SessionConfiguration.default
        configuration.httpVersion = .http2PriorKnowledge
        return Session(configuration: configuration, transport: HTTPTransport(configuration: settings))
    }

    @Test(.onlyOverHTTP("libcurl sends no PING frames"))
    func aConnectionThatDoesNotRespondToAPingIsLost() async throws {
        let server = try await RawServer.start(scripts: [Self.begin + [.waitForever], Self.answer])
        let session = pingingSession()
        #expect(await response(session, server.url).error?.transportError?.code == .connectionLost)
        try await server.peerClosed(0)
        #expect(await response(session, server.url).error == nil)
    }

    @Test(.onlyOverHTTP("libcurl sends no PING frames"))
    func aSlowResponseIsAwaitedIfTheServerRespondsToPings() async throws {
        let pong = Self.frames(Frame(6, flags: 1, [0, 0, 0, 0, 0, 0, 0, 1]))
        let server = try await RawServer.start(
            Self.begin + [.wait(0.4), pong, .wait(0.4), Self.frames(.headers(Self.ok, ends: true))])
        #expect(await response(pingingSession(), server.url).error == nil)
        let ping = Data(Frame(6, [0, 0, 0, 0, 0, 0, 0, 1]).bytes)
        #expect(server.received(by: 0).range(of: ping) != nil)
    }

    @Test func otherStreamsOfTheConnectionContinue() async throws {
        let gate = RawServer.Gate()
        let slow =
            Self.begin + [.mark("begun"), .hold(gate), Self.frames(.headers(Self.ok, ends: true)), .mark("answered")]
        let server = try await RawServer.start(scripts: [slow, Self.answer, Self.answer])
        let relay = try TLSRelay(to: server.port, certificates, speaksHTTP2: true)
        let session = session(timeout: 20)
        async let first = response(session, relay.url)
        try await server.reached("begun")
        let impatient = session.request(relay.url).options { $0.totalTimeout = 0.3 }
        #expect(await impatient.serializingData().response.error?.transportError?.code == .timedOut)
        #expect(await response(session, relay.url).error == nil)
        #expect(server.connectionCount == 2)
        gate.open()
        #expect(await first.error == nil)
        try await server.peerClosed(0)
    }

    @Test func anAbandonedStreamIsReset() async throws {
        let half = Self.begin + [Self.frames(.headers(Self.ok)), Self.pause, Self.frames(.data("bo")), .mark("half")]
        let server = try await RawServer.start(scripts: [half, Self.answer])
        let relay = try TLSRelay(to: server.port, certificates, speaksHTTP2: true)
        let session = session(timeout: 0.5)
        let request = session.request(relay.url).onHTTPResponse { _ in .cancel }
        #expect(await request.serializingData().response.error != nil)
        // Since libcurl 8.17, the reset can be delayed until the connection is used again.
        try await withFault("before 8.17, libcurl reads the rest of a response without a time limit") {
            try await Task.sleep(for: .seconds(2))
            let reset = Data(Frame.reset(1, 0).bytes.prefix(9))
            #expect(server.received(by: 0).range(of: reset) != nil)
        }
    }

    // MARK: Windows

    @Test func uploadsThatWaitForAWindowTakeNoProcessorTime() async throws {
        let server = try await RawServer.start(Self.begin + [.waitForever])
        let relay = try TLSRelay(to: server.port, certificates, speaksHTTP2: true)
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        configuration.httpVersion = .http2
        configuration.timeoutIntervalForRequest = 2
        var settings = ConnectionConfiguration(configuration)
        settings.maximumThreads = 1
        let curl = CurlTransport(configuration: settings)
        let http = HTTPTransport(configuration: settings)
        let usesCurl = TestedTransport.current == .curl
        let transport: any Transport = usesCurl ? curl : http
        let session = Session(configuration: configuration, transport: transport)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    _ = await session.upload(Data(count: 60_000), to: relay.url).serializingData().response
                }
            }
        }
        let seconds = try await withTaskExecutorPreference(usesCurl ? curl.taskExecutor : http.taskExecutor) {
            Self.threadTime()
        }
        #expect(seconds < 0.5)
    }

    /// The processor time of the current thread, in seconds.
    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

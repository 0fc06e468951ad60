import Afar
import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import Testing

/// Decisions about a response's head: immediate and delayed ones, before and after the end of the body.
@Suite(.timeLimit(.minutes(1))) struct HeadDecisionTests {
    private struct Unwanted: Error {}

    /// A decision that a test controls, and a signal that the transport has requested it.
    private final class DecisionProbe: Sendable {
        let pending = PendingHeadDecision()
        private let arrived = Deferred<Bool>()

        @Sendable func makeDecision(_ head: ResponseHead) -> HeadDecision {
            arrived.fulfill(true)
            return .deferred(pending)
        }

        func waitForRequest() async { _ = await arrived.value }
    }

    private enum Place: CaseIterable { case memory, file, stream }

    private func exchange(_ url: URL, _ decision: (@Sendable (ResponseHead) -> HeadDecision)?) throws -> Exchange {
        var exchange = Exchange(request: try HTTPRequest(URLRequest(url: url), bodyLength: nil))
        exchange.decide = decision
        return exchange
    }

    private func body(_ response: TransportResponse, _ file: URL?) async throws -> Data {
        switch response.body {
        case .data(let data): data
        case .file: try Data(contentsOf: try #require(file))
        case .stream(let stream): try await stream.reduce(Data(), +)
        case .connection: Data()
        }
    }

    /// Sends an exchange with one of the kinds of delivery.
    private func send(
        _ exchange: Exchange, to place: Place, over transport: any Transport,
        _ check: @Sendable (Result<TransportResponse, any Error>, URL?) async throws -> Void
    ) async throws {
        var exchange = exchange
        let scratch = ScratchDirectory()
        let file = scratch.url.appending(path: "body")
        var descriptor: Int32 = -1
        defer { if descriptor >= 0 { close(descriptor) } }
        switch place {
        case .memory: break
        case .stream: exchange.delivery = .stream()
        case .file:
            descriptor = open(file.path, O_RDWR | O_CREAT, 0o600)
            exchange.delivery = .file(descriptor: descriptor)
        }
        let result: Result<TransportResponse, any Error>
        do { result = .success(try await transport.send(exchange)) } catch { result = .failure(error) }
        try await check(result, place == .file ? file : nil)
    }

    private static let sizes = [0, 1_000, 60_000, 3_000_000]

    // MARK: Delayed decisions

    @Test(arguments: TransportKind.allCases, sizes)
    private func aBodyIsCompleteWheneverItIsAccepted(kind: TransportKind, size: Int) async throws {
        let server = try await TestServer.start()
        for place in Place.allCases {
            let decisionProbe = DecisionProbe()
            let isWritten = Signal()
            server.route("/body") { _ in
                ServerResponse(length: size) { body in
                    let bytes = PatternBytes.bytes(size)
                    try body.write(bytes.prefix(60_000))
                    isWritten.set()
                    try body.write(bytes.dropFirst(60_000))
                }
            }
            let transport = kind.make(.default)
            let exchange = try exchange(server.url("/body"), decisionProbe.makeDecision)
            let another = try self.exchange(server.url("/get"), nil)
            async let giving: Void = {
                await decisionProbe.waitForRequest()
                await isWritten.wait()
                // When this exchange completes, a small body has arrived completely, and a large one is paused.
                _ = try await transport.send(another)
                decisionProbe.pending.fulfill(.take())
            }()
            try await send(exchange, to: place, over: transport) { result, file in
                let bytes = try await body(try result.get(), file)
                #expect(bytes == PatternBytes.bytes(size), "\(place)")
            }
            try await giving
        }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases, sizes)
    private func aDiscardedBodyIsNotDelivered(kind: TransportKind, size: Int) async throws {
        let server = try await TestServer.start()
        for place in Place.allCases {
            for isAsked in [true, false] {
                let decisionProbe = DecisionProbe()
                let exchange = try exchange(server.url("/large/\(size)")) { head in
                    isAsked ? decisionProbe.makeDecision(head) : .discard(upTo: 10_000)
                }
                async let giving: Void = {
                    if isAsked { await decisionProbe.waitForRequest() }
                    decisionProbe.pending.fulfill(.discard(upTo: 10_000))
                }()
                try await send(exchange, to: place, over: kind.make(.default)) { result, file in
                    let response = try result.get()
                    #expect(response.head.status == 200)
                    guard case .data(let data) = response.body else {
                        Issue.record("\(response.body)")
                        return
                    }
                    #expect(data.isEmpty)
                    if let file {
                        let written = try Data(contentsOf: file)
                        #expect(written.isEmpty)
                    }
                }
                await giving
            }
        }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aRejectionCanBeDelayed(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let decisionProbe = DecisionProbe()
        let exchange = try exchange(server.url("/large/3000000"), decisionProbe.makeDecision)
        async let giving: Void = {
            await decisionProbe.waitForRequest()
            decisionProbe.pending.fulfill(.refuse(Unwanted()))
        }()
        let error = await #expect(throws: TransportError.self) { try await kind.make(.default).send(exchange) }
        #expect(error?.code == .cancelled)
        #expect(error?.underlying is Unwanted)
        await giving
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases, [1_000, 3_000_000])
    func cancellationEndsTheWait(kind: TransportKind, size: Int) async throws {
        let server = try await TestServer.start()
        let decisionProbe = DecisionProbe()
        let exchange = try exchange(server.url("/large/\(size)"), decisionProbe.makeDecision)
        let transport = kind.make(.default)
        let task = Task { try await transport.send(exchange) }
        await decisionProbe.waitForRequest()
        task.cancel()
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        decisionProbe.pending.fulfill(.take())
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases, [1_000, 3_000_000])
    func theTotalTimeoutEndsTheWait(kind: TransportKind, size: Int) async throws {
        let server = try await TestServer.start()
        let decisionProbe = DecisionProbe()
        var exchange = try exchange(server.url("/large/\(size)"), decisionProbe.makeDecision)
        exchange.options.totalTimeout = 0.5
        let sent = exchange
        let error = await #expect(throws: TransportError.self) { try await kind.make(.default).send(sent) }
        #expect(error?.code == .timedOut)
        await server.stop()
    }

    /// The idle timeout doesn't include the time for the decision.
    @Test(arguments: TransportKind.allCases, [0, 1_000, 3_000_000])
    func theIdleTimeoutDoesNot(kind: TransportKind, size: Int) async throws {
        let server = try await TestServer.start()
        let decisionProbe = DecisionProbe()
        var exchange = try exchange(server.url("/large/\(size)"), decisionProbe.makeDecision)
        exchange.options.idleTimeout = 0.3
        var silence = try self.exchange(server.url("/delay/60"), nil)
        silence.options.idleTimeout = 0.6
        let (transport, silent) = (kind.make(.default), silence)
        async let giving: Void = {
            await decisionProbe.waitForRequest()
            // This timeout starts later than the first exchange's, and is longer.
            await #expect(throws: TransportError.self) { try await transport.send(silent) }
            decisionProbe.pending.fulfill(.take())
        }()
        try await send(exchange, to: .file, over: transport) { result, file in
            let bytes = try await body(try result.get(), file)
            #expect(bytes.count == size)
        }
        await giving
        await server.stop()
    }

    @Test func aReleasedPendingDecisionIsARejection() async throws {
        let server = try await TestServer.start()
        let exchange = try exchange(server.url("/large/1000")) { _ in .deferred(PendingHeadDecision()) }
        let error = await #expect(throws: TransportError.self) { try await CurlTransport().send(exchange) }
        #expect(error?.code == .cancelled)
        await server.stop()
    }

    // MARK: Failures

    /// The connection closes within the body while the decision is pending.
    @Test(arguments: [true, false])
    func aTruncatedBodyFailsOnlyIfAccepted(isWanted: Bool) async throws {
        let server = try await RawServer.start(scripts: [
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .halfClose, .mark("closed")],
            [.respond("HTTP/1.1 204 N\r\n\r\n")],
        ])
        let decisionProbe = DecisionProbe()
        let transport = CurlTransport()
        let exchange = try exchange(server.url, decisionProbe.makeDecision)
        let another = try self.exchange(server.url, nil)
        async let giving: Void = {
            await decisionProbe.waitForRequest()
            try await server.reached("closed")
            // When this exchange completes, the transport has received the end of the first one.
            _ = try await transport.send(another)
            decisionProbe.pending.fulfill(isWanted ? .take() : .discard(upTo: 100))
        }()
        do {
            let response = try await transport.send(exchange)
            #expect(!isWanted)
            #expect(response.head.status == 200)
        } catch let error as TransportError {
            #expect(isWanted)
            #expect(error.code == .bodyIncomplete)
            #expect(error.partialBody == Data("half".utf8))
        }
        try await giving
        await server.stop()
    }

    /// A redirect's body that arrives one byte at a time and never ends.
    @Test func aDiscardedBodyDelaysNothing() async throws {
        let server = try await RawServer.start(scripts: [
            [
                .respond("HTTP/1.1 302 F\r\nLocation: /next\r\nTransfer-Encoding: chunked\r\n\r\n"),
                .repeat("1\r\nx\r\n", every: 0.05, times: 10_000),
            ],
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere")],
        ])
        let session = TransportKind.platform.session()
        #expect(await session.request(server.url).serializingString().response.value == "there")
        await server.stop()
    }

    @Test func aShortDiscardedBodyKeepsTheConnection() async throws {
        let server = try await TestServer.start()
        let transport = CurlTransport()
        for path in ["/large/1000", "/drip?bytes=100&seconds=0.01"] {
            let dropped = try await transport.send(try exchange(server.url(path)) { _ in .discard(upTo: 10_000) })
            #expect(dropped.report.transactions.count == 1)
            let next = try await transport.send(try exchange(server.url("/get"), nil))
            #expect(next.report.transactions[0].isReusedConnection)
        }
        await server.stop()
    }

    // MARK: Deliveries

    /// A decision about a 401 response requests a token from the same host, which allows only six connections.
    @Test(arguments: [Place.memory, .file, .stream], [100, 1_000_000])
    private func aPendingDecisionCanUseTheSameHost(place: Place, size: Int) async throws {
        let server = try await TestServer.start()
        let transport = CurlTransport()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    let decisionProbe = DecisionProbe()
                    let asking = try exchange(server.url("/large/\(size)"), decisionProbe.makeDecision)
                    let tokenRequest = try exchange(server.url("/get"), nil)
                    async let giving: Void = {
                        await decisionProbe.waitForRequest()
                        let token = try? await transport.send(tokenRequest)
                        decisionProbe.pending.fulfill(token == nil ? .refuse(Unwanted()) : .take())
                    }()
                    try await send(asking, to: place, over: transport) { result, file in
                        let bytes = try await body(try result.get(), file)
                        #expect(bytes.count == size)
                    }
                    await giving
                }
            }
            try await group.waitForAll()
        }
        await server.stop()
    }
}

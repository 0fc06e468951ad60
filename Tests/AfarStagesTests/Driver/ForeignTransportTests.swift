import AfarCore
import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarStages

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Custom transports that don't support decisions, and transports that send an exchange more than once.
struct ForeignTransportTests {
    private static let bytes = ClosureResponseSerializer<Data> { _, _, data, error in
        if let error { throw error }
        return data ?? Data()
    }

    /// A transport that returns complete responses and writes to the file itself.
    private struct BufferedTransport: Transport {
        let capabilities = TransportCapabilities.mock
        var notifiesObserver = false
        let answer: @Sendable (HTTPRequest) -> (status: Int, fields: HTTPFields, body: String)

        func send(_ exchange: Exchange) async throws -> TransportResponse {
            let (status, fields, text) = answer(exchange.request)
            let head = ResponseHead(status: status, fields: fields, url: exchange.url)
            let body = Data(text.utf8)
            if notifiesObserver {
                exchange.observer?.exchangeDidReceiveHead(head)
                exchange.observer?.exchangeDidReceive(bytes: Int64(body.count), expected: nil)
            }
            guard case .file(let descriptor, _) = exchange.delivery else {
                return TransportResponse(head: head, body: .data(body))
            }
            _ = body.withUnsafeBytes { $0.write(to: descriptor) }
            return TransportResponse(head: head, body: .file(byteCount: Int64(body.count)))
        }
    }

    @Sendable private static func redirecting(
        _ request: HTTPRequest
    ) -> (status: Int, fields: HTTPFields, body: String) {
        request.path == "/a" ? (302, [.location: "/b"], "moved") : (200, [:], "there")
    }

    /// A transport that repeats a request after a 503 response.
    private struct RetryingTransport: Transport {
        let base: any Transport
        var capabilities: TransportCapabilities { base.capabilities }

        func send(_ exchange: Exchange) async throws -> TransportResponse {
            let response = try await base.send(exchange)
            return response.head.status == 503 ? try await base.send(exchange) : response
        }
    }

    private func busyAtFirst() -> MockTransport {
        let count = Locked(0)
        return MockTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? .text("busy, and long", status: 503) : .text("there")
        }
    }

    @Test func aRedirectsResponseIsDropped() async throws {
        let witness = Witness()
        var exchange = try Exchange.to("http://mock/a")
        exchange.observer = witness
        let transport = BufferedTransport(notifiesObserver: true, answer: Self.redirecting)
        let response = try await StagedTransport(transport, RedirectStage()).send(exchange)
        #expect(response.text == "there")
        #expect(witness.log.entries == ["redirect 302 http://mock/b", "head 200", "received 5"])
    }

    @Test func aRedirectsBodyIsRemovedFromTheFile() async throws {
        let session = Session(transport: BufferedTransport(answer: Self.redirecting))
        let response = await session.download("http://mock/a").serializingDownloadedFileURL().response
        let file = try response.result.get()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        #expect(try String(contentsOf: file, encoding: .utf8) == "there")
    }

    @Test func aRejectionIsHonored() async throws {
        var exchange = try Exchange.to("http://mock/b")
        exchange.decide = { _ in .refuse(Refused()) }
        let sent = exchange
        let error = await transportFailure {
            _ = try await StagedTransport(BufferedTransport(answer: Self.redirecting)).send(sent)
        }
        #expect(error?.underlying is Refused)
    }

    @Test func theLastResponseOfARetryingTransportIsUsed() async throws {
        let transport = busyAtFirst()
        let response = try await StagedTransport(RetryingTransport(base: transport), RedirectStage()).send(
            .to("http://mock/"))
        #expect(response.text == "there")
        #expect(transport.requests.count == 2)
    }

    /// The first response is longer than the second one.
    @Test func theFileOfARetryingTransportHasTheLastBody() async throws {
        let session = Session(transport: RetryingTransport(base: busyAtFirst()))
        let response = await session.download("http://mock/").serializingDownloadedFileURL().response
        let file = try response.result.get()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        #expect(try String(contentsOf: file, encoding: .utf8) == "there")
    }

    /// The inner transport returns to the outer one only after the decision about the redirect.
    @Test(arguments: [true, false])
    func aPendingDecisionIsAwaited(isFollowed: Bool) async throws {
        let mock = MockTransport { $0.path == "/a" ? .redirect(to: "/b") : .text("there") }
        let session = Session(transport: RetryingTransport(base: mock))
        let response = await session.request("http://mock/a")
            .redirect(using: .modify { _, request, _ in isFollowed ? request : nil })
            .serializingResponse(using: Self.bytes).response
        #expect(response.value == Data((isFollowed ? "there" : "moved").utf8))
    }

    /// Only the outer transport creates the redirect's head, so the redirect is decided when that transport returns.
    @Test func aSyntheticRedirectIsFollowed() async throws {
        struct RedirectingTransport: Transport {
            let base: any Transport
            var capabilities: TransportCapabilities { base.capabilities }

            func send(_ exchange: Exchange) async throws -> TransportResponse {
                var response = try await base.send(exchange)
                guard exchange.request.path == "/a" else { return response }
                response.head = ResponseHead(status: 307, fields: [.location: "/b"], url: exchange.url)
                return response
            }
        }
        let mock = MockTransport { .text($0.path) }
        let response = try await StagedTransport(RedirectingTransport(base: mock), RedirectStage()).send(
            .to("http://mock/a"))
        #expect(response.text == "/b")
        #expect(mock.requests.map(\.path) == ["/a", "/b"])
    }

    /// An additional header field in the head doesn't restart a download.
    @Test func aModifiedHeadDoesNotRestartADownload() async throws {
        struct HeaderAddingTransport: Transport {
            let base: any Transport
            var capabilities: TransportCapabilities { base.capabilities }

            func send(_ exchange: Exchange) async throws -> TransportResponse {
                var response = try await base.send(exchange)
                response.head = ResponseHead(status: 200, fields: [.server: "mine"], url: exchange.url)
                return response
            }
        }
        let session = Session(transport: HeaderAddingTransport(base: MockTransport { _ in .text("there") }))
        let response = await session.download("http://mock/").serializingDownloadedFileURL().response
        let file = try response.result.get()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        #expect(try String(contentsOf: file, encoding: .utf8) == "there")
        #expect(response.response?.value(forHTTPHeaderField: "Server") == "mine")
    }

    /// The returned response counts, even if another head arrived later.
    @Test func theReturnedResponseOfAHedgingTransportIsUsed() async throws {
        struct HedgingTransport: Transport {
            let base: any Transport
            var capabilities: TransportCapabilities { base.capabilities }

            func send(_ exchange: Exchange) async throws -> TransportResponse {
                let first = try await base.send(exchange)
                _ = try? await base.send(exchange)
                return first
            }
        }
        let count = Locked(0)
        let mock = MockTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? .text("first") : .redirect(to: "/b")
        }
        let response = try await StagedTransport(HedgingTransport(base: mock), RedirectStage()).send(
            .to("http://mock/a"))
        #expect(response.text == "first")
        #expect(mock.requests.count == 2)
    }

    /// For example, a cache or an offline mode can replace a response.
    @Test func aSyntheticResponseReplacesARedirect() async throws {
        struct ReplacingTransport: Transport {
            let base: any Transport
            var capabilities: TransportCapabilities { base.capabilities }

            func send(_ exchange: Exchange) async throws -> TransportResponse {
                let response = try await base.send(exchange)
                guard response.head.status == 302 else { return response }
                return TransportResponse(
                    head: ResponseHead(status: 200, url: exchange.url), body: .data(Data("mine".utf8)))
            }
        }
        let mock = MockTransport { _ in .redirect(to: "/b") }
        let session = Session(transport: ReplacingTransport(base: mock))
        let response = await session.request("http://mock/a").serializingResponse(using: Self.bytes).response
        #expect(response.value == Data("mine".utf8))
        #expect(mock.requests.count == 1)
    }

    /// The transport notifies the observer but requests no decision before it returns.
    @Test func progressIsReportedDuringTheTransfer() async throws {
        struct NotifyingTransport: Transport {
            let capabilities = TransportCapabilities.mock
            let mayReturn: Deferred<Bool>

            func send(_ exchange: Exchange) async throws -> TransportResponse {
                let head = ResponseHead(status: 200, url: exchange.url)
                exchange.observer?.exchangeDidReceiveHead(head)
                exchange.observer?.exchangeDidReceive(bytes: 3, expected: 5)
                _ = await mayReturn.value
                return TransportResponse(head: head, body: .data(Data("there".utf8)))
            }
        }
        let (witness, mayReturn) = (Witness(), Deferred<Bool>())
        var exchange = try Exchange.to("http://mock/a")
        exchange.observer = witness
        let sent = exchange
        let task = Task {
            try await StagedTransport(NotifyingTransport(mayReturn: mayReturn), RedirectStage()).send(sent)
        }
        try await waitWhile { witness.log.entries.count < 2 }
        #expect(witness.log.entries == ["head 200", "received 3"])
        mayReturn.fulfill(true)
        #expect(try await task.value.text == "there")
        #expect(witness.log.entries == ["head 200", "received 3"])
    }

    /// The transport's reports are empty.
    @Test func redirectsWithoutMetricsAreReported() async throws {
        let response = try await StagedTransport(BufferedTransport(answer: Self.redirecting), RedirectStage())
            .send(.to("http://mock/a"))
        #expect(response.report.redirects.map(\.request.path) == ["/b"])
    }

    /// An interrupted error page that was written over a partial download isn't part of the download.
    @Test func discardedBytesAreNotPartOfADownload() async throws {
        struct InterruptedTransport: Transport {
            let capabilities = TransportCapabilities.mock
            let count = Locked(0)

            func send(_ exchange: Exchange) async throws -> TransportResponse {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                guard case .file(let descriptor, _) = exchange.delivery else { throw Refused() }
                func write(_ text: String) { _ = Data(text.utf8).withUnsafeBytes { $0.write(to: descriptor) } }
                let etag: HTTPFields = [.eTag: "\"v1\"", .contentLength: "9"]
                switch number {
                case 1:
                    exchange.headArrived(ResponseHead(status: 200, fields: etag, url: exchange.url))
                    write("part")
                    throw TransportError(.connectionLost, phase: .receiving, url: exchange.url, message: "broken")
                case 2:
                    exchange.headArrived(ResponseHead(status: 503, url: exchange.url))
                    write("an error page")
                    throw TransportError(.connectionLost, phase: .receiving, url: exchange.url, message: "broken")
                default:
                    #expect(exchange.request.headerFields[.range] == "bytes=4-")
                    let fields: HTTPFields = [.eTag: "\"v1\"", .contentRange: "bytes 4-8/9", .contentLength: "5"]
                    let head = ResponseHead(status: 206, fields: fields, url: exchange.url)
                    exchange.headArrived(head)
                    write("there")
                    return TransportResponse(head: head, body: .file(byteCount: 5))
                }
            }
        }
        let session = Session(transport: InterruptedTransport())
        let first = await session.download("http://mock/a").serializingDownloadedFileURL().response
        let second = await session.download(resumingWith: try #require(first.resumeData))
            .serializingDownloadedFileURL().response
        let third = await session.download(resumingWith: try #require(second.resumeData))
            .serializingDownloadedFileURL().response
        let file = try third.result.get()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        #expect(try String(contentsOf: file, encoding: .utf8) == "partthere")
    }

    private struct Refused: Error {}

    @Test func taskLocalValuesReachTheTransportInEveryHop() async throws {
        enum Local { @TaskLocal static var value = "" }
        struct Reading: Transport {
            let base: any Transport
            let log: Log
            var capabilities: TransportCapabilities { base.capabilities }

            func send(_ exchange: Exchange) async throws -> TransportResponse {
                log.append(Local.value)
                return try await base.send(exchange)
            }
        }
        let log = Log()
        let mock = MockTransport { $0.path == "/a" ? .redirect(to: "/b") : .text("there") }
        let session = Session(transport: Reading(base: mock, log: log))
        let response = await Local.$value.withValue("mine") {
            await session.request("http://mock/a").serializingResponse(using: Self.bytes).response
        }
        #expect(response.value == Data("there".utf8))
        #expect(log.entries == ["mine", "mine"])
    }

    /// While the redirect handler of the previous attempt is released, it can access the request.
    @Test(.timeLimit(.minutes(1))) func aReleasedRedirectHandlerCanAccessTheRequest() async {
        final class ReleaseProbe: RedirectHandler {
            let ask: @Sendable () -> Void

            init(_ ask: @escaping @Sendable () -> Void) { self.ask = ask }

            deinit { ask() }

            func task(
                _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
                completion: @escaping @Sendable (URLRequest?) -> Void
            ) { completion(request) }
        }
        /// A transport whose first exchange fails after the decision about a redirect. The second exchange succeeds.
        struct InterruptedTransport: Transport {
            let capabilities = TransportCapabilities.mock
            let wasAsked = Locked(false)

            func send(_ exchange: Exchange) async throws -> TransportResponse {
                guard wasAsked.withLock({ Swift.exchange(&$0, with: true) }) else {
                    let head = ResponseHead(status: 302, fields: [.location: "/b"], url: exchange.url)
                    _ = await exchange.headArrived(head).settled()
                    throw TransportError(.connectionLost, phase: .receiving, url: exchange.url, message: "gone")
                }
                return TransportResponse(head: ResponseHead(status: 200, url: exchange.url), body: .data(Data()))
            }
        }
        let log = Log()
        let session = Session(startRequestsImmediately: false, transport: InterruptedTransport())
        let request = session.request("http://mock/a")
        request.redirect(using: ReleaseProbe { [weak request] in log.append("\(request?.isResumed ?? false)") })
        let retrier = Retrier { request, _, _, completion in
            request.redirect(using: Redirector.follow)
            completion(.retry)
        }
        let task = request.retry(using: retrier).serializingResponse(using: Self.bytes)
        request.resume()
        #expect(await task.response.value == Data())
        #expect(log.entries == ["true"])
    }

    /// A transport that returns a response without reporting its head.
    private struct HeadlessTransport: CallbackTransport {
        final class Running: PreparedExchange {
            private let url: String

            init(_ url: String) { self.url = url }

            func start(completion: @escaping @Sendable (Result<TransportResponse, any Error>) -> Void) {
                completion(.success(TransportResponse(head: ResponseHead(status: 200, url: url), body: .data(Data()))))
            }

            func cancel() {}
        }

        let capabilities = TransportCapabilities.mock

        func prepare(_ hop: Hop) -> any PreparedExchange { Running(hop.exchange.url) }
    }

    @Test func aCallbackTransportWithoutAHeadIsAnError() async {
        let session = Session(transport: HeadlessTransport())
        let error = await session.request("http://example.com/").serializing(Self.bytes).response.error
        #expect(error?.transportError?.code == .invalidUse)
        #expect(error?.transportError?.message.contains("headArrived") == true)
    }

    @Test func aReplacementTransportCanSendRequests() async throws {
        let session = Session(transport: MockTransport { _ in .status(500) })
        let other = MockTransport { _ in .status(204) }
        let request = Session.replacingTransports(by: { _ in
            _ = session.request("http://example.com/inner", shouldAutomaticallyResume: false)
            return other
        }) { session.request("http://example.com/") }
        #expect(await request.serializing(Self.bytes).response.response?.statusCode == 204)
    }
}

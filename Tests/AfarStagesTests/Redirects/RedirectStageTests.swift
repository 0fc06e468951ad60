import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarStages

/// Handling of redirects, and their effects on the exchange.
struct RedirectStageTests {
    /// Two redirects, followed by a text response.
    private static let chain: MockTransport.Handler = { request in
        switch request.path {
        case "/a": .redirect(302, to: "/b")
        case "/b": .redirect(307, to: "/c#end")
        default: .text("there")
        }
    }

    /// Refuses every redirect.
    private static let refusal = RedirectPolicy.custom { _ in nil }

    private struct Refused: Error {}

    // MARK: Visibility of responses

    @Test func onlyTheLastResponseIsDelivered() async throws {
        let (witness, heads) = (Witness(), Log())
        var exchange = try Exchange.to("http://mock/a")
        exchange.watch(by: witness, noting: heads)
        let response = try await StagedTransport(MockTransport(Self.chain), RedirectStage()).send(exchange)
        #expect(response.head.url == "http://mock/c#end")
        #expect(response.text == "there")
        #expect(heads.entries == ["200"])
        let seen = witness.log.entries.filter { !$0.hasPrefix("sent") }
        #expect(seen == ["redirect 302 http://mock/b", "redirect 307 http://mock/c#end", "head 200", "received 5"])
    }

    @Test func reportsOfAllHopsAreJoined() async throws {
        let response = try await StagedTransport(MockTransport(Self.chain), RedirectStage()).send(.to("http://mock/a"))
        #expect(response.report.transactions.count == 3)
        #expect(response.report.redirects.map(\.request.path) == ["/b", "/c"])
        let begun = response.report.transactions.compactMap(\.fetchStartDate)
        #expect(begun == begun.sorted())
        let failing = MockTransport { request in
            request.path == "/c" ? .failure(.connectionLost) : try await Self.chain(request)
        }
        let error = await transportFailure {
            _ = try await StagedTransport(failing, RedirectStage()).send(.to("http://mock/a"))
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.url == "http://mock/c")
        #expect(error?.report.transactions.count == 3)
        #expect(error?.report.redirects.count == 2)
    }

    @Test(arguments: [
        (nil, "/b", "http://mock/b"), (nil, "/b#own", "http://mock/b#own"), ("top", "/b", "http://mock/b#top"),
        ("top", "/b#own", "http://mock/b#own"), ("top", "/b#", "http://mock/b#"), ("", "/b", "http://mock/b#"),
        ("t%20op", "#o wn", "http://mock/a#o%20wn"), ("top", "https://other/b", "https://other/b#top"),
    ])
    func aFragmentIsInherited(fragment: String?, location: String, url: String) async throws {
        let count = Locked(0)
        let mock = MockTransport { _ in
            count.withLock { count in
                count += 1
                return count == 1 ? .redirect(307, to: location) : .text("there")
            }
        }
        var exchange = try Exchange.to("http://mock/a")
        exchange.fragment = fragment
        let response = try await StagedTransport(mock, RedirectStage()).send(exchange)
        #expect(response.head.url == url)
        #expect(mock.requests.allSatisfy { !$0.url.contains("#") })
    }

    @Test func anUnfollowedRedirectIsTheCompleteResponse() async throws {
        let (witness, heads) = (Witness(), Log())
        var exchange = try Exchange.to("http://mock/a")
        exchange.watch(by: witness, noting: heads)
        exchange.policies.redirects = Self.refusal
        let response = try await StagedTransport(MockTransport(Self.chain), RedirectStage()).send(exchange)
        #expect(response.head.status == 302)
        #expect(response.text == "moved")
        #expect(heads.entries == ["302"])
        #expect(witness.log.entries.filter { !$0.hasPrefix("sent") } == ["head 302", "received 5"])
        #expect(response.report.transactions.count == 1)
    }

    @Test func rejectingTheHeadOfAnUnfollowedRedirectEndsTheExchange() async throws {
        var exchange = try Exchange.to("http://mock/a")
        exchange.decide = { _ in .refuse(Refused()) }
        exchange.policies.redirects = Self.refusal
        let sent = exchange
        let error = await transportFailure {
            _ = try await StagedTransport(MockTransport(Self.chain), RedirectStage()).send(sent)
        }
        #expect(error?.code == .cancelled)
        #expect(error?.underlying is Refused)
    }

    @Test func aHandlerReceivesEachHopAndCanChangeIt() async throws {
        let log = Log()
        var exchange = try Exchange.to("http://mock/a", fields: ["Authorization": "hush"])
        exchange.policies.redirects = .custom { proposal in
            log.append("\(proposal.url)")
            var proposal = proposal
            if proposal.url.path == "/c" { proposal.url = try #require(URL(string: "http://other/d")) }
            return proposal
        }
        let mock = MockTransport(Self.chain)
        _ = try await StagedTransport(mock, RedirectStage()).send(exchange)
        #expect(log.entries == ["http://mock/b", "http://mock/c#end"])
        #expect(mock.requests.map(\.url) == ["http://mock/a", "http://mock/b", "http://other/d"])
        #expect(mock.requests.map { $0["Authorization"] } == ["hush", "hush", nil])
        for request in mock.requests {
            guard case .follow = request.exchange.policies.redirects else {
                Issue.record("The transport beneath can ask.")
                continue
            }
        }
    }

    // MARK: Files

    /// Downloads into a file that already contains text, and returns the file's contents.
    private func fileAfter(
        _ transport: some Transport, from path: String = "/a", policy: RedirectPolicy = .follow, at offset: Int = 0,
        onHead: @escaping @Sendable (Int32, ResponseHead) -> Void = { _, _ in }
    ) async throws -> (text: String, Result<TransportResponse, any Error>) {
        let url = FileManager.default.temporaryDirectory.appending(path: "redirect-\(UUID().uuidString)")
        try Data("before".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let descriptor = open(url.path, O_WRONLY)
        defer { close(descriptor) }
        lseek(descriptor, off_t(offset), SEEK_SET)
        var exchange = try Exchange.to("http://mock\(path)", delivery: .file(descriptor: descriptor))
        exchange.decide = { head in
            onHead(descriptor, head)
            return .take()
        }
        exchange.policies.redirects = policy
        let result: Result<TransportResponse, any Error>
        do { result = .success(try await StagedTransport(transport, RedirectStage()).send(exchange)) } catch {
            result = .failure(error)
        }
        return (try String(contentsOf: url, encoding: .utf8), result)
    }

    @Test func aRedirectsBodyNeverReachesTheFile() async throws {
        let (text, result) = try await fileAfter(MockTransport(Self.chain), at: 6)
        #expect(text == "beforethere")
        guard case .file(byteCount: 5) = try result.get().body else {
            Issue.record("\(result)")
            return
        }
        // The body isn't written even if the next hop fails.
        let failing = MockTransport { request in
            request.path == "/b" ? .failure(.connectionLost) : try await Self.chain(request)
        }
        let (after, failure) = try await fileAfter(failing)
        #expect(after == "before")
        #expect(throws: TransportError.self) { try failure.get() }
    }

    @Test func theHookRunsBeforeAnUnfollowedRedirectsBodyIsWritten() async throws {
        let (text, result) = try await fileAfter(MockTransport(Self.chain), policy: Self.refusal) { descriptor, head in
            #expect(head.status == 302)
            #expect(lseek(descriptor, 0, SEEK_END) == 6)
            #expect(ftruncate(descriptor, 0) == 0)
            #expect(lseek(descriptor, 0, SEEK_SET) == 0)
        }
        #expect(text == "moved")
        #expect(try result.get().head.status == 302)
    }

    @Test func aLongRedirectBodyIsNotRead() async throws {
        let mock = MockTransport { request in
            guard request.path == "/a" else { return .text("there") }
            var response = MockResponse.redirect(to: "/b")
            response.body = Data(count: 1_000_000)
            // Receiving the entire body would exceed the test's time limit.
            return response.chunked(into: 100_000, every: .seconds(60))
        }
        let (text, result) = try await fileAfter(mock)
        #expect(text == "theree")
        #expect(try result.get().report.transactions.count == 2)
    }

    // MARK: Streams

    @Test func aStreamContainsTheLastResponse() async throws {
        let response = try await StagedTransport(MockTransport(Self.chain), RedirectStage())
            .send(.to("http://mock/a", delivery: .stream()))
        guard case .stream(let body) = response.body else {
            Issue.record("\(response)")
            return
        }
        #expect(try await body.reduce(Data(), +) == Data("there".utf8))
        #expect(await body.report().transactions.count == 3)
        #expect(await body.report().redirects.count == 2)
    }

    @Test func anUnfollowedRedirectsStreamCanBeRead() async throws {
        let witness = Witness()
        var exchange = try Exchange.to("http://mock/a", delivery: .stream())
        exchange.observer = witness
        exchange.policies.redirects = Self.refusal
        let response = try await StagedTransport(MockTransport(Self.chain), RedirectStage()).send(exchange)
        guard case .stream(let body) = response.body else {
            Issue.record("\(response)")
            return
        }
        #expect(try await body.reduce(Data(), +) == Data("moved".utf8))
        _ = await body.report()
        #expect(witness.log.entries.filter { !$0.hasPrefix("sent") } == ["head 302", "received 5"])
    }

    @Test(arguments: [true, false])
    func aRedirectsLongStreamIsAborted(isDeclared: Bool) async throws {
        let mock = MockTransport { request in
            guard request.path == "/a" else { return .text("there") }
            var response = MockResponse.redirect(to: "/b")
            response.body = Data(count: 10_000_000)
            if !isDeclared { response.fields[.transferEncoding] = "chunked" }
            return response.chunked(into: 32 * 1024)
        }
        let response = try await StagedTransport(mock, RedirectStage()).send(.to("http://mock/a", delivery: .stream()))
        guard case .stream(let body) = response.body else {
            Issue.record("\(response)")
            return
        }
        #expect(try await body.reduce(Data(), +) == Data("there".utf8))
        let read = await body.report().transactions[0].countOfResponseBodyBytesAfterDecoding
        #expect(read < 1_000_000)
    }

    // MARK: Limits

    @Test func errorsContainNoTokensOfURLs() async throws {
        let transport = MockTransport { _ in .redirect(302, to: "ftp://elsewhere/?token=hush2") }
        let error = await transportFailure {
            _ = try await StagedTransport(transport, RedirectStage()).send(.to("http://mock/a?access_token=hush1"))
        }
        #expect(error?.code == .invalidRedirect)
        #expect(error?.description.contains("hush") == false)
        #expect(error?.description.contains("access_token=***") == true)
    }

    @Test func aLoopEndsAtTheLimit() async throws {
        let mock = MockTransport { _ in .redirect(to: "http://ada:hush@mock/again") }
        let exchange = try Exchange.to("http://mock/")
        let error = await transportFailure {
            _ = try await StagedTransport(mock, RedirectStage(rules: RedirectRules(maximum: 3))).send(exchange)
        }
        #expect(error?.code == .tooManyRedirects)
        #expect(error?.urlError.code == .httpTooManyRedirects)
        #expect(error?.description.contains("http://mock/again") == true)
        #expect(error?.description.contains("hush") == false)
        #expect(error?.report.transactions.count == 4)
        #expect(error?.report.redirects.count == 3)
        #expect(mock.requests.count == 4)
    }

    @Test func theDefaultLimitIsTwenty() async throws {
        let mock = MockTransport { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return number == 0 ? .text("there") : .redirect(to: "/\(number - 1)")
        }
        let transport = StagedTransport(mock, RedirectStage())
        #expect(try await transport.send(.to("http://mock/20")).text == "there")
        let error = await transportFailure { _ = try await transport.send(.to("http://mock/21")) }
        #expect(error?.code == .tooManyRedirects)
    }

    @Test func eachHopGetsTheRemainingTime() async throws {
        let mock = MockTransport { request in
            request.path == "/xxxx" ? .text("there") : .redirect(to: request.path + "x").delayed(by: .milliseconds(20))
        }
        var exchange = try Exchange.to("http://mock/")
        exchange.options.totalTimeout = 600
        #expect(try await StagedTransport(mock, RedirectStage()).send(exchange).text == "there")
        let granted = mock.requests.map(\.exchange.options.totalTimeout)
        for (earlier, later) in zip(granted, granted.dropFirst()) { #expect(earlier - later >= 0.02) }
        #expect(granted.count == 5)
    }

    @Test func allHopsShareTheTotalTimeout() async throws {
        let mock = MockTransport { _ in .redirect(to: "/again").delayed(by: .milliseconds(20)) }
        var exchange = try Exchange.to("http://mock/")
        exchange.options.totalTimeout = 0.15
        let sent = exchange
        let error = await transportFailure { _ = try await StagedTransport(mock, RedirectStage()).send(sent) }
        #expect(error?.code == .timedOut)
        #expect(error?.report.transactions.isEmpty == false)
    }

    @Test func cancellationEndsAPendingHandler() async throws {
        let requested = Deferred<Bool>()
        var exchange = try Exchange.to("http://mock/a")
        exchange.policies.redirects = .custom { proposal in
            requested.fulfill(true)
            try await Task.sleep(for: .seconds(3_600))
            return nil
        }
        let sent = exchange
        let task = Task { try await StagedTransport(MockTransport(Self.chain), RedirectStage()).send(sent) }
        _ = await requested.value
        task.cancel()
        let error = await transportFailure { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(error?.report.transactions.count == 1)
    }

    @Test func cancellationEndsTheCurrentHop() async throws {
        let arrived = Deferred<Bool>()
        let mock = MockTransport { request in
            guard request.path == "/c" else { return try await Self.chain(request) }
            arrived.fulfill(true)
            try await Task.sleep(for: .seconds(60))
            return .text("late")
        }
        let task = Task { try await StagedTransport(mock, RedirectStage()).send(.to("http://mock/a")) }
        _ = await arrived.value
        task.cancel()
        let error = await transportFailure { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(error?.report.redirects.count == 2)
    }
}

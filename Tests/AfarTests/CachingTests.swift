import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A session's cache with the real transports.
struct CachingTests {
    /// Counts the requests that reach the server. Each response contains the request's number.
    private final class Counter: Sendable {
        private let count = Locked(0)

        var value: Int { count.withLock { $0 } }

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    private func session(
        _ kind: TransportKind = .platform, _ store: any CacheStore = MemoryCacheStore(),
        _ configure: (inout SessionConfiguration) -> Void = { _ in }
    ) -> Session {
        kind.session { configuration in
            configuration.cacheStore = store
            configure(&configuration)
        }
    }

    @Test func aValidationDoesNotRestoreAnInvalidatedResponse() async throws {
        let gate = RawServer.Gate()
        let body = { (text: String) in "Content-Length: \(text.utf8.count)\r\n\r\n\(text)" }
        let server = try await RawServer.start(scripts: [
            [
                .receiveHead, .send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nCache-Control: max-age=0\r\n" + body("old")),
                .receiveHead, .hold(gate),
                .send("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nCache-Control: max-age=3600\r\n\r\n"), .close,
            ],
            [.receiveHead, .send("HTTP/1.1 200 OK\r\n" + body("done")), .close],
            [.receiveHead, .send("HTTP/1.1 200 OK\r\n" + body("new")), .close],
        ])
        let session = session()
        #expect(try await session.request(server.url).serializingString().value == "old")
        let validating = Task { try await session.request(server.url).serializingString().value }
        try await server.head(1)
        #expect(try await session.request(server.url, method: .post).serializingString().value == "done")
        gate.open()
        _ = try await validating.value
        #expect(try await session.request(server.url).serializingString().value == "new")
    }

    /// Starts a server whose path `/counted` returns the number of the request, with the given fields.
    private func server(_ fields: [String: String]) async throws -> TestServer {
        let server = try await TestServer.start()
        let counter = Counter()
        server.route("/counted") { _ in
            fields.reduce(.text("\(counter.next())")) { $0.adding($1.key, $1.value) }
        }
        return server
    }

    private func text(_ session: Session, _ url: URL, _ headers: HTTPHeaders? = nil) async throws -> String {
        try await session.request(url, headers: headers).serializingString().value
    }

    @Test func aFollowedRedirectReplacesAnOlderResponse() async throws {
        let server = try await TestServer.start()
        let counter = Counter()
        server.route("/page") { _ in
            counter.next() == 1
                ? .text("page").adding("Cache-Control", "max-age=3600, stale-if-error=3600")
                : ServerResponse(status: 302).adding("Location", "/login")
        }
        server.route("/login") { _ in .text("login") }
        let session = session()
        let url = server.url("/page")
        #expect(try await text(session, url) == "page")
        #expect(try await text(session, url, ["Cache-Control": "no-cache"]) == "login")
        #expect(try await text(session, url) == "login")
        await server.stop()
    }

    @Test func aValidatedRedirectIsStored() async throws {
        let server = try await TestServer.start()
        let counter = Counter()
        server.route("/old") { _ in
            counter.next() == 2
                ? ServerResponse(status: 304).adding("ETag", "\"1\"").adding("Cache-Control", "max-age=3600")
                : ServerResponse(status: 301).adding("Location", "/new").adding("ETag", "\"1\"")
                    .adding("Cache-Control", "max-age=0")
        }
        server.route("/new") { _ in .text("new") }
        let session = session()
        let plain = session.request(server.url("/old")).redirect(using: .doNotFollow)
        #expect(await plain.serializingData().response.response?.statusCode == 301)
        for _ in 0..<2 { #expect(try await text(session, server.url("/old")) == "new") }
        #expect(counter.value == 2)
        await server.stop()
    }

    // MARK: Use and storage

    @Test(arguments: TransportKind.allCases)
    func aFreshResponseRequiresNoNetwork(kind: TransportKind) async throws {
        let server = try await server(["Cache-Control": "max-age=3600", "X-A": "1"])
        let session = session(kind)
        let first = await session.request(server.url("/counted")).serializingString().response
        let second = await session.request(server.url("/counted#part")).serializingString().response
        #expect(first.value == "1" && second.value == "1" && server.requestCount == 1)
        #expect(second.response?.statusCode == 200 && second.response?.value(forHTTPHeaderField: "X-A") == "1")
        #expect(second.response?.value(forHTTPHeaderField: "Age").flatMap { Int($0) } != nil)
        let transaction = try #require(second.metrics?.transactionMetrics.first)
        #expect(transaction.resourceFetchType == .localCache && transaction.isFromCache)
        #expect(transaction.fetchStartDate != nil && transaction.remoteAddress == nil)
        #expect(first.response?.value(forHTTPHeaderField: "Age") == nil)
        #expect(try await text(session, server.url("/counted?a")) == "2")
        await server.stop()
    }

    @Test func aHitIsMarkedInTheLog() async throws {
        let (server, entries) = (
            try await server(["Cache-Control": "max-age=3600"]), Locked<[LoggingMonitor.Entry]>([])
        )
        let monitor = LoggingMonitor { entry in entries.withLock { $0.append(entry) } }
        var configuration = SessionConfiguration.default
        configuration.cacheStore = MemoryCacheStore()
        let session = Session(configuration: configuration, eventMonitors: [monitor])
        for _ in 0..<2 { #expect(try await text(session, server.url("/counted")) == "1") }
        try await waitWhile { entries.withLock({ $0.count }) < 2 }
        let all = entries.withLock { $0 }
        #expect(all[0].message.contains("/counted -> 200, 1 byte in ") && all[0].metadata["cached"] == nil)
        #expect(all[1].message.contains("/counted -> 200 from the cache, 1 byte in "))
        #expect(all[1].metadata["cached"] == "true" && all[1].metadata["bytes"] == "1")
        await server.stop()
    }

    @Test func aSessionWithoutAStoreCachesNothing() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let session = TransportKind.platform.session()
        for number in 1...2 { #expect(try await text(session, server.url("/counted")) == "\(number)") }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aStaleResponseIsValidated(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = session(kind)
        let first = await session.request(server.url("/etag/one")).serializingData().response
        let second = await session.request(server.url("/etag/one")).serializingData().response
        #expect(first.value == second.value && first.value?.isEmpty == false && second.response?.statusCode == 200)
        #expect(server.requestCount == 2)
        #expect(server.lastRequest(path: "/etag/one")?.headers["If-None-Match"] == "\"one\"")
        let transactions = try #require(second.metrics?.transactionMetrics)
        #expect(
            transactions.map(\.isFromCache) == (kind == .platform ? [false, true] : transactions.map(\.isFromCache)))
        #expect(transactions.last?.isFromCache == true)
        await server.stop()
    }

    @Test func a304ForAnotherResponseRefetches() async throws {
        let server = try await TestServer.start()
        let counter = Counter()
        server.route("/odd") { request in
            let number = counter.next()
            guard request.headers["If-None-Match"] != nil else {
                return .text("\(number)").adding("ETag", "\"\(number)\"")
            }
            return ServerResponse(status: 304).adding("ETag", "\"other\"")
        }
        let session = session()
        #expect(try await text(session, server.url("/odd")) == "1")
        #expect(try await text(session, server.url("/odd")) == "3")
        #expect(server.requestCount == 3)
        await server.stop()
    }

    @Test func anObservedHitIsNotStoredAgain() async throws {
        let server = try await TestServer.start()
        let counter = Counter()
        server.route("/odd") { request in
            let number = counter.next()
            guard request.headers["If-None-Match"] != nil else {
                return .text("\(number)").adding("ETag", "\"\(number)\"").adding("Cache-Control", "max-age=3600")
            }
            return ServerResponse(status: 304).adding("ETag", "\"other\"")
        }
        let store = MemoryCacheStore()
        var configuration = SessionConfiguration.default
        configuration.cacheStore = store
        let session = Session(configuration: configuration, eventMonitors: [ClosureEventMonitor()])
        let url = server.url("/odd")
        #expect(try await text(session, url) == "1")
        let kept = store.responses(for: url.absoluteString).first
        #expect(try await text(session, url) == "1")
        #expect(kept != nil && store.responses(for: url.absoluteString).first === kept)
        // The 304 confirms a different response, so a third request follows.
        #expect(try await text(session, url, ["Cache-Control": "no-cache"]) == "3")
        await server.stop()
    }

    @Test func aValidationCanRemoveAResponse() async throws {
        let server = try await TestServer.start()
        server.route("/ended") { request in
            guard request.headers["If-None-Match"] == nil else {
                return ServerResponse(status: 304).adding("Cache-Control", "no-store")
            }
            return .text("body").adding("ETag", "\"1\"")
        }
        let store = MemoryCacheStore()
        let session = session(.platform, store)
        for _ in 0..<2 { #expect(try await text(session, server.url("/ended")) == "body") }
        #expect(store.count == 0)
        await server.stop()
    }

    @Test func aFailureKeepsTheStoredResponse() async throws {
        let server = try await TestServer.start()
        let counter = Counter()
        server.route("/shaky") { _ in
            counter.next() == 1 ? .text("good").adding("ETag", "\"1\"") : .text("bad", status: 503)
        }
        let store = MemoryCacheStore()
        let session = session(.platform, store)
        #expect(try await text(session, server.url("/shaky")) == "good")
        #expect(try await text(session, server.url("/shaky")) == "bad")
        #expect(store.count == 1)
        await server.stop()
    }

    @Test func varyingResponsesAreDistinguished() async throws {
        let server = try await TestServer.start()
        let session = session()
        for language in ["en", "de", "en", "de"] {
            let text = try await text(session, server.url("/vary"), ["Accept-Language": language])
            #expect(text.contains("Accept-Language: \(language)\n"))
        }
        #expect(server.requestCount == 2)
        await server.stop()
    }

    @Test func oneUsersResponseIsNotServedToAnother() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let session = session()
        for (token, number) in [("ada", "1"), ("bob", "2"), ("ada", "1")] {
            let headers: HTTPHeaders = [.authorization(bearerToken: token)]
            #expect(try await text(session, server.url("/counted"), headers) == number)
        }
        #expect(try await text(session, server.url("/counted")) == "3")
        await server.stop()
    }

    @Test func everyCredentialSeparatesUsers() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let session = session { $0.sensitiveHeaders = ["X-Customer"] }
        var number = 0
        for name in ["X-Api-Key", "X-Customer", "Cookie"] {
            for value in ["id=ada", "id=bob"] {
                number += 1
                for _ in 0..<2 {
                    #expect(try await text(session, server.url("/counted"), [name: value]) == "\(number)")
                }
            }
        }
        await server.stop()
    }

    @Test func oneTenantsResponseIsNotServedToAnother() async throws {
        let server = try await TestServer.start()
        let counter = Counter()
        server.route("/tenant") { request in
            .text("\(request.headers["Host"] ?? "") \(counter.next())").adding("Cache-Control", "public, max-age=3600")
        }
        let session = session { $0.coalescesRequests = true }
        let url = server.url("/tenant")
        for _ in 0..<2 {
            #expect(try await text(session, url, ["Host": "tenant-a"]) == "tenant-a 1")
            #expect(try await text(session, url, ["Host": "Tenant-B"]).hasSuffix(" 2"))
            #expect(try await text(session, url).hasSuffix(" 3"))
        }
        _ = try await session.request(url, method: .post, headers: ["Host": "tenant-a"]).serializingString().value
        #expect(try await text(session, url, ["Host": "tenant-a"]) == "tenant-a 5")
        await server.stop()
    }

    @Test func storedCookiesDoNotPreventCaching() async throws {
        let server = try await server(["Cache-Control": "max-age=3600", "Set-Cookie": "a=1; Path=/"])
        let session = session()
        for _ in 0..<2 { #expect(try await text(session, server.url("/counted")) == "1") }
        await server.stop()
    }

    @Test func aDecodedBodyIsStored() async throws {
        let server = try await TestServer.start()
        let packed = try #require(Data(base64Encoded: "H4sIAAAAAAAC/8tIzcnJV8igOwkAL/r4SHgAAAA="))
        server.route("/packed") { _ in
            .content("text/plain", packed).adding("Content-Encoding", "gzip").adding("Cache-Control", "max-age=3600")
        }
        let session = session()
        for _ in 0..<2 {
            #expect(try await text(session, server.url("/packed")) == String(repeating: "hello ", count: 20))
        }
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test func rawBodiesAndDecodedOnesAreNotConfused() async throws {
        let server = try await TestServer.start()
        let packed = try #require(Data(base64Encoded: "H4sIAAAAAAAC/8tIzcnJV8igOwkAL/r4SHgAAAA="))
        server.route("/packed") { _ in
            .content("text/plain", packed).adding("Content-Encoding", "gzip").adding("Cache-Control", "max-age=3600")
        }
        let session = session()
        let text = Data(String(repeating: "hello ", count: 20).utf8)
        for decodesContent in [true, false, true, false, false, true] {
            let request = session.request(server.url("/packed")).options { $0.decodesContent = decodesContent }
            #expect(try await request.serializingData().value == (decodesContent ? text : packed))
        }
        await server.stop()
    }

    // MARK: Delivery

    @Test(arguments: TransportKind.allCases)
    func aDownloadIsCached(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        server.route("/file") { _ in
            .text(String(repeating: "x", count: 100_000)).adding("Cache-Control", "max-age=3600")
        }
        let session = session(kind)
        for _ in 0..<2 {
            let data = try await session.download(server.url("/file")).serializingData().value
            #expect(data == Data(repeating: UInt8(ascii: "x"), count: 100_000))
        }
        #expect(try await session.request(server.url("/file")).serializingData().value.count == 100_000)
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aStreamIsCached(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        server.route("/file") { _ in
            .text(String(repeating: "x", count: 300_000)).adding("Cache-Control", "max-age=3600")
        }
        let session = session(kind)
        for repetition in 1...2 {
            var count = 0
            for await event in session.streamRequest(server.url("/file")).streamTask().streamingData() {
                if case .stream(.success(let data)) = event.event { count += data.count }
            }
            #expect(count == 300_000)
            #expect(server.requestCount(path: "/file") == 1, "\(kind), repetition \(repetition)")
        }
        #expect(try await session.request(server.url("/file")).serializingData().value.count == 300_000)
        #expect(server.requestCount(path: "/file") == 1, "\(kind)")
        await server.stop()
    }

    @Test func aTruncatedBodyIsNotStored() async throws {
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 10\r\n\r\n"
        let server = try await RawServer.start(scripts: [
            [.receiveHead, .send(head + "half"), .close], [.receiveHead, .send(head + "0123456789")],
        ])
        let session = session()
        let broken = await session.request(server.url).serializingString().response
        #expect(broken.error != nil)
        #expect(try await text(session, server.url) == "0123456789")
        #expect(try await text(session, server.url) == "0123456789")
        await server.stop()
    }

    @Test func anIncompletelyReadStreamIsNotStored() async throws {
        let server = try await TestServer.start()
        server.route("/file") { _ in
            .text(String(repeating: "x", count: 5_000_000)).adding("Cache-Control", "max-age=3600")
        }
        let store = MemoryCacheStore()
        let session = session(.platform, store)
        let request = session.streamRequest(server.url("/file"))
        for await event in request.streamTask().streamingData() {
            if case .stream = event.event { break }
        }
        request.cancel()
        #expect(store.count == 0)
        await server.stop()
    }

    // MARK: HEAD, other methods, redirects

    @Test func aHEADRequestUsesTheGETsResponse() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let session = session()
        #expect(try await text(session, server.url("/counted")) == "1")
        let head = await session.request(server.url("/counted"), method: .head).serializingData().response
        #expect(head.response?.statusCode == 200 && (head.data ?? Data()).isEmpty && server.requestCount == 1)
        #expect(try await text(session, server.url("/counted")) == "1")
        await server.stop()
    }

    @Test(arguments: [HTTPMethod.post, .put, .delete, .patch])
    func unsafeMethodsInvalidateResponses(method: HTTPMethod) async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let session = session()
        #expect(try await text(session, server.url("/counted")) == "1")
        #expect(try await session.request(server.url("/counted"), method: method).serializingString().value == "2")
        #expect(try await text(session, server.url("/counted")) == "3")
        await server.stop()
    }

    /// A response's cookie is stored even if the caller doesn't receive that response: a stored response can replace
    /// it, or it belongs to a background revalidation.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["no-cache", "max-age=0,stale-while-revalidate=3600", "max-age=0,stale-if-error=3600"])
    func cookiesAreStoredRegardlessOfTheCache(control: String) async throws {
        let server = try await TestServer.start()
        let counter = Counter()
        server.route("/set") { _ in
            let number = counter.next()
            let status = number == 1 ? 200 : control.contains("error") ? 503 : 304
            return ServerResponse(status: status).adding("Set-Cookie", "id=\(number)").adding("ETag", "\"1\"")
                .adding("Cache-Control", control)
        }
        let session = session()
        for _ in 0..<2 {
            let response = await session.request(server.url("/set")).serializingData(emptyResponseCodes: [200]).response
            #expect(response.response?.statusCode == 200)
        }
        try await waitWhile { session.cookieStore?.all.first?.value != "2" }
        await server.stop()
    }

    @Test func aResponseFromBeforeAnInvalidationIsNotStored() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let (changes, change) = AsyncStream<Void>.makeStream()
        server.route("/slow", methods: ["GET"]) { _ in
            for await _ in changes { break }
            return ServerResponse.text("old").adding("Cache-Control", "max-age=3600")
        }
        server.route("/slow", methods: ["POST"]) { _ in .text("done") }
        let store = MemoryCacheStore()
        let session = session(.platform, store)
        let url = server.url("/slow")
        async let old = text(session, url)
        try await waitWhile { server.requestCount == 0 }
        _ = try await session.request(url, method: .post).serializingString().value
        change.yield()
        #expect(try await old == "old")
        #expect(store.count == 0)
        change.yield()
        _ = try await text(session, url)
        #expect(store.count == 1)
        change.finish()
        await server.stop()
    }

    @Test func aNewerUncacheableResponseRemovesTheOlderOne() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let store = MemoryCacheStore()
        let session = session(.platform, store)
        server.route("/growing") { request in
            let isLarge = request.headers["X-Large"] != nil
            let text = isLarge ? String(repeating: "x", count: 17 * 1024 * 1024) : "small"
            return ServerResponse.text(text).adding("Cache-Control", "max-age=3600")
        }
        let url = server.url("/growing")
        func send(_ headers: HTTPHeaders, _ handler: (any CachedResponseHandler)? = nil) async throws {
            let request = session.request(url, headers: headers) { $0.cachePolicy = .reloadIgnoringLocalCacheData }
            if let handler { request.cacheResponse(using: handler) }
            _ = try await request.serializingData().value
        }
        try await send([:])
        #expect(store.count == 1)
        try await send(["X-Large": "1"])
        #expect(store.count == 0)
        try await send([:])
        try await send([:], .doNotCache)
        #expect(store.count == 0)
        try await send([:])
        let stream = session.streamRequest(url, headers: ["X-Large": "1"]) {
            $0.cachePolicy = .reloadIgnoringLocalCacheData
        }
        for await _ in stream.streamTask().streamingData() {}
        #expect(store.count == 0)
        await server.stop()
    }

    // MARK: Concurrent requests

    /// A server whose path `/gated` returns the number of the request when the test allows it.
    private final class Gate: Sendable {
        private struct State {
            var arrived = 0
            var opened = 0
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        let server: TestServer
        private let state = Locked(State())

        init(_ fields: [String: String]) async throws {
            server = try await TestServer.start()
            server.route("/gated") { [self] _ in
                let number = await enter()
                return fields.reduce(.text("\(number)")) { $0.adding($1.key, $1.value) }
            }
        }

        /// The number of requests received.
        var arrived: Int { state.withLock { $0.arrived } }

        private func enter() async -> Int {
            let number = state.withLock { state in
                state.arrived += 1
                return state.arrived
            }
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    guard state.opened == 0 else {
                        state.opened -= 1
                        return true
                    }
                    state.waiting.append(continuation)
                    return false
                }
                if isOpen { continuation.resume() }
            }
            return number
        }

        /// Allows the given number of responses.
        func open(for count: Int) {
            let continuations = state.withLock { state in
                let ready = Array(state.waiting.prefix(count))
                state.waiting.removeFirst(ready.count)
                state.opened += count - ready.count
                return ready
            }
            for continuation in continuations { continuation.resume() }
        }

        func wait(for count: Int) async { try? await waitWhile { arrived < count } }
    }

    private func coalescing(_ store: any CacheStore = MemoryCacheStore()) -> Session {
        session(.platform, store) { $0.coalescesRequests = true }
    }

    @Test(.timeLimit(.minutes(1))) func identicalRequestsAreCoalesced() async throws {
        let gate = try await Gate(["Cache-Control": "max-age=3600", "Vary": "X-Other"])
        let session = coalescing()
        let url = gate.server.url("/gated")
        let requests = (0..<20).map { _ in session.request(url).serializingString() }
        await gate.wait(for: 1)
        let other = session.request(url, headers: ["X-Other": "1"]).serializingString()
        await gate.wait(for: 2)
        gate.open(for: 2)
        var texts: Set<String> = []
        for request in requests { texts.insert(try await request.value) }
        #expect(texts.count == 1)
        _ = try await other.value
        #expect(gate.arrived == 2)
        await gate.server.stop()
    }

    @Test(.timeLimit(.minutes(1))) func whenTheFirstIsCancelledTheNextIsSent() async throws {
        let gate = try await Gate(["Cache-Control": "max-age=3600"])
        let session = coalescing()
        let url = gate.server.url("/gated")
        let first = session.request(url)
        let failing = first.serializingString()
        await gate.wait(for: 1)
        let others = (0..<5).map { _ in session.request(url) }
        let tasks = others.map { $0.serializingString() }
        others[4].cancel()
        #expect(await tasks[4].response.error?.isExplicitlyCancelledError == true)
        first.cancel()
        #expect(await failing.response.error?.isExplicitlyCancelledError == true)
        await gate.wait(for: 2)
        gate.open(for: 2)
        for task in tasks.prefix(4) { #expect(try await task.value == "2") }
        #expect(gate.arrived == 2)
        await gate.server.stop()
    }

    /// A store that counts lookups and never returns a response.
    private final class EmptyStore: CacheStore {
        let lookups = Counter()

        func responses(for url: String) -> [CachedResponse] {
            _ = lookups.next()
            return []
        }
        func store(_ response: CachedResponse) {}
        func removeResponses(for url: String) {}
        func removeAll() {}
    }

    /// A stage that fails the first request on demand.
    private struct FirstFails: ExchangeStage, StageRun {
        let fail = AsyncStream<Void>.makeStream()
        let count = Counter()

        func begin(_ hop: Hop) -> (any StageRun)? { self }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            guard count.next() == 1 else { return .now(.send) }
            return .wait {
                for await _ in fail.stream { break }
                return .fail(URLError(.networkConnectionLost))
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func whenTheFirstFailsTheOthersAreSentTogether() async throws {
        let gate = try await Gate([:])
        let (store, stage) = (EmptyStore(), FirstFails())
        var configuration = SessionConfiguration.default
        (configuration.cacheStore, configuration.coalescesRequests) = (store, true)
        let session = Session(configuration: configuration, stages: [stage])
        let tasks = (0..<6).map { _ in session.request(gate.server.url("/gated")).serializingString() }
        try await waitWhile { store.lookups.value < 6 }
        stage.fail.continuation.yield()
        await gate.wait(for: 2)
        gate.open(for: 5)
        var failures = 0
        for task in tasks where await task.response.error != nil { failures += 1 }
        #expect(failures == 1)
        await gate.server.stop()
    }

    @Test(.timeLimit(.minutes(1))) func aCoalescedRequestHasItsOwnTimeout() async throws {
        let gate = try await Gate(["Cache-Control": "max-age=3600"])
        let store = MemoryCacheStore()
        let session = session(.platform, store) { configuration in
            configuration.coalescesRequests = true
            configuration.timeoutIntervalForResource = 0.3
        }
        let tasks = (0..<3).map { _ in session.request(gate.server.url("/gated")).serializingString() }
        for task in tasks {
            let error = await task.response.error
            #expect((error?.underlyingError as? URLError)?.code == .timedOut, "\(String(describing: error))")
        }
        // A request can reach the server after its timeout.
        gate.open(for: 3)
        await gate.server.stop()
    }

    @Test(.timeLimit(.minutes(1))) func uncacheableResponsesAreNotShared() async throws {
        let gate = try await Gate(["Cache-Control": "no-store"])
        let session = coalescing()
        let tasks = (0..<5).map { _ in session.request(gate.server.url("/gated")).serializingString() }
        await gate.wait(for: 1)
        gate.open(for: 1)
        await gate.wait(for: 5)
        gate.open(for: 4)
        var texts: Set<String> = []
        for task in tasks { texts.insert(try await task.value) }
        #expect(texts.count == 5)
        await gate.server.stop()
    }

    @Test func aRedirectsTargetIsStored() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let session = session()
        for _ in 0..<2 { #expect(try await text(session, server.url("/redirect-to?url=/counted")) == "1") }
        #expect(server.requestCount(path: "/counted") == 1)
        await server.stop()
    }

    // MARK: Staleness

    @Test func staleIfErrorIsUsedIfTheServerFails() async throws {
        let server = try await TestServer.start()
        let counter = Counter()
        server.route("/shaky") { _ in
            counter.next() == 1
                ? .text("good").adding("Cache-Control", "max-age=0, stale-if-error=3600") : .text("bad", status: 503)
        }
        let session = session()
        let url = server.url("/shaky")
        for _ in 0..<2 { #expect(try await text(session, url) == "good") }
        #expect(server.requestCount == 2)
        await server.stop()
        let offline = await session.request(url).serializingString().response
        #expect(offline.value == "good" && offline.response?.statusCode == 200)
        let other = await session.request(url, headers: ["Cache-Control": "no-cache"]).serializingString().response
        #expect(other.error != nil)
    }

    @Test func aStaleResponseIsUsedWhileRevalidating() async throws {
        let server = try await TestServer.start()
        let (counter, requested) = (Counter(), Deferred<Void>())
        server.route("/swr") { _ in
            let number = counter.next()
            if number == 2 { requested.fulfill(()) }
            return .text("\(number)")
                .adding("Cache-Control", number == 1 ? "max-age=0, stale-while-revalidate=3600" : "max-age=3600")
                .adding("ETag", "\"\(number)\"")
        }
        let store = MemoryCacheStore()
        let session = session(.platform, store)
        let url = server.url("/swr")
        #expect(try await text(session, url) == "1")
        #expect(try await text(session, url) == "1")
        await requested.value
        try await waitWhile { store.responses(for: url.absoluteString).first?.body != Data("2".utf8) }
        #expect(try await text(session, url) == "2")
        #expect(server.requestCount == 2)
        await server.stop()
    }

    @Test(.timeLimit(.minutes(1))) func differingRequestsAreRevalidatedConcurrently() async throws {
        let server = try await TestServer.start()
        let (requested, isRevalidating) = (Locked<Set<String>>([]), Locked(false))
        server.route("/swr") { request in
            let language = request.headers["Accept-Language"] ?? ""
            if isRevalidating.withLock({ $0 }) {
                requested.withLock { _ = $0.insert(language) }
                try await waitWhile { requested.withLock({ $0.count }) < 2 }
            }
            return .text(language).adding("Cache-Control", "max-age=0, stale-while-revalidate=3600")
                .adding("ETag", "\"1\"").adding("Vary", "Accept-Language")
        }
        let session = session()
        for _ in 0..<2 {
            for language in ["de", "en"] {
                #expect(try await text(session, server.url("/swr"), ["Accept-Language": language]) == language)
            }
            isRevalidating.withLock { $0 = true }
        }
        try await waitWhile { requested.withLock({ $0.count }) < 2 }
        await server.stop()
    }

    // MARK: Request options

    @Test func urlRequestPoliciesApply() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let session = session()
        func text(_ policy: URLRequest.CachePolicy) async -> DataResponse<String, AFError> {
            var request = URLRequest(url: server.url("/counted"))
            request.cachePolicy = policy
            return await session.request(request).serializingString().response
        }
        let none = await text(.returnCacheDataDontLoad)
        #expect((none.error?.underlyingError as? URLError)?.code == .resourceUnavailable && server.requestCount == 0)
        #expect(await text(.useProtocolCachePolicy).value == "1")
        #expect(await text(.returnCacheDataDontLoad).value == "1")
        #expect(await text(.returnCacheDataElseLoad).value == "1")
        #expect(await text(.reloadIgnoringLocalCacheData).value == "2")
        #expect(await text(.useProtocolCachePolicy).value == "2")
        #expect(await text(.reloadIgnoringLocalAndRemoteCacheData).value == "3")
        #expect(server.lastRequest(path: "/counted")?.headers["Cache-Control"] == "no-cache")
        #expect(await text(.reloadRevalidatingCacheData).value == "4")
        await server.stop()
    }

    @Test func theConfigurationsPolicyIsTheDefault() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let session = session { $0.requestCachePolicy = .reloadIgnoringLocalCacheData }
        for number in 1...2 { #expect(try await text(session, server.url("/counted")) == "\(number)") }
        await server.stop()
    }

    @Test func cacheOnlyRequestsFailWithoutACache() async throws {
        let server = try await TestServer.start()
        var request = URLRequest(url: server.url("/get"))
        request.cachePolicy = .returnCacheDataDontLoad
        let session = TransportKind.platform.session()
        let response = await session.request(request).serializingData().response
        #expect((response.error?.underlyingError as? URLError)?.code == .resourceUnavailable, "\(response)")
        #expect(server.requestCount == 0)
        await server.stop()
    }

    @Test func onlyIfCachedIsAnsweredWith504() async throws {
        let server = try await TestServer.start()
        let session = session()
        let response = await session.request(server.url("/get"), headers: ["Cache-Control": "only-if-cached"])
            .serializingData(emptyResponseCodes: [504]).response
        #expect(response.response?.statusCode == 504 && server.requestCount == 0, "\(response)")
        await server.stop()
    }

    // MARK: Handlers

    @Test func aHandlerDecidesWhatIsStored() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let store = MemoryCacheStore()
        let session = session(.platform, store)
        let none = session.request(server.url("/counted")).cacheResponse(using: .doNotCache)
        #expect(try await none.serializingString().value == "1" && none.cachedResponseHandler is ResponseCacher)
        let changed = session.request(server.url("/counted"))
            .cacheResponse(
                using: .modify { _, response in CachedURLResponse(response: response.response, data: Data("other".utf8))
                })
        #expect(try await changed.serializingString().value == "2")
        try await waitWhile { store.count == 0 }
        #expect(try await text(session, server.url("/counted")) == "other")
        await server.stop()
    }

    @Test func theSessionsHandlerAndMonitorsAreCalled() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let monitor = ClosureEventMonitor()
        let seen = Locked<[String]>([])
        let reported = Deferred<Void>()
        monitor.dataTaskWillCacheResponse = { _, task, response in
            seen.withLock { $0.append("\(task.originalRequest?.url?.path ?? "") \(response.data.count)") }
            reported.fulfill(())
        }
        var configuration = SessionConfiguration.default
        configuration.cacheStore = MemoryCacheStore()
        let session = Session(
            configuration: configuration, cachedResponseHandler: ResponseCacher.doNotCache, eventMonitors: [monitor])
        for number in 1...2 { #expect(try await text(session, server.url("/counted")) == "\(number)") }
        await reported.value
        #expect(seen.withLock { $0.first } == "/counted 1")
        await server.stop()
    }

    @Test func aURLCacheCanBeTheStore() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let cache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
        let foundation = URLSessionConfiguration.default
        foundation.urlCache = cache
        var configuration = SessionConfiguration(foundation)
        #expect(configuration.urlCache === cache)
        let session = Session(configuration: configuration)
        for _ in 0..<2 { #expect(try await text(session, server.url("/counted")) == "1") }
        cache.removeAllCachedResponses()
        #expect(try await text(session, server.url("/counted")) == "2")
        configuration.urlCache = nil
        #expect(configuration.cacheStore == nil)
        #expect(SessionConfiguration(URLSessionConfiguration.default).cacheStore == nil)
        await server.stop()
    }

    @Test func aURLCacheReturnsResponsesOnlyForTheSameURL() async throws {
        let store = URLCacheStore(URLCache(memoryCapacity: 100_000, diskCapacity: 0, diskPath: nil))
        func response(_ url: String, bytes: Int = 10) -> CachedResponse {
            CachedResponse(
                url: url, variant: "", status: 200, fields: [:], body: Data(count: bytes), requestDate: .now,
                responseDate: .now)
        }
        let first = response("http://cache.example/a?b=1")
        store.store(first)
        #expect(store.responses(for: first.url).first === first)
        for other in ["https://cache.example/a?b=1", "http://cache.example/a?b=2", "http://cache.example/a"] {
            #expect(store.responses(for: other).isEmpty, "\(other)")
        }
        for _ in 0..<3 { store.store(response("http://cache.example/renewed", bytes: 10_000)) }
        for number in 0..<50 { store.store(response("http://cache.example/\(number)", bytes: 10_000)) }
        #expect(store.responses(for: "http://cache.example/49").count == 1)
    }

    @Test func uncacheableCacheOnlyRequestsFail() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let url = server.url("/counted")
        var own = try URLRequest(url: url, method: .post)
        own.cachePolicy = .returnCacheDataDontLoad
        var ranged = try URLRequest(url: url, method: .get, headers: ["Range": "bytes=0-1"])
        ranged.cachePolicy = .returnCacheDataDontLoad
        let caching = session()
        for request in [own, ranged] {
            let error = await caching.request(request).serializingData().response.error
            #expect((error?.underlyingError as? URLError)?.code == .resourceUnavailable)
        }
        let plain = TransportKind.platform.session { $0.requestCachePolicy = .returnCacheDataDontLoad }
        let error = await plain.request(url).serializingData().response.error
        #expect((error?.underlyingError as? URLError)?.code == .resourceUnavailable)
        #expect(server.requestCount == 0)
        await server.stop()
    }

    @Test func reloadPoliciesSetCacheControlWithoutACache() async throws {
        let server = try await TestServer.start()
        server.route("/control") { .text($0.headers["Cache-Control"] ?? "none") }
        let session = TransportKind.platform.session()
        let text = try await session.request(server.url("/control")) {
            $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        }.serializingString().value
        #expect(text == "no-cache")
        await server.stop()
    }

    @Test func aHandlerCanBeSetAfterTheStart() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        let store = MemoryCacheStore()
        let session = session(.platform, store)
        let task = session.request(server.url("/counted")).cacheResponse(using: .cache).serializingString()
        _ = try await task.value
        // Without user code, the response is stored before it is delivered.
        #expect(store.count == 1)
        let request = session.request(server.url("/counted?late"))
        let late = request.serializingString()
        request.cacheResponse(using: .doNotCache)
        _ = try await late.value
        #expect(store.count == 1)
        await server.stop()
    }

    @Test func aHandlerDecidesAboutDownloads() async throws {
        let server = try await server(["Cache-Control": "max-age=3600"])
        for (cacher, count) in [(ResponseCacher.cache, 1), (.doNotCache, 0), (.init(behavior: .modify { $1 }), 0)] {
            let store = MemoryCacheStore()
            var configuration = SessionConfiguration.default
            configuration.cacheStore = store
            let session = Session(
                configuration: configuration, cachedResponseHandler: cacher,
                transport: TransportKind.platform.make(configuration))
            _ = try await session.download(server.url("/counted")).serializingDownloadedFileURL().value
            #expect(store.count == count)
        }
        await server.stop()
    }

    @Test func foundationsConfigurationProvidesTheCache() {
        let cache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
        var configuration = SessionConfiguration.default
        configuration.urlCache = cache
        configuration.requestCachePolicy = .returnCacheDataElseLoad
        let session = Session(configuration: configuration)
        #expect(session.sessionConfiguration.urlCache === cache)
        #expect(session.sessionConfiguration.requestCachePolicy == .returnCacheDataElseLoad)
        #expect(Session(configuration: .default).sessionConfiguration.urlCache == nil)
    }

    // MARK: Load

    @Test func concurrentRequestsReceiveTheirOwnBodies() async throws {
        let server = try await TestServer.start()
        server.route("/body/{n}") { request in
            let name = request.parameters["n"] ?? ""
            return .text(String(repeating: name, count: 1000)).adding("Cache-Control", "max-age=\(name.count)")
        }
        let session = session(.platform, MemoryCacheStore(capacity: 100_000))
        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<16 {
                group.addTask {
                    var wrong = 0
                    for number in 0..<100 {
                        let name = "\((number * 7 + task) % 40)"
                        let body = try await text(session, server.url("/body/\(name)"))
                        if body != String(repeating: name, count: 1000) { wrong += 1 }
                    }
                    return wrong
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(wrong == 0 && server.requestCount < 1600)
        await server.stop()
    }
}

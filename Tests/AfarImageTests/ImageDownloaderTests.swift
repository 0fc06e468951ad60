import AfarCore
import AfarImage
import AfarTestServer
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if os(Linux)
    import AfarCurl
#endif

@Suite(.timeLimit(.minutes(1))) struct ImageDownloaderTests {
    let valve = Valve()
    let transport: MockTransport

    init() {
        transport = MockTransport { [valve] request in
            await valve.pass(request.path)
            return switch request.path {
            case "/missing": .status(404)
            case "/broken": .data(Data("no image".utf8), type: "image/png")
            default: .data(Fixtures.pngRGB, type: "image/png")
            }
        }
    }

    private func downloader(
        _ prioritization: ImageDownloader.DownloadPrioritization = .fifo, active: Int = 4,
        cache: (any ImageRequestCache)? = AutoPurgingImageCache()
    ) -> ImageDownloader {
        ImageDownloader(
            session: Session(transport: transport), downloadPrioritization: prioritization,
            maximumActiveDownloads: active, imageCache: cache)
    }

    private static func url(_ path: String) -> URLRequest {
        URLRequest(url: URL(string: "http://example.com/\(path)") ?? URL(filePath: "/"))
    }

    /// Creates a filter that returns a one-pixel image and counts its calls.
    private static func filter(_ name: String, _ counter: Locked<Int>) -> DynamicImageFilter {
        DynamicImageFilter(name) { image in
            counter.withLock { $0 += 1 }
            return image.imageScaled(to: CGSize(width: 1, height: 1))
        }
    }

    // MARK: Fetches

    @Test func identicalRequestsShareAFetch() async {
        let downloader = downloader()
        let done = Collector()
        for _ in 0..<10 { downloader.download(Self.url("a"), queue: done.queue, completion: done.collect) }
        await valve.wait(for: 1)
        await valve.open()
        let responses = await done.responses(10)
        #expect(responses.allSatisfy { $0.value?.width == 16 })
        #expect(transport.requests.count == 1)
    }

    @Test func differentHeadersRequireAnotherFetch() async {
        let downloader = downloader()
        await valve.open()
        let done = Collector()
        for token in ["", "x", "y"] {
            var request = Self.url("a")
            if !token.isEmpty { request.setValue(token, forHTTPHeaderField: "Authorization") }
            downloader.download(request, queue: done.queue, completion: done.collect)
        }
        _ = await done.responses(3)
        #expect(transport.requests.count == 3)
    }

    @Test func equalSerializersShareAFetch() async {
        let downloader = downloader(cache: nil)
        let done = Collector()
        let small = CGSize(width: 4, height: 4)
        for size in [small, small, nil, nil] {
            downloader.download(
                Self.url("a"), serializer: ImageResponseSerializer(targetSize: size), queue: done.queue,
                completion: done.collect)
        }
        await valve.wait(for: 2)
        await valve.open()
        #expect(await done.responses(4).allSatisfy { $0.error == nil })
        #expect(transport.requests.count == 2)
    }

    @Test func anotherCredentialRequiresAnotherFetchAndImage() async {
        let downloader = downloader()
        await valve.open()
        let done = Collector()
        for (count, user) in ["ada", "ada", "grace"].enumerated() {
            downloader.addAuthentication(user: user, password: "p")
            downloader.download(Self.url("a"), queue: done.queue, completion: done.collect)
            _ = await done.responses(count + 1)
        }
        #expect(transport.requests.count == 2)
    }

    @Test func receiptsAndKeysContainNoSecrets() throws {
        var request = Self.url("a")
        request.setValue("Bearer s3cret", forHTTPHeaderField: "Authorization")
        request.httpBody = Data("s3cret".utf8)
        let receipt = try #require(downloader().download(request, queue: DispatchQueue(label: "quiet")))
        #expect(!"\(receipt) \(Optional(receipt) as Any)".contains("s3cret"))
        #expect(!AutoPurgingImageCache().imageCacheKey(for: request, withIdentifier: "x").contains("s3cret"))
        receipt.request.cancel()
    }

    /// A filter holds an entire image, so the fetch counts toward the limit.
    @Test func aFetchIsActiveUntilItsFilterHasRun() async {
        let downloader = downloader(active: 1, cache: nil)
        await valve.open()
        let done = Collector()
        let isRunning = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        let filter = DynamicImageFilter("slow") { image in
            isRunning.signal()
            mayEnd.wait()
            return image
        }
        downloader.download(Self.url("a"), filter: filter, queue: done.queue, completion: done.collect)
        let second = downloader.download(Self.url("b"), queue: done.queue, completion: done.collect)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                isRunning.wait()
                continuation.resume()
            }
        }
        #expect(second?.request.state == .initialized)
        mayEnd.signal()
        #expect(await done.responses(2).allSatisfy { $0.error == nil })
        #expect(transport.requests.count == 2)
    }

    @Test(arguments: [
        (ImageDownloader.DownloadPrioritization.fifo, ["/a", "/b", "/c", "/d"]), (.lifo, ["/a", "/d", "/c", "/b"]),
    ])
    func fetchesFollowTheOrderOfTheQueue(prioritization: ImageDownloader.DownloadPrioritization, order: [String]) async
    {
        let downloader = downloader(prioritization, active: 1)
        let done = Collector()
        downloader.download(Self.url("a"), queue: done.queue, completion: done.collect)
        await valve.wait(for: 1)
        downloader.download(["b", "c", "d"].map { Self.url($0) }, queue: done.queue, completion: done.collect)
        for (count, name) in order.enumerated() {
            await valve.wait(for: count + 1)
            #expect(await valve.arrivals.count == count + 1)
            await valve.open(name)
            _ = await done.responses(count + 1)
        }
        #expect(await valve.arrivals == order)
    }

    @Test func activeFetchesAreLimited() async {
        let downloader = downloader(active: 3)
        let done = Collector()
        let receipts = downloader.download(
            (0..<10).map { Self.url("\($0)") }, queue: done.queue, completion: done.collect)
        #expect(receipts.count == 10)
        await valve.wait(for: 3)
        #expect(receipts.filter { $0.request.state == .resumed }.count == 3)
        await valve.open("/1")
        _ = await done.responses(1)
        await valve.wait(for: 4)
        #expect(await valve.arrivals.count == 4)
        await valve.open()
        #expect(await done.responses(10).allSatisfy { $0.error == nil })
    }

    // MARK: Canceling

    @Test func oneOfSeveralReceiptsCanBeCancelled() async {
        let downloader = downloader()
        let (first, second) = (Collector(), Collector())
        let receipt = downloader.download(
            Self.url("a"), receiptID: "mine", queue: first.queue, completion: first.collect)
        downloader.download(Self.url("a"), queue: second.queue, completion: second.collect)
        await valve.wait(for: 1)
        #expect(receipt?.receiptID == "mine")
        if let receipt {
            downloader.cancelRequest(with: receipt)
            downloader.cancelRequest(with: receipt)
        }
        guard case .requestCancelled = await first.responses(1).first?.error else {
            Issue.record("not cancelled")
            return
        }
        await valve.open()
        #expect(await second.responses(1).first?.value?.width == 16)
        #expect(transport.requests.count == 1)
        #expect(await first.responses(1).count == 1)
    }

    @Test func cancellingTheLastReceiptCancelsTheRequest() async {
        let downloader = downloader(active: 1)
        let done = Collector()
        let receipts = ["a", "b", "c"].compactMap {
            downloader.download(Self.url($0), queue: done.queue, completion: done.collect)
        }
        await valve.wait(for: 1)
        // Cancels the queued "b", which is never sent, and the active "a", which makes room for "c".
        for index in [1, 0] { downloader.cancelRequest(with: receipts[index]) }
        let errors = await done.responses(2).compactMap(\.error)
        #expect(errors.count == 2 && receipts[0].request.isCancelled)
        await valve.wait(for: 2)
        #expect(await valve.arrivals == ["/a", "/c"])
        await valve.open()
        #expect(await done.responses(3).last?.value != nil)
    }

    @Test func cancellingTheRequestEndsAllReceipts() async {
        let downloader = downloader()
        let done = Collector()
        let receipts = (0..<3).compactMap { _ in
            downloader.download(Self.url("a"), queue: done.queue, completion: done.collect)
        }
        await valve.wait(for: 1)
        receipts.first?.request.cancel()
        let isCancelled = await done.responses(3).map { if case .requestCancelled = $0.error { true } else { false } }
        #expect(isCancelled == [true, true, true])
        await valve.open()
        downloader.download(Self.url("a"), queue: done.queue, completion: done.collect)
        #expect(await done.responses(4).last?.value != nil)
    }

    // MARK: Filters and the cache

    @Test func aFilterRunsOnceForAllReceipts() async {
        let downloader = downloader()
        let (counter, other) = (Locked(0), Locked(0))
        let (plain, filtered) = (Collector(), Collector())
        for _ in 0..<3 {
            let filter = Self.filter("one", counter)
            downloader.download(Self.url("a"), filter: filter, queue: filtered.queue, completion: filtered.collect)
        }
        let filter = Self.filter("two", other)
        downloader.download(Self.url("a"), filter: filter, queue: filtered.queue, completion: filtered.collect)
        downloader.download(Self.url("a"), queue: plain.queue, completion: plain.collect)
        await valve.open()
        #expect(await filtered.responses(4).allSatisfy { $0.value?.width == 1 })
        #expect(await plain.responses(1).first?.value?.width == 16)
        #expect(counter.withLock { $0 } == 1 && other.withLock { $0 } == 1)
        #expect(transport.requests.count == 1)
    }

    @Test func cachedImagesAreNotFetched() async throws {
        let cache = AutoPurgingImageCache()
        let downloader = downloader(cache: cache)
        await valve.open()
        let counter = Locked(0)
        let filter = Self.filter("one", counter)
        for _ in 0..<3 {
            #expect(try await downloader.image(for: Self.url("a"), filter: filter).width == 1)
            #expect(try await downloader.image(for: Self.url("a")).width == 16)
        }
        // The second request can join the fetch of the first one.
        #expect(transport.requests.count <= 2 && counter.withLock { $0 } == 1)
        #expect(cache.image(for: Self.url("a"), withIdentifier: "one")?.width == 1)
        let done = Collector()
        #expect(downloader.download(Self.url("a"), queue: done.queue, completion: done.collect) == nil)
        #expect(await done.responses(1).first?.value?.width == 16)
    }

    @Test func aPolicyThatIgnoresCachesIsHonored() async throws {
        let downloader = downloader()
        await valve.open()
        _ = try await downloader.image(for: Self.url("a"))
        var request = Self.url("a")
        request.cachePolicy = .reloadIgnoringLocalCacheData
        _ = try await downloader.image(for: request)
        #expect(transport.requests.count == 2)
        _ = try await downloader.image(for: Self.url("a"))
        #expect(transport.requests.count == 2)
    }

    @Test func theCallersCacheKeyIsUsed() async throws {
        let cache = AutoPurgingImageCache()
        let downloader = downloader(cache: cache)
        await valve.open()
        _ = try await downloader.image(for: Self.url("a"), cacheKey: "mine")
        #expect(cache.image(withIdentifier: "mine") != nil && cache.image(for: Self.url("a")) == nil)
        _ = try await downloader.image(for: Self.url("b"), cacheKey: "mine")
        #expect(transport.requests.count == 1)
    }

    @Test func imagesWithAnotherScaleAreCachedSeparately() async throws {
        let downloader = downloader()
        await valve.open()
        let scaled = try await downloader.image(for: Self.url("a"), serializer: .image(imageScale: 2))
        #expect(scaled.scale == 2)
        #expect(try await downloader.image(for: Self.url("a")).scale == 1)
        #expect(try await downloader.image(for: Self.url("a"), serializer: .image(imageScale: 2)).scale == 2)
        #expect(transport.requests.count == 2)
    }

    @Test func theCacheIsOptional() async throws {
        let downloader = downloader(cache: nil)
        await valve.open()
        for _ in 0..<2 { #expect(try await downloader.image(for: Self.url("a")).width == 16) }
        #expect(transport.requests.count == 2)
    }

    // MARK: Errors

    @Test func errorsDescribeTheProblem() async throws {
        let downloader = downloader()
        await valve.open()
        let missing = await #expect(throws: AFIError.self) { try await downloader.image(for: Self.url("missing")) }
        guard case .alamofireError(.responseValidationFailed(.unacceptableStatusCode(404))) = missing else {
            Issue.record("unexpected error: \(String(describing: missing))")
            return
        }
        let broken = await #expect(throws: AFIError.self) { try await downloader.image(for: Self.url("broken")) }
        guard case .imageSerializationFailed(let cause) = broken else {
            Issue.record("unexpected error: \(String(describing: broken))")
            return
        }
        #expect(cause.code == .unknownFormat && broken?.localizedDescription == cause.message)
    }

    @Test func anInvalidRequestIsAnError() async {
        struct NoRequest: URLRequestConvertible {
            func asURLRequest() throws -> URLRequest { throw URLError(.badURL) }
        }
        let done = Collector()
        let receipt = downloader().download(NoRequest(), queue: done.queue, completion: done.collect)
        #expect(receipt == nil)
        guard case .alamofireError(.createURLRequestFailed) = await done.responses(1).first?.error else {
            Issue.record("unexpected error")
            return
        }
    }

    // MARK: Awaiting

    @Test func aCancelledTaskDoesNotAffectOthers() async throws {
        let downloader = downloader()
        let cancelled = Task { try await downloader.image(for: Self.url("a")) }
        await valve.wait(for: 1)
        let other = Task { try await downloader.image(for: Self.url("a")) }
        cancelled.cancel()
        let error = await #expect(throws: AFIError.self) { try await cancelled.value }
        #expect(error?.localizedDescription.contains("canceled") == true)
        await valve.open()
        #expect(try await other.value.width == 16)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await downloader.image(for: Self.url("b"))
        }
        await #expect(throws: AFIError.self) { try await late.value }
    }

    @Test func progressIsReported() async throws {
        let downloader = downloader()
        let (done, progress) = (Collector(), Locked<[Int64]>([]))
        let queue = DispatchQueue(label: "progress")
        downloader.download(
            Self.url("a"), progress: { value in progress.withLock { $0.append(value.completedUnitCount) } },
            progressQueue: queue, queue: queue, completion: done.collect)
        await valve.open()
        _ = await done.responses(1)
        #expect(progress.withLock { $0.last } == Int64(Fixtures.pngRGB.count))
    }

    @Test func everyReceiptCompletesOnce() async {
        let downloader = downloader(.lifo, active: 2, cache: AutoPurgingImageCache(memoryCapacity: 2_000))
        await valve.open()
        let (tasks, rounds) = (8, 100)
        let answers = Locked([Int](repeating: 0, count: tasks * rounds))
        let done = Collector()
        await withTaskGroup { group in
            for task in 0..<tasks {
                group.addTask {
                    for round in 0..<rounds {
                        let path = ["missing", "broken"].randomElement() ?? ""
                        let receipt = downloader.download(
                            Self.url(round % 7 == 0 ? path : "\((task + round) % 5)"),
                            filter: round % 2 == 0 ? CircleFilter() : nil, queue: done.queue
                        ) { response in
                            answers.withLock { $0[task * rounds + round] += 1 }
                            done.collect(response)
                        }
                        if round % 3 == 0, let receipt { downloader.cancelRequest(with: receipt) }
                        if round % 11 == 0 { receipt?.request.cancel() }
                    }
                }
            }
        }
        _ = await done.responses(tasks * rounds)
        #expect(answers.withLock { $0.allSatisfy { $0 == 1 } })
    }

    #if os(Linux)
        @Test func imagesAreDownloadedOverTheNetwork() async throws {
            let server = try await TestServer.start()
            let downloader = ImageDownloader(session: Session(transport: CurlTransport()))
            let request = URLRequest(url: server.url("/image/png"))
            let image = try await downloader.image(for: request, filter: CircleFilter())
            #expect(image.width == 8 && image[0, 0] == .clear)
            await server.stop()
            #expect(try await downloader.image(for: request, filter: CircleFilter()) == image)
            await #expect(throws: AFIError.self) { try await downloader.image(for: request) }
        }
    #endif
}

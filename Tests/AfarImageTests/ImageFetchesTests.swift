import AfarCore
import AfarTesting
import Foundation
import Testing

@testable import AfarImage

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct ImageFetchesTests {
    private let session = Session(transport: MockTransport { _ in .status(404) })
    private let waiter = ImageFetch.Waiter(id: 1, filter: nil, store: { _ in }, onProgress: nil, onCompletion: { _ in })

    /// A request can end before the downloader has queued it.
    @Test func aFinishedFetchOccupiesNoSlot() throws {
        var fetches = ImageFetches(.fifo, maximumActive: 1)
        for number in 0..<5 {
            let url = URLRequest(url: try #require(URL(string: "http://example.com/\(number)")))
            let request = session.request(url, shouldAutomaticallyResume: false)
            let key = ImageFetch.Key(url, ImageResponseSerializer(), nil)
            let id = fetches.add(key, request, waiter)
            let isWaitedFor = fetches.endLoading(key, id)
            #expect(isWaitedFor)
            #expect(fetches.enqueue(key, id).isEmpty)
            let (fetch, next) = fetches.end(key, id)
            #expect(fetch?.waiters.count == 1 && next.isEmpty)
        }
        let url = URLRequest(url: try #require(URL(string: "http://example.com/last")))
        let key = ImageFetch.Key(url, ImageResponseSerializer(), nil)
        let id = fetches.add(key, session.request(url, shouldAutomaticallyResume: false), waiter)
        #expect(fetches.enqueue(key, id).count == 1)
    }

    /// The last waiter can leave after the response was created and before it is delivered.
    @Test(.timeLimit(.minutes(1))) func cancellingTheLastReceiptEndsALoadedFetch() async throws {
        let (parsed, announce) = AsyncStream.makeStream(of: Void.self)
        let monitor = ParseMonitor { announce.yield() }
        let barrier = Barrier()
        let downloader = ImageDownloader(
            session: Session(
                eventMonitors: [monitor], transport: MockTransport { _ in .data(Fixtures.pngRGB, type: "image/png") }),
            imageCache: nil, imageResponseSerializer: ImageResponseSerializer(dataPreprocessor: barrier))
        barrier.queue.withLock { $0 = downloader.workQueue }
        let url = URLRequest(url: try #require(URL(string: "http://example.com/a")))
        let receipt = try #require(downloader.download(url))
        for await _ in parsed { break }
        downloader.cancelRequest(with: receipt)
        barrier.gate.signal()
        // The barrier runs after all other work on the queue.
        await withCheckedContinuation { done in downloader.workQueue.async(flags: .barrier) { done.resume() } }
    }

    private struct ParseMonitor: EventMonitor {
        let whenParsed: @Sendable () -> Void

        func request<Value: Sendable>(
            _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
        ) {
            whenParsed()
        }
    }

    /// Blocks a queue from the time that the body is preprocessed until the gate opens.
    private struct Barrier: DataPreprocessor {
        let queue = Locked<DispatchQueue?>(nil)
        let gate = DispatchSemaphore(value: 0)

        func preprocess(_ data: Data) -> Data {
            queue.withLock { $0 }?.async(flags: .barrier) { [gate] in gate.wait() }
            return data
        }
    }
}

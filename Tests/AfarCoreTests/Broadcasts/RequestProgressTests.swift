import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Progress reports of requests, up to their completion.
@Suite struct RequestProgressTests {
    private let queue = DispatchQueue(label: "progress")

    /// A ten-byte response in chunks of two bytes.
    private static let tenBytes: MockResponse = {
        var response = MockResponse.data(Data("0123456789".utf8))
        response.chunkSize = 2
        return response
    }()

    private static func figures(of stream: StreamOf<Progress>) async -> [Int64] {
        var figures: [Int64] = []
        for await progress in stream { figures.append(progress.completedUnitCount) }
        return figures
    }

    /// Collects the byte counts that a closure receives.
    private final class ProgressRecorder: Sendable {
        private let figures = Locked<[Int64]>([])
        var all: [Int64] { figures.withLock { $0 } }
        func add(_ progress: Progress) { figures.withLock { $0.append(progress.completedUnitCount) } }
    }

    @Test func everyByteCountIsReportedUntilTheRequestFinishes() async throws {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let request = session.request("http://mock/")
        var iterator = request.downloadProgress().makeAsyncIterator()
        let response = request.serializingResponse(using: Bytes())
        for completed in stride(from: Int64(2), through: 10, by: 2) {
            let progress = try #require(await iterator.next())
            #expect(progress.completedUnitCount == completed)
            #expect(progress.totalUnitCount == 10)
        }
        #expect(await iterator.next() == nil)
        #expect(await response.response.value?.count == 10)
    }

    @Test func streamsAndTheClosureAreBothNotified() async {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let (replaced, reported) = (ProgressRecorder(), ProgressRecorder())
        let request = session.request("http://mock/")
            .downloadProgress(queue: queue) { replaced.add($0) }
        let stream = request.downloadProgress()
        request.downloadProgress(queue: queue) { reported.add($0) }
        async let first = Self.figures(of: stream)
        async let second = Self.figures(of: request.downloadProgress(bufferingPolicy: .bufferingNewest(1)))
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(await first.last == 10)
        #expect(await second.last == 10)
        queue.sync {}
        #expect(reported.all.last == 10)
        #expect(replaced.all.isEmpty)
    }

    @Test func sentBytesAreReported() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.upload(Data("12345".utf8), to: "http://mock/")
        let stream = request.uploadProgress()
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(await Self.figures(of: stream) == [5])
    }

    @Test func anIterationOfAFinishedRequestReceivesTheLastByteCounts() async {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let request = session.request("http://mock/")
        let stream = request.downloadProgress()
        _ = await request.serializingResponse(using: Bytes()).response
        for _ in 0..<2 { #expect(await Self.figures(of: stream) == [10]) }
        #expect(await Self.figures(of: request.downloadProgress()) == [10])
        #expect(await Self.figures(of: request.uploadProgress()).isEmpty)
    }

    @Test func aFailureEndsTheStreamAfterTheLastByteCounts() async {
        let session = Session(
            transport: MockTransport { _ in
                var response = Self.tenBytes
                response.failure = .connectionLost
                response.bytesBeforeFailure = 4
                return response
            })
        let request = session.request("http://mock/")
        var iterator = request.downloadProgress().makeAsyncIterator()
        let task = request.serializingResponse(using: Bytes())
        var figures: [Int64] = []
        while let progress = await iterator.next() { figures.append(progress.completedUnitCount) }
        #expect(figures == [2, 4])
        #expect(await task.response.error?.isSessionTaskError == true)
    }

    @Test func anotherAttemptStartsAtZero() async {
        let attempts = Locked(0)
        let transport = MockTransport { _ in
            var response = Self.tenBytes
            let isFirst = attempts.withLock { attempts in
                attempts += 1
                return attempts == 1
            }
            if isFirst {
                response.failure = .connectionLost
                response.bytesBeforeFailure = 6
            }
            return response
        }
        let interceptor = Scripted(retrying: { request, answer in
            answer(request.retryCount == 0 ? .retry : .doNotRetry)
        })
        let session = Session(interceptor: interceptor, transport: transport)
        let request = session.request("http://mock/")
        var iterator = request.downloadProgress().makeAsyncIterator()
        let task = request.serializingResponse(using: Bytes())
        var figures: [Int64] = []
        while let progress = await iterator.next() { figures.append(progress.completedUnitCount) }
        #expect(figures == [2, 4, 6, 2, 4, 6, 8, 10])
        #expect(await task.response.value?.count == 10)
    }

    @Test func cancellationEndsTheStream() async {
        let entered = Deferred<Void>()
        let session = Session(
            transport: MockTransport { _ in
                entered.fulfill(())
                try await Task.sleep(for: .seconds(60))
                return .text("late")
            })
        let request = session.request("http://mock/")
        async let figures = Self.figures(of: request.downloadProgress())
        async let requests = request.urlRequests().reduce(0) { count, _ in count + 1 }
        request.resume()
        await entered.value
        request.cancel()
        #expect(await figures.isEmpty)
        #expect(await requests == 1)
        #expect(request.isCancelled)
    }

    @Test func cancellationBeforeTheStartEndsTheStream() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/")
        async let figures = Self.figures(of: request.downloadProgress())
        request.cancel()
        #expect(await figures.isEmpty)
    }

    @Test func invalidatingTheSessionEndsTheStream() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        session.invalidate()
        let request = session.request("http://mock/")
        let stream = request.downloadProgress()
        request.resume()
        #expect(await Self.figures(of: stream).isEmpty)
    }

    @Test func releasingAnUnstartedRequestEndsTheStream() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        var iterator = session.request("http://mock/").downloadProgress().makeAsyncIterator()
        #expect(await iterator.next() == nil)
    }

    @Test func cancellingTheReadingTaskDoesNotCancelTheRequest() async {
        let entered = Deferred<Void>()
        let proceed = Deferred<Void>()
        let session = Session(
            transport: MockTransport { _ in
                entered.fulfill(())
                await proceed.value
                return Self.tenBytes
            })
        let request = session.request("http://mock/")
        let response = request.downloadProgress(queue: queue) { _ in }.serializingResponse(using: Bytes())
        let reader = Task { await Self.figures(of: request.downloadProgress()) }
        await entered.value
        reader.cancel()
        #expect(await reader.value.isEmpty)
        proceed.fulfill(())
        #expect(await response.response.value?.count == 10)
    }

    @Test func theStreamEndsAfterTheHandlers() async {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let request = session.request("http://mock/")
        let isCalled = Locked(false)
        let stream = request.downloadProgress()
        request.addHandler { _ in
            Settled()
        } completion: { _ in
            isCalled.withLock { $0 = true }
        }
        _ = await Self.figures(of: stream)
        #expect(isCalled.withLock { $0 })
        #expect(request.isFinished)
    }

    @Test func theProgressIsOneObject() async throws {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let request = session.request("http://mock/")
        let progress = request.downloadProgress
        let parent = Progress.discreteProgress(totalUnitCount: 1)
        parent.addChild(progress, withPendingUnitCount: 1)
        let handed = Locked<[ObjectIdentifier]>([])
        request.downloadProgress(queue: queue) { progress in handed.withLock { $0.append(ObjectIdentifier(progress)) } }
        #expect(progress.completedUnitCount == 0)
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(progress.completedUnitCount == 10)
        #expect(progress.totalUnitCount == 10)
        #expect(parent.fractionCompleted == 1)
        #expect(Set(handed.withLock { $0 }) == [ObjectIdentifier(progress)])
        #expect(request.downloadProgress === progress)
        #expect(request.uploadProgress !== progress)
    }

    /// On Linux, Foundation traps on some transitions from a known total to an unknown one.
    @Test(arguments: [6, 10])
    func anotherAttemptResetsTheProgressObject(bytesOfTheFirst: Int) async {
        let progress = Locked<Progress?>(nil)
        let atBegin = Locked<[Int64]>([])
        let transport = MockTransport { request in
            let figures = progress.withLock { $0.map { [$0.completedUnitCount, $0.totalUnitCount] } } ?? []
            atBegin.withLock { $0 += figures }
            var response = Self.tenBytes
            if request.path == "/", atBegin.withLock({ $0.count }) == 2 {
                response.failure = .connectionLost
                response.bytesBeforeFailure = bytesOfTheFirst
            }
            return response
        }
        let interceptor = Scripted(retrying: { request, answer in
            answer(request.retryCount == 0 ? .retry : .doNotRetry)
        })
        let session = Session(interceptor: interceptor, transport: transport)
        let request = session.request("http://mock/").downloadProgress(queue: queue) { _ in }
        let object = request.downloadProgress
        progress.withLock { $0 = object }
        let parent = Progress.discreteProgress(totalUnitCount: 1)
        parent.addChild(object, withPendingUnitCount: 1)
        #expect(await request.serializingResponse(using: Bytes()).response.value?.count == 10)
        #expect(request.retryCount == 1)
        #expect(atBegin.withLock { $0 } == [0, 0, 0, 0])
        #expect(object.fractionCompleted == 1)
        #expect(parent.fractionCompleted == 1)
    }

    /// A slow iteration receives the byte counts at the time of each update, not the latest ones.
    @Test func anIterationReceivesTheCurrentByteCounts() async throws {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let request = session.request("http://mock/")
        var iterator = request.downloadProgress().makeAsyncIterator()
        _ = await request.serializingResponse(using: Bytes()).response
        let first = try #require(await iterator.next())
        while let next = await iterator.next() { #expect(next !== first) }
        #expect(first.completedUnitCount == 2)
    }

    @Test func completionsAreCalledAfterTheLastUpdate() async {
        let other = DispatchQueue(label: "handlers")
        for _ in 0..<25 {
            // Some calls are pending when the response arrives.
            queue.suspend()
            let monitor = ClosureEventMonitor()
            monitor.requestDidGatherMetrics = { [queue] _, _ in queue.resume() }
            let session = Session(eventMonitors: [monitor], transport: MockTransport { _ in Self.tenBytes })
            let order = Locked<[String]>([])
            let isOver = Deferred<Void>()
            session.request("http://mock/")
                .downloadProgress(queue: queue) { progress in
                    order.withLock { $0.append("\(progress.completedUnitCount)") }
                }
                .response(queue: other) { _ in
                    order.withLock { $0.append("over") }
                    isOver.fulfill(())
                }
            await isOver.value
            #expect(order.withLock { $0 }.last == "over")
            #expect(order.withLock { $0 }.dropLast().last == "10")
            queue.sync {}
            #expect(order.withLock { $0 }.last == "over")
        }
    }

    @Test func cancellationDoesNotWaitForABlockedQueue() async {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let request = session.request("http://mock/")
        let (held, arrived) = (DispatchSemaphore(value: 0), Deferred<Void>())
        queue.async { held.wait() }
        request.downloadProgress(queue: queue) { _ in }
        let task = request.serializingResponse(using: Bytes())
        request.onHTTPResponse(on: DispatchQueue(label: "head")) { (_: HTTPURLResponse) in arrived.fulfill(()) }
        await arrived.value
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        held.signal()
        queue.sync {}
    }

    @Test func theWaitForABlockedQueueIsLimited() async {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let (held, called) = (DispatchSemaphore(value: 0), Locked(false))
        queue.async { held.wait() }
        let request = session.request("http://mock/")
            .downloadProgress(queue: queue) { _ in called.withLock { $0 = true } }
        #expect(await request.serializingResponse(using: Bytes()).response.value?.count == 10)
        #expect(!called.withLock { $0 })
        held.signal()
        queue.sync {}
    }

    @Test func progressIsNotAddedToTheCurrentProgress() {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/")
        let parent = Progress.discreteProgress(totalUnitCount: 10)
        parent.becomeCurrent(withPendingUnitCount: 10)
        let progress = request.downloadProgress
        progress.totalUnitCount = 1
        progress.completedUnitCount = 1
        #expect(parent.fractionCompleted == 0)
        parent.resignCurrent()
    }

    @Test func closuresAreReleasedAtTheEnd() async {
        final class Held: Sendable {}
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let request = session.request("http://mock/")
        weak var held: Held?
        do {
            let object = Held()
            held = object
            request.downloadProgress(queue: queue) { _ in _ = object }
                .onURLRequestCreation(on: queue) { _ in _ = object }
        }
        let stream = request.downloadProgress()
        request.resume()
        #expect(await Self.figures(of: stream).last == 10)
        queue.sync {}
        #expect(held == nil)
    }
}

private struct Settled: SettledResponse {
    var error: AFError?
    func failing(with error: AFError) -> Settled { Settled(error: error) }
}

import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Cancellation at every stage above the transport. The error is `explicitlyCancelled` at every stage, and each handler
/// is called once.
@Suite(.timeLimit(.minutes(1))) struct RequestCancellationTests {
    private func expectCancelled(
        _ request: DataRequest, _ task: DataTask<Data>, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let response = await task.response
        #expect(response.error?.isExplicitlyCancelledError == true, sourceLocation: sourceLocation)
        #expect(request.error?.isExplicitlyCancelledError == true, sourceLocation: sourceLocation)
        #expect(request.isCancelled, sourceLocation: sourceLocation)
    }

    @Test func beforeTheStart() async {
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(startRequestsImmediately: false, transport: transport)
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        request.cancel()
        await expectCancelled(request, task)
        #expect(transport.requests.isEmpty)
    }

    @Test func whileSuspended() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/").suspend()
        let task = request.serializingResponse(using: Bytes())
        request.cancel()
        await expectCancelled(request, task)
    }

    @Test func whileAnAdapterNeverAnswers() async {
        let entered = Deferred<Void>()
        let interceptor = Scripted(adapting: { _, _ in entered.fulfill(()) })
        let session = Session(interceptor: interceptor, transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await entered.value
        request.cancel()
        await expectCancelled(request, task)
    }

    @Test func whileTheTransportWorks() async {
        let entered = Deferred<Void>()
        let session = Session(
            transport: MockTransport { _ in
                entered.fulfill(())
                try await Task.sleep(for: .seconds(60))
                return .text("late")
            })
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await entered.value
        request.cancel()
        await expectCancelled(request, task)
        #expect(request.metrics != nil)
    }

    @Test func whileARetrierNeverAnswers() async {
        let requested = Deferred<Void>()
        let interceptor = Scripted(retrying: { _, _ in requested.fulfill(()) })
        let session = Session(interceptor: interceptor, transport: MockTransport { _ in .status(500) })
        let request = session.request("http://mock/").validate()
        let task = request.serializingResponse(using: Bytes())
        await requested.value
        request.cancel()
        await expectCancelled(request, task)
    }

    @Test func betweenAttempts() async {
        let requested = Deferred<Void>()
        let interceptor = Scripted(retrying: { _, answer in
            answer(.retryWithDelay(60))
            requested.fulfill(())
        })
        let transport = MockTransport { _ in .status(500) }
        let session = Session(interceptor: interceptor, transport: transport)
        let request = session.request("http://mock/").validate()
        let task = request.serializingResponse(using: Bytes())
        await requested.value
        request.cancel()
        await expectCancelled(request, task)
        #expect(transport.requests.count == 1)
        #expect(request.retryCount == 0)
    }

    @Test func duringSerialization() async {
        let serializing = DispatchSemaphore(value: 0)
        let entered = Deferred<Void>()
        let serializer = ClosureResponseSerializer<Data> { _, _, _, _ in
            entered.fulfill(())
            serializing.wait()
            return Data("serialized".utf8)
        }
        let session = Session(
            serializationQueue: DispatchQueue(label: "serialization"), transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: serializer)
        await entered.value
        request.cancel()
        serializing.signal()
        await expectCancelled(request, task)
    }

    @Test func cancellingTheWaitingTaskCancelsTheRequest() async {
        let entered = Deferred<Void>()
        let session = Session(
            transport: MockTransport { _ in
                entered.fulfill(())
                try await Task.sleep(for: .seconds(60))
                return .text("late")
            })
        let request = session.request("http://mock/")
        let waiting = Task { await request.serializingResponse(using: Bytes()).response }
        await entered.value
        waiting.cancel()
        #expect(await waiting.value.error?.isExplicitlyCancelledError == true)
        #expect(request.isCancelled)
    }

    @Test func automaticCancellationCanBeDisabled() async {
        let entered = Deferred<Void>()
        let proceed = Deferred<Void>()
        let session = Session(
            transport: MockTransport { _ in
                entered.fulfill(())
                await proceed.value
                return .text("ok")
            })
        let request = session.request("http://mock/")
        let waiting = Task {
            await request.serializingResponse(using: Bytes(), automaticallyCancelling: false).response
        }
        await entered.value
        waiting.cancel()
        proceed.fulfill(())
        #expect(await waiting.value.value == Data("ok".utf8))
    }

    @Test func aHandlerAddedToACancelledRequestReceivesTheError() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/")
        request.cancel()
        await expectCancelled(request, request.serializingResponse(using: Bytes()))
    }

    @Test func theErrorOfACancelledRequestIsAlwaysTheCancellation() async {
        let session = Session(
            transport: MockTransport { _ in
                await Task.yield()
                return .status(500)
            })
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let request = session.request("http://mock/").validate()
                    let task = request.serializingResponse(using: Bytes())
                    for _ in 0..<(number % 9) { await Task.yield() }
                    request.cancel()
                    let error = await task.response.error
                    #expect(request.isCancelled == (request.error?.isExplicitlyCancelledError == true))
                    #expect(request.isCancelled == (error?.isExplicitlyCancelledError == true))
                }
            }
        }
    }

    @Test func suspendingAndResumingConcurrentlyNeverBlocksARequest() async {
        let session = Session(
            transport: MockTransport { _ in
                await Task.yield()
                return .text("ok")
            })
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    let request = session.request("http://mock/")
                    let task = request.serializingResponse(using: Bytes())
                    await withTaskGroup(of: Void.self) { group in
                        for number in 0..<6 {
                            group.addTask { _ = number.isMultiple(of: 2) ? request.suspend() : request.resume() }
                        }
                    }
                    request.resume()
                    #expect(await task.response.value == Data("ok".utf8))
                }
            }
        }
    }

    @Test func thousandsOfRandomCancellationsCompleteOnce() async {
        let session = Session(
            transport: MockTransport { _ in
                await Task.yield()
                return .text("ok")
            })
        let queue = DispatchQueue(label: "handlers")
        let calls = Locked(Array(repeating: 0, count: 2_000))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    let request = session.request("http://mock/")
                        .response(queue: queue, responseSerializer: Bytes()) { _ in calls.withLock { $0[number] += 1 } }
                    let task = request.serializingResponse(using: Bytes())
                    for _ in 0..<(number % 7) { await Task.yield() }
                    request.cancel()
                    _ = await task.response
                }
            }
        }
        // After this, all handlers have been enqueued.
        await session.whenIdle()
        queue.sync {}
        #expect(calls.withLock { $0 } == Array(repeating: 1, count: 2_000))
    }
}

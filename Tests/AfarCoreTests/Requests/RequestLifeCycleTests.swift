import AfarTesting
import Foundation
import TestSupport
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Guarantees about starting, handlers and states, tested with a mock.
@Suite struct RequestLifeCycleTests {
    private let queue = DispatchQueue(label: "handlers")

    private func session(
        startRequestsImmediately: Bool = true, _ handler: @escaping MockTransport.Handler = { _ in .text("ok") }
    ) -> (Session, MockTransport) {
        let transport = MockTransport(handler)
        return (Session(startRequestsImmediately: startRequestsImmediately, transport: transport), transport)
    }

    @Test func theFirstHandlerStartsTheRequest() async {
        let (session, transport) = session()
        let request = session.request("http://mock/")
        #expect(request.isInitialized)
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(response.value == Data("ok".utf8))
        #expect(transport.requests.count == 1)
    }

    @Test func aLazySessionWaitsForResume() async {
        let (session, transport) = session(startRequestsImmediately: false)
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        #expect(request.isInitialized)
        #expect(transport.requests.isEmpty)
        request.resume()
        #expect(await task.response.value == Data("ok".utf8))
    }

    @Test func handlersAreCalledOnceInOrderOnTheirQueue() async {
        let (session, _) = session()
        let order = Locked<[Int]>([])
        let done = Deferred<Void>()
        let request = session.request("http://mock/")
        for number in 0..<5 {
            request.response(queue: queue) { response in
                dispatchPrecondition(condition: .onQueue(queue))
                order.withLock { $0.append(number) }
                #expect(response.data == Data("ok".utf8))
                if number == 4 { done.fulfill(()) }
            }
        }
        await done.value
        #expect(order.withLock { $0 } == [0, 1, 2, 3, 4])
    }

    @Test func handlersOnSeveralQueuesWaitForAllSerializers() async {
        let (session, _) = session(startRequestsImmediately: false)
        let events = Locked<[String]>([])
        let called = [Deferred<Void>(), Deferred<Void>(), Deferred<Void>()]
        let request = session.request("http://mock/")
        for (number, call) in called.enumerated() {
            let serializer = ClosureResponseSerializer<Int> { _, _, _, _ in
                events.withLock { $0.append("serialized") }
                return number
            }
            request.response(queue: DispatchQueue(label: "\(number)"), responseSerializer: serializer) { response in
                #expect(response.value == number)
                events.withLock { $0.append("called") }
                call.fulfill(())
            }
        }
        request.resume()
        for call in called { await call.value }
        #expect(events.withLock { $0 } == ["serialized", "serialized", "serialized", "called", "called", "called"])
    }

    @Test func handlersAddedByHandlersAreCalledLast() async {
        for _ in 0..<50 {
            let (session, transport) = session(startRequestsImmediately: false)
            let order = Locked<[Int]>([])
            let done = Deferred<Void>()
            let request = session.request("http://mock/")
            for number in 0..<4 {
                request.response(queue: queue) { _ in
                    order.withLock { $0.append(number) }
                    guard number == 0 else { return }
                    request.response(queue: queue) { response in
                        #expect(response.data == Data("ok".utf8))
                        order.withLock { $0.append(4) }
                        done.fulfill(())
                    }
                }
            }
            request.resume()
            await done.value
            #expect(order.withLock { $0 } == [0, 1, 2, 3, 4])
            #expect(transport.requests.count == 1)
        }
    }

    @Test func theMainQueueIsTheDefault() async {
        let (session, _) = session()
        let called = Deferred<Void>()
        session.request("http://mock/").response(queue: nil) { _ in
            dispatchPrecondition(condition: .onQueue(.main))
            called.fulfill(())
        }
        await called.value
    }

    @Test func aSerializerThatRequiresNoResponseSucceeds() async {
        let (session, _) = session { _ in .failure(.connectionLost) }
        let serializer = ClosureResponseSerializer<String> { _, _, _, error in error == nil ? "fresh" : "kept" }
        let request = session.request("http://mock/")
        #expect(await request.serializingResponse(using: serializer).response.value == "kept")
        #expect(request.error?.isSessionTaskError == true)
    }

    @Test func aFailedSerializationDoesNotSetTheRequestsError() async {
        struct Wrong: Error {}
        let (session, _) = session()
        let request = session.request("http://mock/")
        let failing = ClosureResponseSerializer<Data> { _, _, _, _ in throw Wrong() }
        let first = request.serializingResponse(using: failing)
        let second = request.serializingResponse(using: Bytes())
        #expect(await first.response.error?.underlyingError is Wrong)
        #expect(await second.response.value == Data("ok".utf8))
        #expect(request.error == nil)
    }

    @Test func validStateTransitions() {
        let states: [Request.State] = [.initialized, .resumed, .suspended, .cancelled, .finished]
        let allowed: [Request.State: [Request.State]] = [
            .initialized: [.resumed, .suspended, .cancelled, .finished],
            .resumed: [.suspended, .cancelled, .finished],
            .suspended: [.resumed, .cancelled, .finished],
            .cancelled: [],
            .finished: [],
        ]
        for state in states {
            #expect(states.filter(state.canTransition) == allowed[state], "\(state)")
        }
    }

    @Test func nothingIsCreatedBeforeTheStart() async {
        struct RecordingConvertible: URLRequestConvertible {
            let made: Locked<Bool>
            func asURLRequest() throws -> URLRequest {
                made.withLock { $0 = true }
                return try URLRequest(url: "http://mock/", method: .get)
            }
        }
        let (session, _) = session(startRequestsImmediately: false)
        let made = Locked(false)
        let request = session.request(RecordingConvertible(made: made))
        let task = request.serializingResponse(using: Bytes())
        #expect(!made.withLock { $0 })
        #expect(request.requests.isEmpty)
        request.resume()
        _ = await task.response
        #expect(made.withLock { $0 })
    }

    @Test func theDefaultQueueIsMain() async {
        let (session, _) = session()
        let called = Deferred<Void>()
        session.request("http://mock/").response { _ in
            dispatchPrecondition(condition: .onQueue(.main))
            called.fulfill(())
        }
        await called.value
    }

    @Test func aLateHandlerReceivesTheStoredDataWithoutANewRequest() async {
        let (session, transport) = session()
        let request = session.request("http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        let late = await request.serializingResponse(using: Bytes()).response
        #expect(late.value == Data("ok".utf8))
        #expect(late.response?.statusCode == 200)
        #expect(transport.requests.count == 1)
    }

    @Test func aFinishedRequestStaysFinished() async {
        let (session, _) = session()
        let request = session.request("http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        await session.whenIdle()
        #expect(request.isFinished)
        request.cancel()
        #expect(request.isFinished)
        #expect(request.error == nil)
    }

    @Test func aRequestIsFinishedWhenItsHandlersAreCalled() async {
        let (session, _) = session()
        let request = session.request("http://mock/")
        let wasFinished = Deferred<Bool>()
        request.response(queue: queue) { _ in wasFinished.fulfill(request.isFinished) }
        #expect(await wasFinished.value)
    }

    @Test func handlersAreReleasedAfterTheirCall() async {
        final class Held: Sendable {}
        let (session, _) = session()
        let request = session.request("http://mock/")
        weak var held: Held?
        do {
            let object = Held()
            held = object
            request.response(queue: queue) { _ in _ = object }
        }
        await session.whenIdle()
        queue.sync {}
        #expect(held == nil)
        #expect(request.isFinished)
    }

    @Test func aSuspendedRequestWaitsUntilItIsResumed() async {
        let (session, transport) = session()
        let request = session.request("http://mock/").suspend()
        let task = request.serializingResponse(using: Bytes())
        #expect(request.isSuspended)
        #expect(transport.requests.isEmpty)
        request.resume()
        #expect(await task.response.value == Data("ok".utf8))
    }

    @Test func anInvalidURLReportsTheErrorToItsHandlers() async {
        let (session, transport) = session()
        let response = await session.request("no url at all").serializingResponse(using: Bytes()).response
        #expect(response.error?.isInvalidURLError == true)
        #expect(transport.requests.isEmpty)
    }

    @Test func metricsAndTimelineAreAvailable() async throws {
        let (session, _) = session()
        let request = session.request("http://mock/")
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(response.metrics?.transactionMetrics.count == 1)
        #expect(request.allMetrics.count == 1)
        let timeline = response.timeline
        #expect(timeline.requestStartTime <= timeline.initialResponseTime)
        #expect(timeline.initialResponseTime <= timeline.requestCompletedTime)
        #expect(timeline.requestCompletedTime <= timeline.serializationCompletedTime)
    }

    @Test func theSerializationQueueIsUsed() async {
        let serialization = DispatchQueue(label: "serialization")
        let session = Session(
            serializationQueue: serialization, transport: MockTransport { _ in .text("ok") })
        let serializer = ClosureResponseSerializer<Int> { _, _, data, _ in
            dispatchPrecondition(condition: .onQueue(serialization))
            return data?.count ?? 0
        }
        #expect(await session.request("http://mock/").serializingResponse(using: serializer).response.value == 2)
    }

    @Test func releasingTheSessionFailsItsRequests() async {
        let entered = Deferred<Void>()
        var (session, _): (Session?, MockTransport) = session { _ in
            entered.fulfill(())
            try await Task.sleep(for: .seconds(60))
            return .text("never")
        }
        let request = session?.request("http://mock/")
        let task = request?.serializingResponse(using: Bytes())
        await entered.value
        session = nil
        let response = await task?.response
        guard case .sessionDeinitialized = response?.error else {
            Issue.record("not sessionDeinitialized: \(String(describing: response?.error))")
            return
        }
    }

    @Test func anInvalidatedSessionRejectsNewRequestsWithItsReason() async {
        struct Reason: Error {}
        let (session, transport) = session()
        session.invalidate(with: Reason())
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        guard case .sessionInvalidated(let error) = response.error else {
            Issue.record("not sessionInvalidated: \(String(describing: response.error))")
            return
        }
        #expect(error is Reason)
        #expect(transport.requests.isEmpty)
    }

    /// A serializer that accesses its request during deallocation, as user code can.
    private final class RetainingSerializer: DataResponseSerializerProtocol {
        let request = Locked<DataRequest?>(nil)
        /// Whether the request was accessible.
        let seen: Deferred<Bool>

        init(seen: Deferred<Bool>) { self.seen = seen }

        deinit {
            // On another thread, a held lock fails the test instead of blocking it.
            let isSeen = DispatchSemaphore(value: 0)
            let request = request.withLock { $0 }
            DispatchQueue(label: "looking back").async {
                _ = request?.state
                isSeen.signal()
            }
            seen.fulfill(isSeen.wait(timeout: .now() + 5) == .success)
        }

        func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws {}
    }

    @Test func serializersAreReleasedOutsideTheLock() async {
        let (session, _) = session()
        let seen = Deferred<Bool>()
        let request = session.request("http://mock/")
        do {
            let serializer = RetainingSerializer(seen: seen)
            serializer.request.withLock { $0 = request }
            request.response(queue: queue, responseSerializer: serializer) { _ in }
        }
        #expect(await seen.value)
    }

    @Test func anErrorReplacedByACancellationIsReleasedOutsideTheLock() async {
        struct Reason: Error {
            let probe: DeinitProbe
        }
        let (session, _) = session()
        let didLook = Deferred<Bool>()
        let request = session.request("http://mock/")
        request.validate { [weak request] _, _, _ in
            request?.cancel()
            return .failure(Reason(probe: DeinitProbe(didLook) { [weak request] in _ = request?.state }))
        }
        request.response(queue: queue) { _ in }
        #expect(await didLook.value)
    }
}

/// A serializer that returns the bytes unchanged, including empty data.
struct Bytes: DataResponseSerializerProtocol {
    func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws -> Data {
        if let error { throw error }
        return data ?? Data()
    }
}

import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Each step can complete synchronously or asynchronously, with the same result.
@Suite(.timeLimit(.minutes(1))) struct RequestPipelineTests {
    /// The steps that complete asynchronously.
    struct Later: OptionSet {
        let rawValue: Int

        static let resumption = Later(rawValue: 1 << 0)
        static let adapter = Later(rawValue: 1 << 1)
        static let response = Later(rawValue: 1 << 2)
        static let headDisposition = Later(rawValue: 1 << 3)
        static let retrier = Later(rawValue: 1 << 4)
        /// The steps with a custom queue.
        static let queues = Later(rawValue: 1 << 5)
        static let all = 0..<(1 << 6)
    }

    private func steps(later: Later) async -> [String] {
        let noted = Locked<[String]>([])
        let note: @Sendable (String) -> Void = { step in noted.withLock { $0.append(step) } }
        @Sendable func answer(_ step: String, _ isLater: Bool, _ answer: @escaping @Sendable () -> Void) {
            note(step)
            if isLater { DispatchQueue.global().async(execute: answer) } else { answer() }
        }
        let transport = MockTransport { request in
            note("send")
            if later.contains(.response) {
                await withCheckedContinuation { waiting in DispatchQueue.global().async { waiting.resume() } }
            }
            return .text("ok")
        }
        let queue = later.contains(.queues) ? DispatchQueue(label: "steps") : nil
        let session = Session(
            startRequestsImmediately: !later.contains(.resumption), requestQueue: queue, serializationQueue: queue,
            transport: transport)
        let interceptor = Interceptor(
            adapters: [
                Adapter { urlRequest, _, completion in
                    answer("adapter", later.contains(.adapter)) { completion(.success(urlRequest)) }
                }
            ],
            retriers: [
                Retrier { request, _, _, completion in
                    let mayRetry = request.retryCount == 0
                    answer("retrier", later.contains(.retrier)) { completion(mayRetry ? .retry : .doNotRetry) }
                }
            ])
        let request = session.request(
            "http://mock/", interceptor: interceptor, requestModifier: { _ in note("modifier") }
        )
        .onHTTPResponse(on: DispatchQueue(label: "heads")) { _, completion in
            answer("head", later.contains(.headDisposition)) { completion(.allow) }
        }
        .validate { _, _, _ in
            note("validator")
            return .failure(AFError.explicitlyCancelled)
        }
        let serializer = ClosureResponseSerializer<Bool> { _, _, _, _ in
            note("serializer")
            return true
        }
        let task = request.serializingResponse(using: serializer)
        if later.contains(.resumption) { request.resume() }
        _ = await task.response
        return noted.withLock { $0 }
    }

    @Test func synchronousAndAsynchronousStepsAreEquivalent() async {
        let attempt = ["modifier", "adapter", "send", "head", "validator", "retrier"]
        for rawValue in Later.all {
            #expect(await steps(later: Later(rawValue: rawValue)) == attempt + attempt + ["serializer"], "\(rawValue)")
        }
    }

    /// Retries don't recurse, even if both the request's failure and the retrier are synchronous.
    @Test func manyAttemptsTakeNoStack() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let retrier = Retrier { request, _, _, completion in
            completion(request.retryCount < 20_000 ? .retry : .doNotRetry)
        }
        let request = session.request("no URL at all", interceptor: retrier)
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(request.retryCount == 20_000)
    }

    /// The caller of `resume()` can hold a lock that user code acquires.
    @Test(arguments: [false, true]) func resumeCallsNoUserCode(hasStage: Bool) async {
        struct Locking: ExchangeStage {
            let lock: NSLock

            func begin(_ hop: Hop) -> (any StageRun)? {
                lock.withLock {}
                return nil
            }
        }
        let lock = NSLock()
        let session = Session(
            startRequestsImmediately: false, stages: hasStage ? [Locking(lock: lock)] : [],
            transport: MockTransport { _ in .text("ok") })
        let serializer = ClosureResponseSerializer<Bool> { _, _, _, _ in
            lock.withLock {}
            return true
        }
        for _ in 0..<100 {
            let request = session.request("http://mock/").validate { _, _, _ in
                lock.withLock {}
                return .success
            }
            let task = request.serializingResponse(using: serializer)
            lock.withLock { _ = request.resume() }
            #expect(await task.response.value == true)
        }
    }

    /// No asynchronous step precedes the failure of this request.
    @Test func resumeCallsNoUserCodeIfTheRequestFailsImmediately() async {
        let session = Session(startRequestsImmediately: false, transport: MockTransport { _ in .text("ok") })
        let isInside = "isInsideResume"
        let serializer = ClosureResponseSerializer<Bool> { _, _, _, _ in
            Thread.current.threadDictionary[isInside] == nil
        }
        for _ in 0..<2000 {
            let request = session.request("no URL at all")
            let task = request.serializingResponse(using: serializer)
            func resume() {
                Thread.current.threadDictionary[isInside] = true
                request.resume()
                Thread.current.threadDictionary[isInside] = nil
            }
            resume()
            #expect(await task.response.value == true)
        }
    }

    /// Cancellation doesn't wait for the session's queues.
    @Test func cancellationEndsTheWaitForAnAdapterOnABlockedQueue() async {
        let queue = DispatchQueue(label: "requests")
        let session = Session(requestQueue: queue, transport: MockTransport { _ in .text("ok") })
        let isAsked = Deferred<Void>()
        let adapter = Adapter { urlRequest, _, completion in completion(.success(urlRequest)) }
        let request = session.request("http://mock/", interceptor: adapter) { _ in
            queue.suspend()
            isAsked.fulfill(())
        }
        let task = request.serializingResponse(using: Bytes())
        await isAsked.value
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        queue.resume()
    }

    /// A listener that ignores its cancellation doesn't block the request.
    @Test func cancellationEndsTheWaitForAListenerThatIgnoresIt() async {
        let (requested, answered) = (Deferred<Void>(), Deferred<Void>())
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/").onHTTPResponse { (_: HTTPURLResponse) async -> Void in
            requested.fulfill(())
            await answered.value
        }
        let task = request.serializingResponse(using: Bytes())
        await requested.value
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        answered.fulfill(())
    }

    /// A result that arrives too late is released while no lock is held.
    @Test func aLateResultCanAccessTheRequestWhenReleased() async {
        struct Held: Error {
            final class ReleaseProbe: Sendable {
                let request: Request
                let state: Deferred<Request.State>

                init(_ request: Request, _ state: Deferred<Request.State>) {
                    self.request = request
                    self.state = state
                }

                deinit { state.fulfill(request.state) }
            }

            let probe: ReleaseProbe
        }
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let state = Deferred<Request.State>()
        let retrier = Retrier { request, _, _, completion in
            completion(.doNotRetry)
            completion(.doNotRetryWithError(Held(probe: Held.ReleaseProbe(request, state))))
        }
        _ = await session.request("no URL at all", interceptor: retrier).serializingResponse(using: Bytes()).response
        #expect(await state.value == .resumed)
    }
}

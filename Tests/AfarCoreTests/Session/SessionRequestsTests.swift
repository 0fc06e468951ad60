import AfarTesting
import Foundation
import Testing

@testable import AfarCore

/// Operations on all requests of a session.
@Suite struct SessionRequestsTests {
    private let queue = DispatchQueue(label: "completion")

    private func session() -> Session {
        Session(
            transport: MockTransport { _ in
                try await Task.sleep(for: .seconds(60))
                return .text("late")
            })
    }

    private func all(of session: Session) async -> Set<Request> {
        let all = Deferred<Set<Request>>()
        session.withAllRequests { requests in
            dispatchPrecondition(condition: .onQueue(session.rootQueue))
            all.fulfill(requests)
        }
        return await all.value
    }

    @Test func startedRequestsAreListed() async {
        let session = session()
        let waiting = session.request("http://mock/waiting", shouldAutomaticallyResume: false)
        let running = (1...3).map { session.request("http://mock/\($0)").resume() }
        #expect(await all(of: session) == Set(running))
        for request in running { request.cancel() }
        await session.whenIdle()
        #expect(await all(of: session).isEmpty)
        #expect(waiting.isInitialized)
    }

    @Test func allAreCancelledAndThenTheCompletionIsCalled() async {
        let session = session()
        let order = Locked<[String]>([])
        let requests = (1...20).map { number in
            session.request("http://mock/\(number)").response(queue: queue) { response in
                order.withLock { $0.append("\(response.error?.isExplicitlyCancelledError == true)") }
            }
        }
        let done = Deferred<Void>()
        session.cancelAllRequests(completingOnQueue: queue) {
            order.withLock { $0.append("done") }
            done.fulfill(())
        }
        await done.value
        #expect(order.withLock { $0 } == Array(repeating: "true", count: 20) + ["done"])
        #expect(requests.allSatisfy { $0.isCancelled })
    }

    @Test func withoutRequestsTheCompletionIsCalledImmediately() async {
        let session = session()
        let done = Deferred<Void>()
        session.cancelAllRequests(completingOnQueue: queue) { done.fulfill(()) }
        await done.value
        session.cancelAllRequests()
    }

    @Test func requestsOfAnotherSessionAreNotCancelled() async {
        let delegate = SessionDelegate()
        let transport = MockTransport { _ in .text("ok") }
        let (one, other) = (
            Session(delegate: delegate, transport: transport), Session(delegate: delegate, transport: transport)
        )
        let request = other.request("http://mock/", shouldAutomaticallyResume: false)
        let task = request.serializingResponse(using: Bytes())
        request.suspend()
        request.startPipeline()
        one.cancelAllRequests()
        request.resume()
        #expect(await task.response.error == nil)
    }
}

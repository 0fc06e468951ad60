import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Notifications to monitors, and their cost.
@Suite struct RequestEventsTests {
    /// A monitor that records the stages of requests.
    private final class Stages: @unchecked Sendable {
        // Sendable because the monitor is configured before use.
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "stages"))
        private let noted = Locked<[String]>([])

        init() {
            monitor.requestDidResume = { [noted] _ in noted.withLock { $0.append("resume") } }
            monitor.requestDidSuspend = { [noted] _ in noted.withLock { $0.append("suspend") } }
            monitor.requestDidCancel = { [noted] _ in noted.withLock { $0.append("cancel") } }
            monitor.requestDidResumeTask = { [noted] _, _ in noted.withLock { $0.append("resume task") } }
            monitor.requestDidSuspendTask = { [noted] _, _ in noted.withLock { $0.append("suspend task") } }
            monitor.requestDidCancelTask = { [noted] _, _ in noted.withLock { $0.append("cancel task") } }
            monitor.requestDidCreateInitialURLRequest = { [noted] _, _ in noted.withLock { $0.append("initial") } }
            monitor.requestDidFailToCreateURLRequestWithError = { [noted] _, error in
                noted.withLock {
                    $0.append("no request \(error.isInvalidURLError || error.isURLRequestValidationError)")
                }
            }
            monitor.requestDidFailToAdaptURLRequestWithError = { [noted] _, _, error in
                noted.withLock { $0.append("not adapted \(error.isRequestAdaptationError)") }
            }
            monitor.requestDidCreateUploadable = { [noted] _, _ in noted.withLock { $0.append("uploadable") } }
            monitor.requestDidFailToCreateUploadableWithError = { [noted] _, error in
                noted.withLock { $0.append("no uploadable \(error.isCreateUploadableError)") }
            }
            monitor.requestDidCreateURLRequest = { [noted] _, _ in noted.withLock { $0.append("final") } }
            monitor.requestDidCreateTask = { [noted] _, _ in noted.withLock { $0.append("task") } }
            monitor.requestDidFailTaskEarlyWithError = { [noted] _, _, error in
                noted.withLock { $0.append("early \(error.isResponseValidationError)") }
            }
            monitor.requestDidCompleteTaskWithError = { [noted] _, _, error in
                noted.withLock { $0.append("complete \(error == nil)") }
            }
            monitor.requestIsRetrying = { [noted] _ in noted.withLock { $0.append("retry") } }
            monitor.requestDidFinish = { [noted] _ in noted.withLock { $0.append("finish") } }
            monitor.requestDidFinishDownloadingUsingTaskWithResult = { [noted] _, _, result in
                noted.withLock { $0.append("moved \(result.error == nil)") }
            }
        }

        var all: [String] {
            monitor.queue.sync {}
            return noted.withLock { $0 }
        }
    }

    private static let made = ["initial", "final", "task", "resume task"]
    private let stages = Stages()
    /// Retains the sessions, because requests end when their session is deallocated.
    private let sessions = Locked<[Session]>([])

    private func session(
        interceptor: (any RequestInterceptor)? = nil, _ handler: @escaping MockTransport.Handler = { _ in .text("ok") }
    ) -> Session {
        let session = Session(
            interceptor: interceptor, eventMonitors: [stages.monitor], transport: MockTransport(handler))
        sessions.withLock { $0.append(session) }
        return session
    }

    // MARK: No listeners

    @Test func withoutMonitorsNothingIsCreated() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        let (tasks, sent) = request.mutable.withLock { ($0.observers?.tasks.count ?? 0, $0.attempt.sent != nil) }
        #expect(tasks == 0)
        #expect(!sent)
        #expect(ExchangeEvents.make(of: request) == nil)
    }

    @Test func aMonitoredRequest() async {
        let request = session().request("http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(stages.all == ["resume"] + Self.made + ["complete true", "finish"])
    }

    @Test func eachAttemptHasOneTask() async {
        let reported = Locked<[ObjectIdentifier]>([])
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "tasks"))
        monitor.requestDidCreateTask = { _, task in reported.withLock { $0.append(ObjectIdentifier(task)) } }
        monitor.taskDidComplete = { _, task, _ in reported.withLock { $0.append(ObjectIdentifier(task)) } }
        monitor.requestDidCompleteTaskWithError = { _, task, _ in
            reported.withLock { $0.append(ObjectIdentifier(task)) }
        }
        let request = session().request("http://mock/").eventMonitor(monitor)
        _ = await request.serializingResponse(using: Bytes()).response
        monitor.queue.sync {}
        #expect(reported.withLock { $0 } == Array(repeating: request.task.map(ObjectIdentifier.init), count: 3))
    }

    // MARK: One request

    @Test func aRequestsMonitorIsNotifiedAfterTheSessions() async {
        let order = Locked<[String]>([])
        let queue = DispatchQueue(label: "order")
        func monitor(_ name: String) -> ClosureEventMonitor {
            let monitor = ClosureEventMonitor(queue: queue)
            monitor.requestDidFinish = { _ in order.withLock { $0.append(name) } }
            return monitor
        }
        let session = Session(eventMonitors: [monitor("session")], transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/").eventMonitor(monitor("one")).eventMonitor(monitor("two"))
        _ = await request.serializingResponse(using: Bytes()).response
        _ = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        queue.sync {}
        #expect(order.withLock { $0 } == ["session", "one", "two", "session"])
    }

    // MARK: Failures

    @Test func ofAnInvalidURL() async {
        _ = await session().request("").serializingResponse(using: Bytes()).response
        #expect(stages.all == ["resume", "no request true", "finish"])
    }

    @Test func ofAGETWithABody() async throws {
        var urlRequest = try URLRequest(url: "http://mock/", method: .get)
        urlRequest.httpBody = Data("body".utf8)
        _ = await session().request(urlRequest).serializingResponse(using: Bytes()).response
        #expect(stages.all == ["resume", "no request true", "finish"])
    }

    @Test func ofAFailingAdapter() async {
        let interceptor = Scripted(adapting: { _, answer in answer(.failure(CocoaError(.featureUnsupported))) })
        _ = await session(interceptor: interceptor).request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(stages.all == ["resume", "initial", "not adapted true", "finish"])
    }

    @Test func ofAFailingBody() async {
        struct Broken: UploadConvertible {
            func createUploadable() throws -> UploadRequest.Uploadable { throw CocoaError(.fileNoSuchFile) }
            func asURLRequest() throws -> URLRequest { try URLRequest(url: "http://mock/", method: .post) }
        }
        _ = await session().upload(Broken()).serializingResponse(using: Bytes()).response
        #expect(stages.all == ["resume", "initial", "no uploadable true", "finish"])
    }

    @Test func ofAFailingValidator() async {
        _ = await session { _ in .status(500) }.request("http://mock/").validate()
            .serializingResponse(using: Bytes()).response
        #expect(stages.all == ["resume"] + Self.made + ["complete true", "finish"])
    }

    @Test func ofAStreamWithAnInvalidHead() async {
        let request = session { _ in .text("no", status: 500) }.streamRequest("http://mock/").validate()
        for await _ in request.streamTask().streamingData() {}
        #expect(stages.all == ["resume"] + Self.made + ["early true", "complete false", "finish"])
    }

    @Test func ofAFileThatCannotBeMoved() async {
        let request = session().download("http://mock/", to: { _, _ in (URL(fileURLWithPath: "/proc/none"), []) })
        let error = await request.serializingDownloadedFileURL().response.error
        #expect(stages.all == ["resume"] + Self.made + ["moved false", "complete true", "finish"])
        if let file = error?.sourceURL { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
    }

    @Test func ofARetriedSerializer() async {
        struct Refusing: DataResponseSerializerProtocol {
            func serialize(
                request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
            ) throws -> Data { throw CocoaError(.coderReadCorrupt) }
        }
        let interceptor = Scripted(retrying: { request, answer in
            answer(request.retryCount == 0 ? .retry : .doNotRetry)
        })
        _ = await session(interceptor: interceptor).request("http://mock/").serializingResponse(using: Refusing())
            .response
        #expect(
            stages.all == ["resume"] + Self.made + ["complete true", "finish", "retry"] + Self.made
                + ["complete true", "finish"])
    }

    // MARK: States

    @Test func ofCancellationBeforeTheStart() async {
        let request = session().request("http://mock/", shouldAutomaticallyResume: false)
        let task = request.serializingResponse(using: Bytes())
        request.cancel()
        _ = await task.response
        #expect(stages.all == ["cancel", "finish"])
    }

    @Test func ofSuspendingInFlight() async {
        let gate = Deferred<Void>()
        let request = session { _ in
            await gate.value
            return .text("ok")
        }.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        request.suspend()
        request.suspend()
        request.resume()
        gate.fulfill(())
        _ = await task.response
        #expect(
            stages.all == ["resume"] + Self.made + ["suspend", "suspend task", "resume", "resume task"]
                + ["complete true", "finish"])
    }

    @Test func ofSuspendingBeforeTheTaskExists() async {
        let adapting = Deferred<Void>()
        let proceed = Deferred<Void>()
        let interceptor = Scripted(adapting: { urlRequest, answer in
            adapting.fulfill(())
            Task {
                await proceed.value
                answer(.success(urlRequest))
            }
        })
        let request = session(interceptor: interceptor).request("http://mock/")
        var tasks = request.urlSessionTasks().makeAsyncIterator()
        let task = request.serializingResponse(using: Bytes())
        await adapting.value
        request.suspend()
        proceed.fulfill(())
        #expect(await tasks.next()?.state == .suspended)
        request.resume()
        _ = await task.response
        #expect(
            stages.all == ["resume", "initial", "suspend", "final", "task", "suspend task", "resume", "resume task"]
                + ["complete true", "finish"])
    }

    @Test func noEventFollowsTheFinish() async {
        // Cancellation races with the response.
        for _ in 0..<200 {
            let stages = Stages()
            let session = Session(eventMonitors: [stages.monitor], transport: MockTransport { _ in .text("ok") })
            let request = session.request("http://mock/")
            async let response = request.serializingResponse(using: Bytes()).response
            async let cancelled = Task.detached { request.cancel() }.value
            _ = await (response, cancelled)
            let reported = stages.all
            #expect(reported.last == "finish" || reported.suffix(2) == ["finish", "cancel"], "\(reported)")
            #expect(reported.count(where: { $0 == "cancel" }) == (request.isCancelled ? 1 : 0))
        }
    }

    @Test(.timeLimit(.minutes(1))) func aMonitorsQueueCanAccessTheRequest() {
        struct Monitor: EventMonitor {
            weak let request: Request?

            var queue: DispatchQueue { DispatchQueue(label: "monitor.\(request?.id.uuidString ?? "")") }
        }
        let request = Session(transport: MockTransport { _ in .text("ok") }).request("http://mock/")
        request.eventMonitor(Monitor(request: request)).eventMonitor(Monitor(request: request))
        #expect(request.events?.monitors.count(where: { $0 is Monitor }) == 2)
    }
}

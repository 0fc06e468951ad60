import AfarTesting
import Foundation
import TestSupport
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests as Foundation tasks.
@Suite struct RequestTaskTests {
    private let queue = DispatchQueue(label: "tasks")

    private static let tenBytes = MockResponse.data(Data("0123456789".utf8))

    /// Creates a session in which the first attempt of every request is interrupted after four bytes.
    private func retryingSession() -> Session {
        let attempts = Locked(0)
        let transport = MockTransport { _ in
            var response = Self.tenBytes
            let isFirst = attempts.withLock { attempts in
                attempts += 1
                return attempts == 1
            }
            if isFirst {
                response.chunkSize = 4
                response.failure = .connectionLost
                response.bytesBeforeFailure = 4
            }
            return response
        }
        let interceptor = Scripted(
            adapting: { urlRequest, answer in
                var urlRequest = urlRequest
                urlRequest.setValue("\(attempts.withLock { $0 })", forHTTPHeaderField: "Attempt")
                answer(.success(urlRequest))
            },
            retrying: { request, answer in answer(request.retryCount == 0 ? .retry : .doNotRetry) })
        return Session(interceptor: interceptor, transport: transport)
    }

    @Test func tasksAreCreatedLazily() async {
        let session = retryingSession()
        let request = session.request("http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(request.mutable.withLock { $0.observers == nil })
        #expect(request.tasks.count == 2)
    }

    @Test func noTaskExistsBeforeTheStart() {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/")
        #expect(request.tasks.isEmpty)
        #expect(request.task == nil)
        #expect(request.firstTask == nil)
    }

    @Test func eachAttemptHasOneTask() async throws {
        let session = retryingSession()
        let reported = Locked<[URLSessionTask]>([])
        let request = session.request("http://mock/").onURLSessionTaskCreation(on: queue) { task in
            reported.withLock { $0.append(task) }
        }
        var iterator = request.urlSessionTasks().makeAsyncIterator()
        let response = request.serializingResponse(using: Bytes())
        var tasks: [URLSessionTask] = []
        while let task = await iterator.next() { tasks.append(task) }
        #expect(await response.response.error == nil)
        queue.sync {}

        #expect(tasks.count == 2)
        #expect(reported.withLock { $0 } == tasks)
        #expect(request.tasks == tasks)
        #expect(request.firstTask == tasks.first)
        #expect(request.task == tasks.last)
        #expect(tasks.map { $0.originalRequest?.value(forHTTPHeaderField: "Attempt") } == ["0", "1"])
        #expect(tasks[0].taskIdentifier != tasks[1].taskIdentifier)
        #expect(tasks.allSatisfy { $0.state == .completed })
        #expect(tasks[0].countOfBytesReceived == 4)
        #expect((tasks[0].error as? URLError)?.code == .networkConnectionLost)
        #expect(tasks[1].error == nil)
        #expect((tasks[1].response as? HTTPURLResponse)?.statusCode == 200)
        #expect(tasks[1].countOfBytesReceived == 10)
        #expect(tasks[1].countOfBytesExpectedToReceive == 10)
        #expect(tasks[1].progress.fractionCompleted == 1)
    }

    @Test func aTaskCreatedAtTheEndHasTheFinalValues() async {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let request = session.upload(Data("12345".utf8), to: "http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        let task = request.task
        #expect(task?.state == .completed)
        #expect((task?.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(task?.currentRequest?.url?.absoluteString == "http://mock/")
        #expect(task?.countOfBytesSent == 5)
        #expect(task?.countOfBytesReceived == 10)
        #expect(task === request.lastTask)
        let reported = Locked<URLSessionTask?>(nil)
        request.onURLSessionTaskCreation(on: queue) { task in reported.withLock { $0 = task } }
        queue.sync {}
        #expect(reported.withLock { $0 } === task)
        #expect(await request.urlSessionTasks().reduce(into: []) { $0.append($1) } == [task])
    }

    @Test func aTaskOfAnEarlierAttemptKeepsItsValues() async {
        let session = retryingSession()
        let request = session.request("http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(request.tasks.map(\.state) == [.completed, .completed])
        #expect(request.tasks.first?.response == nil)
        #expect((request.tasks.last?.response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test func tasksControlTheirRequests() async throws {
        let session = Session(
            transport: MockTransport { _ in
                try await Task.sleep(for: .seconds(60))
                return .text("late")
            })
        let request = session.request("http://mock/")
        var tasks = request.urlSessionTasks().makeAsyncIterator()
        let response = request.serializingResponse(using: Bytes())
        let task = try #require(await tasks.next())
        #expect(task.state == .running)
        task.suspend()
        #expect(request.isSuspended)
        #expect(task.state == .suspended)
        task.resume()
        #expect(request.isResumed)
        #expect(task.state == .running)
        #expect(task.response == nil)
        task.cancel()
        #expect(request.isCancelled)
        #expect(task.state != .running)
        #expect(await response.response.error?.isExplicitlyCancelledError == true)
        #expect(task.state == .completed)
        #expect((task.error as? URLError)?.code == .cancelled)
        #expect(await tasks.next() == nil)
    }

    @Test func validationErrorsDoNotSetTheTasksError() async {
        let session = Session(transport: MockTransport { _ in .status(500) })
        let request = session.request("http://mock/").validate()
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(response.error?.isResponseValidationError == true)
        #expect(request.task?.error == nil)
        #expect((request.task?.response as? HTTPURLResponse)?.statusCode == 500)
    }

    @Test func aTaskDoesNotRetainItsRequest() async {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        weak var weakRequest: Request?
        var task: URLSessionTask?
        do {
            let request = session.request("http://mock/")
            weakRequest = request
            var tasks = request.urlSessionTasks().makeAsyncIterator()
            request.resume()
            task = await tasks.next()
            #expect(await tasks.next() == nil)
        }
        // The thread that ended the request can still be releasing it.
        let end = ContinuousClock.now + .seconds(10)
        try? await waitWhile { weakRequest != nil && ContinuousClock.now < end }
        #expect(weakRequest == nil)
        #expect((task?.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(task?.state == .completed)
        #expect(task?.countOfBytesReceived == 10)
        task?.cancel()
        #expect(task?.error == nil)
    }

    @Test func aTasksPropertiesCanBeSet() async {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let request = session.request("http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        request.task?.taskDescription = "mine"
        request.task?.priority = URLSessionTask.highPriority
        #expect(request.task?.taskDescription == "mine")
        #expect(request.task?.priority == URLSessionTask.highPriority)
    }

    @Test func concurrentCallersGetTheSameTask() async {
        let session = Session(transport: MockTransport { _ in Self.tenBytes })
        let request = session.request("http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        let identifiers = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<50 { group.addTask { request.task?.taskIdentifier } }
            return await group.reduce(into: Set<Int?>()) { $0.insert($1) }
        }
        #expect(identifiers.count == 1)
        #expect(!identifiers.contains(nil))
    }
}

import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Notifications about requests. The first use of a notification's name affects all sessions of a process, so each test
/// runs in its own process.
@Suite struct RequestNotificationsTests {
    /// Records the names of the notifications about one request.
    private final class Observer: Sendable {
        private struct Token: @unchecked Sendable {
            // Sendable because the token is only passed back.
            let token: any NSObjectProtocol
        }

        private let names = Locked<[Notification.Name]>([])
        private let tokens = Locked<[Token]>([])

        init(of request: Request, _ observed: [Notification.Name]) {
            for name in observed {
                let token = NotificationCenter.default.addObserver(
                    forName: name, object: request, queue: nil
                ) { [names] notification in
                    #expect(notification.request === request)
                    names.withLock { $0.append(notification.name) }
                }
                tokens.withLock { $0.append(Token(token: token)) }
            }
        }

        var all: [Notification.Name] { names.withLock { $0 } }

        func end() {
            for token in tokens.withLock({ $0 }) { NotificationCenter.default.removeObserver(token.token) }
        }
    }

    @Test func notificationsArePostedAfterTheirNameIsUsed() async {
        await #expect(processExitsWith: .success) {
            let session = Session(transport: MockTransport { _ in .text("body") })
            let request = session.request("http://mock/", shouldAutomaticallyResume: false)
            #expect(request.events == nil, "no name has been used")
            let observer = Observer(
                of: request,
                [
                    Request.didResumeNotification, Request.didResumeTaskNotification,
                    Request.didCompleteTaskNotification,
                    Request.didFinishNotification,
                ])
            #expect(request.events != nil)
            request.resume()
            _ = await request.serializingResponse(using: Bytes()).response
            RequestNotifications.defaultQueue.sync {}
            #expect(
                observer.all == [
                    Request.didResumeNotification, Request.didResumeTaskNotification,
                    Request.didCompleteTaskNotification,
                    Request.didFinishNotification,
                ])
            observer.end()
        }
    }

    /// With Foundation on Linux, posting a notification blocks until observers on the main queue have returned.
    @Test func anObserverCanBeCalledOnTheMainQueue() async {
        await #expect(processExitsWith: .success) {
            let session = Session(transport: MockTransport { _ in .text("body") })
            let isCalled = Deferred<Void>()
            nonisolated(unsafe) let token = NotificationCenter.default.addObserver(
                forName: Request.didFinishNotification, object: nil, queue: .main
            ) { _ in
                dispatchPrecondition(condition: .onQueue(.main))
                isCalled.fulfill(())
            }
            _ = await session.request("http://mock/").serializingResponse(using: Bytes()).response
            await isCalled.value
            NotificationCenter.default.removeObserver(token)
        }
    }

    @Test func aSessionsMonitorPostsOnItsQueueInstead() async {
        await #expect(processExitsWith: .success) {
            let queue = DispatchQueue(label: "notifications")
            let session = Session(
                eventMonitors: [RequestNotifications(queue: queue)], transport: MockTransport { _ in .text("body") })
            let request = session.request("http://mock/")
            nonisolated(unsafe) let token = NotificationCenter.default.addObserver(
                forName: Request.didFinishNotification, object: request, queue: nil
            ) { _ in dispatchPrecondition(condition: .onQueue(queue)) }
            let observer = Observer(of: request, [Request.didFinishNotification])
            _ = await request.serializingResponse(using: Bytes()).response
            queue.sync {}
            #expect(observer.all == [Request.didFinishNotification])
            NotificationCenter.default.removeObserver(token)
            observer.end()
        }
    }

    @Test func theOlderNamesReportTasks() async {
        await #expect(processExitsWith: .success) {
            let gate = Deferred<Void>()
            let session = Session(
                transport: MockTransport { _ in
                    await gate.value
                    return .text("body")
                })
            let request = session.request("http://mock/")
            let names: [Notification.Name] = [
                Request.didResumeTaskNotification, Request.didSuspendTaskNotification,
                Request.didCancelTaskNotification, Request.didCompleteTaskNotification,
            ]
            let observer = Observer(of: request, names)
            let data = Locked<Data?>(nil)
            let task = Locked<Int?>(nil)
            nonisolated(unsafe) let token = NotificationCenter.default.addObserver(
                forName: Request.didCompleteTaskNotification, object: request, queue: nil
            ) { notification in
                data.withLock { $0 = notification.userInfo?[Notification.Key.ResponseData] as? Data }
                task.withLock {
                    $0 = (notification.userInfo?[Notification.Key.Task] as? URLSessionTask)?.taskIdentifier
                }
            }
            let response = request.serializingResponse(using: Bytes())
            request.suspend()
            request.resume()
            gate.fulfill(())
            _ = await response.response
            RequestNotifications.defaultQueue.sync {}
            #expect(
                observer.all == [
                    Request.didResumeTaskNotification, Request.didSuspendTaskNotification,
                    Request.didResumeTaskNotification, Request.didCompleteTaskNotification,
                ])
            #expect(data.withLock { $0 } == Data("body".utf8))
            #expect(task.withLock { $0 } == request.task?.taskIdentifier)
            NotificationCenter.default.removeObserver(token)
            observer.end()
        }
    }
}

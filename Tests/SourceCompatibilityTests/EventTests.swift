import Afar
import AfarTestServer
import Testing

/// Events, as people listen to them with Alamofire 5.
@Suite struct EventTests {
    @Test func closuresAreTold() async throws {
        let server = try await TestServer.start()
        let queue = DispatchQueue(label: "events")
        let monitor = ClosureEventMonitor(queue: queue)
        let (events, told) = AsyncStream.makeStream(of: String.self)
        monitor.requestDidCreateURLRequest = { _, urlRequest in told.yield("made \(urlRequest.url?.path ?? "")") }
        monitor.requestDidResume = { _ in told.yield("resumed") }
        monitor.requestDidGatherMetrics = { _, metrics in told.yield("\(metrics.transactionMetrics.count) measured") }
        monitor.requestDidCompleteTaskWithError = { _, _, error in told.yield(error == nil ? "well" : "badly") }
        monitor.requestDidFinish = { _ in
            told.yield("finished")
            told.finish()
        }
        let session = Session(eventMonitors: [CompositeEventMonitor(monitors: [monitor])])
        _ = try await session.request(server.url("/get")).serializingData().value
        let lines = await events.reduce(into: []) { $0.append($1) }
        #expect(lines == ["resumed", "made /get", "1 measured", "well", "finished"])
        await server.stop()
    }

    @Test func aMonitorOfOneRequestHearsIt() async throws {
        let server = try await TestServer.start()
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "one"))
        let url = await withCheckedContinuation { continuation in
            monitor.requestDidFinish = { continuation.resume(returning: $0.request?.url) }
            AF.request(server.url("/get")).eventMonitor(monitor).response(queue: .global()) { _ in }
        }
        #expect(url?.path == "/get")
        await server.stop()
    }

    @Test(arguments: [Request.didCompleteTaskNotification, Notification.Name.Task.DidComplete])
    func notificationsArePosted(name: Notification.Name) async throws {
        let server = try await TestServer.start()
        let session = Session(eventMonitors: [RequestNotifications(queue: DispatchQueue(label: "notifications"))])
        let request = session.request(server.url("/get"))
        nonisolated(unsafe) var observer: NSObjectProtocol?
        let isTold = await withCheckedContinuation { continuation in
            observer = NotificationCenter.default.addObserver(forName: name, object: request, queue: nil) { note in
                continuation.resume(
                    returning: note.request === request && note.userInfo?[Notification.Key.Task] is URLSessionTask)
            }
            request.response(queue: .global()) { _ in }
        }
        if let observer { NotificationCenter.default.removeObserver(observer) }
        #expect(isTold)
        await server.stop()
    }
}

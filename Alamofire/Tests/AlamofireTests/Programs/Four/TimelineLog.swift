import Alamofire
import Testing

/// Logs how long each request took, and counts finished tasks by notifications.
final class TimelineLog: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    private var observer: NSObjectProtocol?

    var text: String { lock.withLock { lines.joined(separator: "\n") } }

    init() {
        observer = NotificationCenter.default.addObserver(
            forName: Notification.Name.Task.DidComplete, object: nil, queue: nil
        ) { [weak self] _ in
            self?.add("a task completed")
        }
    }

    deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

    func add(_ line: String) { lock.withLock { lines.append(line) } }

    func add(_ response: DefaultDataResponse) {
        let timeline = response.timeline
        add("status \(response.response?.statusCode ?? 0), in order \(timeline.latency <= timeline.totalDuration)")
    }
}

@Suite struct TimelineLogTests {
    @Test func aRequestIsLogged() async throws {
        try await withServer { server in
            let log = TimelineLog()
            await withCheckedContinuation { done in
                Alamofire.request(server.url("/get")).response { response in
                    log.add(response)
                    done.resume()
                }
            }
            #expect(log.text.contains("status 200, in order true"))
            for _ in 0..<500 where !log.text.contains("a task") { try await Task.sleep(nanoseconds: 10_000_000) }
            #expect(log.text.contains("a task completed"))
        }
    }
}

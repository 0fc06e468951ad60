import Afar

/// Counts bytes received from the network.
final class TrafficMonitor: EventMonitor, @unchecked Sendable {
    // Sendable because mutable state is used only on the queue.
    let queue = DispatchQueue(label: "com.example.traffic")
    private var received: Int64 = 0

    var total: Int64 { queue.sync { received } }

    func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        received += metrics.transactionMetrics.reduce(0) { $0 + $1.countOfResponseBodyBytesReceived }
    }
}

/// Prints the main steps of each request.
struct StepPrinter: EventMonitor {
    let queue = DispatchQueue(label: "com.example.steps")

    func receive(_ event: RequestEvent) {
        switch event {
        case .requestDidResume(let request): print("started", request.id)
        case .requestIsRetrying(let request): print("retrying", request.id)
        case .requestDidFinish(let request): print("finished", request.id)
        default: break
        }
    }
}

enum MonitorSamples {
    static func closures() async throws {
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "com.example.events"))
        monitor.requestIsRetrying = { request in
            print("Retry number \(request.retryCount)")
        }
        monitor.requestDidFinish = { request in
            print("Finished: \(request)")
        }
        _ = try await AF.request(
            "https://api.example.com/unstable?failures=1&key=monitored", interceptor: Service(token: "s3cret")
        ).validate().eventMonitor(monitor).serializingString().value
    }

    static func ownClass() -> (Session, TrafficMonitor) {
        let traffic = TrafficMonitor()
        let session = Session(eventMonitors: [traffic, LoggingMonitor()])
        return (session, traffic)
    }

    static func delegate() -> Session {
        let delegate = SessionDelegate()
        delegate.taskDidComplete = { [unowned delegate] _, task, error in
            guard let request = delegate[task] else { return }
            print("The transfer is complete: \(request), \(error?.localizedDescription ?? "no error")")
        }
        delegate.taskWillPerformHTTPRedirection = { _, _, _, request in
            request.url?.scheme == "https" ? request : nil
        }
        let session = Session(delegate: delegate)
        return session
    }

    static func notifications() -> any NSObjectProtocol {
        let observer = NotificationCenter.default.addObserver(
            forName: Request.didCompleteTaskNotification, object: nil, queue: nil
        ) { notification in
            if let request = notification.request { print("Attempt finished: \(request)") }
        }
        return observer
    }
}

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The task of a download.
final class DownloadRequestTask: URLSessionDownloadTask, RequestTask, @unchecked Sendable {
    // Sendable because the attempt is set before anybody else has the task.

    var attempt: TaskAttempt?
    private var snapshot: TaskAttempt.Snapshot { attempt?.snapshot ?? TaskAttempt.Snapshot() }

    override var taskIdentifier: Int { attempt?.identifier ?? 0 }
    override var originalRequest: URLRequest? { attempt?.urlRequest }
    override var currentRequest: URLRequest? { attempt?.currentRequest }
    override var response: URLResponse? { snapshot.head?.httpURLResponse }
    override var state: URLSessionTask.State { snapshot.state }
    override var error: (any Error)? { snapshot.error }
    override var countOfBytesSent: Int64 { snapshot.sent.completed }
    override var countOfBytesExpectedToSend: Int64 { snapshot.sent.total }
    override var countOfBytesReceived: Int64 { snapshot.received.completed }
    override var countOfBytesExpectedToReceive: Int64 { snapshot.received.total }
    override var progress: Progress { snapshot.received.progress }

    override var taskDescription: String? {
        get { attempt?.description }
        set { attempt?.description = newValue }
    }

    override var priority: Float {
        get { attempt?.priority ?? URLSessionTask.defaultPriority }
        set { attempt?.priority = newValue }
    }

    override func cancel() { attempt?.request?.cancel() }
    override func suspend() { attempt?.request?.suspend() }
    override func resume() { attempt?.request?.resume() }

    #if canImport(FoundationNetworking)
        typealias ResumeDataHandler = (Data?) -> Void
    #else
        typealias ResumeDataHandler = @Sendable (Data?) -> Void
    #endif

    override func cancel(byProducingResumeData completionHandler: @escaping ResumeDataHandler) {
        // Called once, as Foundation's would be.
        nonisolated(unsafe) let completionHandler = completionHandler
        guard let download = attempt?.request as? DownloadRequest else { return completionHandler(nil) }
        download.cancel { completionHandler($0) }
    }
}

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// One attempt of a request in the shape of Foundation's task, for code that wants to have one. What it shows and does is
/// its attempt's.
protocol RequestTask: URLSessionTask {
    init()
    var attempt: TaskAttempt? { get set }
}

/// Makes the task of an attempt: a download task for a download, else an upload task, which is a data task too.
func makeTask(_ urlRequest: URLRequest, of request: Request, ending: TaskAttempt.Snapshot? = nil) -> any RequestTask {
    let attempt = TaskAttempt(urlRequest, of: request, ending: ending)
    return request is DownloadRequest
        ? instance(of: DownloadRequestTask.self, attempt) : instance(of: DataRequestTask.self, attempt)
}

/// Makes the task that shows what a download would request to be resumed; without a request, one that is over.
func makeTask(resuming download: DownloadRequest, with urlRequest: URLRequest?) -> any RequestTask {
    instance(of: DownloadRequestTask.self, urlRequest.map { TaskAttempt($0, of: download) })
}

// Foundation deprecates this initializer on Apple's platforms, as a warning to those who would make tasks that do nothing.
// Reached through a protocol, it is the same on all platforms.
private func instance<Made: RequestTask>(of type: Made.Type, _ attempt: TaskAttempt?) -> Made {
    let task = type.init()
    task.attempt = attempt
    return task
}

/// The task of a request whose response is held in memory or handed on.
final class DataRequestTask: URLSessionUploadTask, RequestTask, @unchecked Sendable {
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
}

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

extension DownloadRequest {
    /// A task that shows what resume data asks for: its requests are the one for the bytes that are missing, without
    /// credentials.
    ///
    /// It is no attempt: to resume a download, use
    /// ``Session/download(resumingWith:interceptor:shouldAutomaticallyResume:to:)``. Resuming, suspending or cancelling
    /// the task does that to this request. The task of data that cannot be used has no requests.
    ///
    /// - Parameters:
    ///   - data: What ``resumeData`` gave.
    ///   - session: Not used: no `URLSession` carries requests.
    public func task(forResumeData data: Data, using session: URLSession) -> URLSessionTask {
        let sensitiveHeaders = self.session.configuration.sensitiveHeaders
        let request = try? ResumeData(decoding: data).urlRequestForRest(without: sensitiveHeaders)
        return makeTask(resuming: self, with: request)
    }
}

extension ResumeData {
    /// The request that asks for what is missing.
    fileprivate func urlRequestForRest(without sensitiveHeaders: Set<String>) throws -> URLRequest {
        var request = try urlRequest(without: sensitiveHeaders)
        for field in fields(from: byteCount) { request.headers.update(field) }
        return request
    }
}

/// One attempt of a request, as the tasks that stand for it show it.
///
/// It carries nothing itself: it shows what its request does, and passes on what it is told to do. It does not keep its
/// request alive; what is known when the attempt is over stays.
final class TaskAttempt: Sendable {
    /// The state of an attempt at one moment.
    struct Snapshot {
        var state = URLSessionTask.State.completed
        /// The last redirect that was followed.
        var redirect: Redirect?
        var head: ResponseHead?
        var error: (any Error)?
        var sent = ByteProgress(total: nil)
        var received = ByteProgress(total: nil)
    }

    private struct State {
        weak var request: Request?
        /// Set when the attempt is over.
        var ending: Snapshot?
        var description: String?
        var priority = URLSessionTask.defaultPriority
    }

    private static let lastIdentifier = Locked(0)

    let identifier: Int
    let urlRequest: URLRequest
    private let state: Locked<State>

    /// - Parameter ending: What is known of an attempt that is over.
    init(_ urlRequest: URLRequest, of request: Request, ending: Snapshot? = nil) {
        self.urlRequest = urlRequest
        identifier = Self.lastIdentifier.withLock { last in
            last += 1
            return last
        }
        state = Locked(State(request: request, ending: ending))
    }

    /// The attempt is over. Only the first call counts.
    func end(with snapshot: Snapshot) {
        state.withLock { $0.ending = $0.ending ?? snapshot }
    }

    /// The request, while it lives.
    var request: Request? { state.withLock { $0.request } }

    var snapshot: Snapshot {
        let (ending, request) = state.withLock { ($0.ending, $0.request) }
        return ending ?? request?.snapshot(of: self) ?? Snapshot()
    }

    /// The request that was sent last: the original, or where a redirect led.
    var currentRequest: URLRequest {
        snapshot.redirect.flatMap { urlRequest.following($0) } ?? urlRequest
    }

    var description: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    var priority: Float {
        get { state.withLock { $0.priority } }
        set { state.withLock { $0.priority = newValue } }
    }
}

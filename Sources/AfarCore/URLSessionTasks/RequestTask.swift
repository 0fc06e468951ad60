public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// One attempt of a request as a Foundation task, for code that requires one. All properties and methods use the attempt.
protocol RequestTask: URLSessionTask {
    init()
    var attempt: TaskAttempt? { get set }
}

/// Creates the task of an attempt: a download task for a download, otherwise an upload task, which is also a data task.
func makeTask(_ urlRequest: URLRequest, of request: Request, ending: TaskAttempt.Snapshot? = nil) -> any RequestTask {
    let attempt = TaskAttempt(urlRequest, of: request, ending: ending)
    return request is DownloadRequest
        ? instance(of: DownloadRequestTask.self, attempt) : instance(of: DataRequestTask.self, attempt)
}

/// Creates a task with the request that resumes a download. Without a request, the task is completed.
func makeTask(resuming download: DownloadRequest, with urlRequest: URLRequest?) -> any RequestTask {
    instance(of: DownloadRequestTask.self, urlRequest.map { TaskAttempt($0, of: download) })
}

// Foundation deprecates this initializer on Apple platforms, to warn developers who would create tasks that do nothing. Called
// through a protocol, it compiles the same way on all platforms.
private func instance<Made: RequestTask>(of type: Made.Type, _ attempt: TaskAttempt?) -> Made {
    let task = type.init()
    task.attempt = attempt
    return task
}

/// The task of a request whose response is stored in memory or streamed.
final class DataRequestTask: URLSessionUploadTask, RequestTask, @unchecked Sendable {
    // Sendable because the attempt is set before the task is shared.

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
    // Sendable because the attempt is set before the task is shared.

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
        // Called once, as in Foundation.
        nonisolated(unsafe) let completionHandler = completionHandler
        guard let download = attempt?.request as? DownloadRequest else { return completionHandler(nil) }
        download.cancel { completionHandler($0) }
    }
}

extension DownloadRequest {
    /// Returns a task whose requests are the one for the missing bytes of resume data, without credentials.
    ///
    /// The task isn't an attempt. To resume a download, use
    /// ``Session/download(resumingWith:interceptor:shouldAutomaticallyResume:to:)``. Resuming, suspending or cancelling the
    /// task applies to this request. If the data can't be used, the task has no requests.
    ///
    /// - Parameters:
    ///   - data: The value of ``resumeData``.
    ///   - session: Unused, because no `URLSession` performs requests.
    public func task(forResumeData data: Data, using session: URLSession) -> URLSessionTask {
        let sensitiveHeaders = self.session.configuration.sensitiveHeaders
        let request = try? ResumeData(decoding: data).urlRequestForRest(without: sensitiveHeaders)
        return makeTask(resuming: self, with: request)
    }
}

extension ResumeData {
    /// Returns the request for the missing bytes.
    fileprivate func urlRequestForRest(without sensitiveHeaders: Set<String>) throws -> URLRequest {
        var request = try urlRequest(without: sensitiveHeaders)
        for field in fields(from: byteCount) { request.headers.update(field) }
        return request
    }
}

/// One attempt of a request, as its Foundation tasks present it.
///
/// It doesn't perform the request: it reports the request's state, and forwards calls to it. It doesn't retain the request. The
/// final state remains available after the attempt has ended.
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
        /// The final snapshot, set when the attempt has ended.
        var ending: Snapshot?
        var description: String?
        var priority = URLSessionTask.defaultPriority
    }

    private static let lastIdentifier = Locked(0)

    let identifier: Int
    let urlRequest: URLRequest
    private let state: Locked<State>

    /// - Parameter ending: The final snapshot of an attempt that has ended.
    init(_ urlRequest: URLRequest, of request: Request, ending: Snapshot? = nil) {
        self.urlRequest = urlRequest
        identifier = Self.lastIdentifier.withLock { last in
            last += 1
            return last
        }
        state = Locked(State(request: request, ending: ending))
    }

    /// Ends the attempt. Only the first call has an effect.
    func end(with snapshot: Snapshot) {
        state.withLock { $0.ending = $0.ending ?? snapshot }
    }

    /// The request, until it is released.
    var request: Request? { state.withLock { $0.request } }

    var snapshot: Snapshot {
        let (ending, request) = state.withLock { ($0.ending, $0.request) }
        return ending ?? request?.snapshot(of: self) ?? Snapshot()
    }

    /// The request that was sent last: the original request or the target of a redirect.
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

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Request {
    /// The attempts so far, as Foundation tasks for code that requires such tasks. Each of the ``performedRequests`` has one
    /// task.
    ///
    /// The tasks are created on first access. Each attempt of a download has a `URLSessionDownloadTask`. An attempt of any
    /// other request has a `URLSessionUploadTask`, which is also a `URLSessionDataTask`. Canceling, suspending or resuming a
    /// task applies to the request. Setting a task's properties has no effect on the request. For earlier attempts that ended
    /// before the first access, the response and error aren't available.
    public var tasks: [URLSessionTask] { mutable.withLock { $0.requestTasks(of: self) } }
    /// The first element of ``tasks``.
    public var firstTask: URLSessionTask? { tasks.first }
    /// The last element of ``tasks``.
    public var lastTask: URLSessionTask? { tasks.last }
    /// The current task; the same as ``lastTask``.
    public var task: URLSessionTask? { lastTask }

    /// Sets a closure that is called with each of ``tasks`` immediately before the task's attempt is sent. Only the closure
    /// that was set last is called.
    ///
    /// If an attempt has already begun, the closure is immediately called with the last task. To have running tasks report the
    /// number of bytes, call this method before the request starts.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue.
    ///   - handler: Called once for each attempt.
    @preconcurrency
    @discardableResult
    public func onURLSessionTaskCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLSessionTask) -> Void
    ) -> Self {
        createdTasks.setHandler(on: queue, handler)
        return self
    }

    /// Returns an asynchronous sequence of ``tasks``. It delivers each task immediately before the task's attempt is sent.
    ///
    /// If tasks already exist when an iteration starts, the iteration first receives the last task. The sequence ends when the
    /// request finishes or is canceled. Ending the iteration doesn't affect the request. To have running tasks report the
    /// number of bytes, call this method before the request starts.
    ///
    /// - Parameter bufferingPolicy: Determines which elements are kept for a slow iteration. The default is `.unbounded`.
    public func urlSessionTasks(
        bufferingPolicy: StreamOf<URLSessionTask>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionTask> {
        stream(of: createdTasks, bufferingPolicy: bufferingPolicy) { $0 }
    }

    private var createdTasks: Broadcast<URLSessionTask> {
        countBytes()
        return broadcast(\.urlSessionTasks) { $0.requestTasks(of: self).last }
    }

    /// Records that a `URLRequest` is about to be sent.
    func willPerform(_ urlRequest: URLRequest, control: ExchangeControl) {
        let (broadcast, task) = mutable.withLock { state in
            state.endTask()
            state.attempt.control = control
            state.history.performedRequests.append(urlRequest)
            let broadcast = state.observers?.urlSessionTasks
            let events = events(in: state)
            guard broadcast != nil || events != nil else { return (broadcast, nil as (any RequestTask)?) }
            let task = state.requestTasks(of: self).last
            if let task, let events {
                state.attempt.sent = AttemptState.Sent()
                events.receive(.requestDidCreateTask(self, task))
                notify(events, of: task, in: state.state)
            }
            return (broadcast, task)
        }
        if let task { broadcast?.send(task) }
        if let task { uploadBody?.willSend(task, of: self) }
        applySuspension()
    }

    /// Returns a snapshot of an attempt if it is the last one, or nil if it is an earlier one.
    func snapshot(of attempt: TaskAttempt) -> TaskAttempt.Snapshot? {
        mutable.withLock { $0.observers?.tasks.last?.attempt === attempt ? $0.snapshot : nil }
    }
}

extension URLSessionTask {
    /// The request that the task represents, or nil if the request was released or the task isn't one of Afar's.
    var afarRequest: Request? { (self as? any RequestTask)?.attempt?.request }
}

extension RequestState {
    /// Returns the tasks of all attempts so far, and creates the missing ones.
    mutating func requestTasks(of request: Request) -> [any RequestTask] {
        let performed = history.performedRequests
        guard !performed.isEmpty else { return [] }
        let observers = makeObservers()
        if observers.tasks.isEmpty {
            // Ends the last task when the request finishes, because the task can outlive the request.
            handlers.append(onFinish: { [weak request] in request?.mutable.withLock { $0.endTask() } })
        }
        for (number, urlRequest) in performed.enumerated().dropFirst(observers.tasks.count) {
            let isLast = number == performed.count - 1
            let ending = isLast ? (handlers.isDrained ? snapshot : nil) : TaskAttempt.Snapshot()
            observers.tasks.append(makeTask(urlRequest, of: request, ending: ending))
        }
        return observers.tasks
    }

    /// Ends the attempt of the last task.
    ///
    /// - Parameter error: The network error, if it hasn't been recorded yet.
    func endTask(error: (any Error)? = nil) {
        guard let attempt = observers?.tasks.last?.attempt else { return }
        var snapshot = snapshot
        if let error { snapshot.error = error }
        attempt.end(with: snapshot)
    }

    /// A snapshot of the last attempt.
    fileprivate var snapshot: TaskAttempt.Snapshot {
        let isCompleted = attempt.control == nil
        let isMeasured = isCompleted && history.attempts.count == history.performedRequests.count
        let transaction = isMeasured ? history.attempts.last?.report.transactions.last : nil
        var snapshot = TaskAttempt.Snapshot()
        snapshot.redirect = isMeasured ? history.attempts.last?.report.redirects.last : attempt.redirect
        snapshot.head = attempt.head
        snapshot.error = attempt.failure?.networkError
        snapshot.sent =
            observers?.sending?.last
            ?? ByteProgress(completed: transaction?.countOfRequestBodyBytesSent ?? 0, total: nil)
        snapshot.received =
            observers?.receiving?.last
            ?? ByteProgress(
                completed: transaction?.countOfResponseBodyBytesAfterDecoding ?? 0, total: attempt.head?.contentLength)
        snapshot.state =
            switch state {
            case _ where isCompleted: .completed
            case .suspended: .suspended
            case .cancelled: .canceling
            default: end == nil ? .running : .canceling
            }
        return snapshot
    }
}

extension AFError {
    /// The network error, or nil if the failure has another cause.
    var networkError: (any Error)? {
        switch self {
        case .sessionTaskFailed(let error): error
        // Foundation's error after a cancellation or the session's end.
        case .explicitlyCancelled, .sessionDeinitialized, .sessionInvalidated: URLError(.cancelled)
        case .requestRetryFailed(_, let original as AFError): original.networkError
        default: nil
        }
    }
}

/// A Foundation task that represents one attempt of a request, for code that requires a task. All properties and methods refer
/// to the attempt.
protocol RequestTask: URLSessionTask {
    init()
    var attempt: TaskAttempt? { get set }
}

/// Creates the task of an attempt.
func makeTask(_ urlRequest: URLRequest, of request: Request, ending: TaskAttempt.Snapshot? = nil) -> any RequestTask {
    let attempt = TaskAttempt(urlRequest, of: request, ending: ending)
    return request is DownloadRequest
        ? makeInstance(of: DownloadRequestTask.self, attempt) : makeInstance(of: DataRequestTask.self, attempt)
}

/// Creates a task with the request that resumes a download. Without a request, the task's state is `completed`.
func makeTask(resuming download: DownloadRequest, with urlRequest: URLRequest?) -> any RequestTask {
    makeInstance(of: DownloadRequestTask.self, urlRequest.map { TaskAttempt($0, of: download) })
}

// Apple deprecates the initializer to prevent tasks that do nothing. Calling it through a protocol avoids the warning.
private func makeInstance<Instance: RequestTask>(of type: Instance.Type, _ attempt: TaskAttempt?) -> Instance {
    let task = type.init()
    task.attempt = attempt
    return task
}

/// The task of a request whose response is stored in memory or streamed.
final class DataRequestTask: URLSessionUploadTask, RequestTask, @unchecked Sendable {
    // Sendable: `attempt` is set before sharing.

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

final class DownloadRequestTask: URLSessionDownloadTask, RequestTask, @unchecked Sendable {
    // Sendable: `attempt` is set before sharing.

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
    /// Returns a task with a request for the missing bytes of a partial download. The request contains no credentials.
    ///
    /// The task doesn't represent an attempt. To resume a download, use
    /// ``Session/download(resumingWith:interceptor:shouldAutomaticallyResume:to:)``. The task forwards calls of `resume()`,
    /// `suspend()` and `cancel()` to this ``DownloadRequest``. If the data can't be used, the task has no requests and ignores
    /// these calls.
    ///
    /// - `session`: Unused, because no `URLSession` runs the task.
    public func task(forResumeData data: Data, using session: URLSession) -> URLSessionTask {
        let sensitiveHeaders = self.session.configuration.sensitiveHeaders
        let request = try? ResumeData(decoding: data).urlRequestForRemainder(without: sensitiveHeaders)
        return makeTask(resuming: self, with: request)
    }
}

extension ResumeData {
    fileprivate func urlRequestForRemainder(without sensitiveHeaders: Set<String>) throws -> URLRequest {
        var request = try urlRequest(without: sensitiveHeaders)
        for field in fields(from: byteCount) { request.headers.update(field) }
        return request
    }
}

/// The attempt that a ``RequestTask`` represents.
///
/// The task reads its values from this object and forwards calls to the object's ``request``. The object neither performs nor
/// retains the request. The final state remains available after the attempt has ended.
final class TaskAttempt: Sendable {
    struct Snapshot {
        var state = URLSessionTask.State.completed
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

    /// The last request that was sent: the original request or the target of a redirect.
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

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Request {
    /// The attempts so far as Foundation tasks, for code that requires them. There is one task for each of
    /// ``performedRequests``.
    ///
    /// They are created on first access: a `URLSessionDownloadTask` for each attempt of a download, otherwise a
    /// `URLSessionUploadTask`, which is also a `URLSessionDataTask`. Cancelling, suspending or resuming a task applies to the
    /// request. Setting other properties has no effect. If an attempt ended before the first access and isn't the last one, its
    /// response and error aren't available.
    public var tasks: [URLSessionTask] { mutable.withLock { $0.requestTasks(of: self) } }
    /// The first of ``tasks``.
    public var firstTask: URLSessionTask? { tasks.first }
    /// The last of ``tasks``.
    public var lastTask: URLSessionTask? { tasks.last }
    /// The current task; the same as ``lastTask``.
    public var task: URLSessionTask? { lastTask }

    /// Sets a closure that is called with each of ``tasks``, once for each attempt, immediately before it is sent. Only the
    /// last closure set is called.
    ///
    /// If it is set later, it is immediately called with the last task. If this method is called before the request starts, the
    /// tasks report the number of bytes while they run.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue.
    ///   - handler: Called once for each attempt.
    @preconcurrency
    @discardableResult
    public func onURLSessionTaskCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLSessionTask) -> Void
    ) -> Self {
        madeTasks.setHandler(on: queue, handler)
        return self
    }

    /// Returns an asynchronous sequence of ``tasks``, one for each attempt, immediately before it is sent.
    ///
    /// An iteration that begins late first receives the last task. The sequence ends when the request finishes or is cancelled.
    /// Ending the iteration doesn't affect the request. If this method is called before the request starts, the tasks report
    /// the number of bytes while they run.
    ///
    /// - Parameter bufferingPolicy: Determines which elements are kept for a slow iteration. The default is `.unbounded`.
    public func urlSessionTasks(
        bufferingPolicy: StreamOf<URLSessionTask>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionTask> {
        stream(of: madeTasks, bufferingPolicy: bufferingPolicy) { $0 }
    }

    private var madeTasks: Broadcast<URLSessionTask> {
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
                events.request(self, didCreateTask: task)
                notify(events, that: task, isIn: state.state)
            }
            return (broadcast, task)
        }
        if let task { broadcast?.send(task) }
        if let task { uploadBody?.willSend(task, of: self) }
        alignControl()
    }

    /// Returns a snapshot of a task whose attempt isn't known to have ended.
    func snapshot(of attempt: TaskAttempt) -> TaskAttempt.Snapshot? {
        mutable.withLock { $0.observers?.tasks.last?.attempt === attempt ? $0.snapshot : nil }
    }
}

extension URLSessionTask {
    /// The request that the task represents, while the request exists, or nil for a task that isn't Afar's.
    var afarRequest: Request? { (self as? any RequestTask)?.attempt?.request }
}

extension RequestState {
    /// Returns the tasks of all attempts so far, and creates the missing ones.
    mutating func requestTasks(of request: Request) -> [any RequestTask] {
        let performed = history.performedRequests
        guard !performed.isEmpty else { return [] }
        let observers = makeObservers()
        if observers.tasks.isEmpty {
            // A task can outlive its request.
            handlers.append(onFinish: { [weak request] in request?.mutable.withLock { $0.endTask() } })
        }
        for (number, urlRequest) in performed.enumerated().dropFirst(observers.tasks.count) {
            let isLast = number == performed.count - 1
            let ending = isLast ? (handlers.isOver ? snapshot : nil) : TaskAttempt.Snapshot()
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
        let isOver = attempt.control == nil
        let isMeasured = isOver && history.attempts.count == history.performedRequests.count
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
            case _ where isOver: .completed
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
        // Foundation's tasks report this error after a cancellation and after the end of their session.
        case .explicitlyCancelled, .sessionDeinitialized, .sessionInvalidated: URLError(.cancelled)
        case .requestRetryFailed(_, let original as AFError): original.networkError
        default: nil
        }
    }
}

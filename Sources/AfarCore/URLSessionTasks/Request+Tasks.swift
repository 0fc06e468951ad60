public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Request {
    /// The attempts so far in the shape of Foundation's tasks, for code that wants to have some: one for each of
    /// ``performedRequests``.
    ///
    /// They are made when first asked for: a `URLSessionDownloadTask` for each attempt of a download, else a
    /// `URLSessionUploadTask`, which is a `URLSessionDataTask`. Cancelling, suspending or resuming one does that to the request; nothing else
    /// that is set on one has an effect. Of an attempt that was over before anybody asked, and is not the last, response
    /// and error are not known.
    public var tasks: [URLSessionTask] { mutable.withLock { $0.requestTasks(of: self) } }
    /// The first of ``tasks``.
    public var firstTask: URLSessionTask? { tasks.first }
    /// The last of ``tasks``.
    public var lastTask: URLSessionTask? { tasks.last }
    /// The current task; the same as ``lastTask``.
    public var task: URLSessionTask? { lastTask }

    /// Sets a closure that is called with each of ``tasks``: one for each attempt, just before it is sent. Only the
    /// last closure set is called.
    ///
    /// Set later, it is called with the last of them at once. The tasks count bytes while they run if this is called
    /// before the request starts.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called. The default is the main queue.
    ///   - handler: Called once for each attempt.
    @preconcurrency
    @discardableResult
    public func onURLSessionTaskCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLSessionTask) -> Void
    ) -> Self {
        madeTasks.setHandler(on: queue, handler)
        return self
    }

    /// ``tasks``, to await: one for each attempt, just before it is sent.
    ///
    /// An iteration that begins late gets the last of them first. It ends when the request is finished, cancelled too;
    /// ending the iteration leaves the request alone. The tasks count bytes while they run if this is called before the
    /// request starts.
    ///
    /// - Parameter bufferingPolicy: Which elements are kept for a loop that falls behind. The default is `.unbounded`.
    public func urlSessionTasks(
        bufferingPolicy: StreamOf<URLSessionTask>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionTask> {
        stream(of: madeTasks, bufferingPolicy: bufferingPolicy) { $0 }
    }

    private var madeTasks: Broadcast<URLSessionTask> {
        countBytes()
        return broadcast(\.urlSessionTasks) { $0.requestTasks(of: self).last }
    }

    /// Notes that a `URLRequest` is sent now.
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

    /// The snapshot of a task whose attempt is not known to be over.
    func snapshot(of attempt: TaskAttempt) -> TaskAttempt.Snapshot? {
        mutable.withLock { $0.observers?.tasks.last?.attempt === attempt ? $0.snapshot : nil }
    }
}

extension URLSessionTask {
    /// The request that the task stands for, while somebody holds it; nil for a task that is not from here.
    var afarRequest: Request? { (self as? any RequestTask)?.attempt?.request }
}

extension RequestState {
    /// The tasks of all attempts so far; those that are missing are made.
    mutating func requestTasks(of request: Request) -> [any RequestTask] {
        let performed = history.performedRequests
        guard !performed.isEmpty else { return [] }
        let observers = makeObservers()
        if observers.tasks.isEmpty {
            // A task outlives its request.
            handlers.append(onFinish: { [weak request] in request?.mutable.withLock { $0.endTask() } })
        }
        for (number, urlRequest) in performed.enumerated().dropFirst(observers.tasks.count) {
            let isLast = number == performed.count - 1
            let ending = isLast ? (handlers.isOver ? snapshot : nil) : TaskAttempt.Snapshot()
            observers.tasks.append(makeTask(urlRequest, of: request, ending: ending))
        }
        return observers.tasks
    }

    /// The attempt of the last task is over.
    ///
    /// - Parameter error: What the network said, if that is not noted yet.
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
    /// What the network said; nil when it was not the network that failed.
    var networkError: (any Error)? {
        switch self {
        case .sessionTaskFailed(let error): error
        // What Foundation's tasks say when they were cancelled, or their session ended.
        case .explicitlyCancelled, .sessionDeinitialized, .sessionInvalidated: URLError(.cancelled)
        case .requestRetryFailed(_, let original as AFError): original.networkError
        default: nil
        }
    }
}

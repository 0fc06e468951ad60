public import Dispatch
public import Foundation

/// A transfer that sends several requests, such as a download in parts. It starts, suspends, resumes and cancels its requests
/// together.
///
/// The transfer starts when you call ``resume()``, add a handler with ``response(queue:completionHandler:)``, or read ``value`` or
/// ``result``. It retains its session until it has ended. You can use all members from any thread.
///
/// The session's ``SessionConfiguration/timeoutIntervalForResource`` limits the time of the whole transfer, including the delays before
/// retries and the time while it is suspended.
///
/// To implement a transfer, override ``run()``, pass its requests to ``start(_:)`` and ``finish(_:)``, and report its progress with
/// ``updateProgress(_:)``.
open class Transfer<Success: Sendable>: @unchecked Sendable {
    // Sendable because the lock protects the state, and everything else is immutable.

    /// Receives the outcome of the transfer.
    public typealias Handler = @Sendable (_ result: Result<Success, any Error>) -> Void

    private struct State {
        var hasStarted = false
        var isSuspended = false
        var task: Task<Void, Never>?
        var timer: DelayedCall?
        /// The error with which a cancellation or the time limit ended the transfer.
        var end: AFError?
        var result: Result<Success, any Error>?
        var requests: Set<Request> = []
        var handlers: [(queue: DispatchQueue, call: Handler)] = []
    }

    /// The session that sends the requests.
    public let session: Session
    private let state = InlineLocked(State())
    private let outcome = Deferred<Result<Success, any Error>>()
    private let reporter = ProgressReporter()

    /// Creates a transfer.
    public init(session: Session) { self.session = session }

    /// Performs the transfer. Called once, in a task that is canceled when the transfer must end.
    open func run() async throws -> Success { throw AFError.explicitlyCancelled }

    // MARK: Outcome

    /// The outcome of the transfer. Canceling the task that reads this value cancels the transfer.
    ///
    /// - Throws: ``AFError/explicitlyCancelled`` if the transfer was canceled. An ``AFError`` with the code `timedOut` if its
    ///   time has passed. Otherwise, the ``AFError`` of a request or another error of ``run()``.
    public final var value: Success {
        get async throws { try await result.get() }
    }

    /// The outcome of the transfer, as a result. See ``value``.
    public final var result: Result<Success, any Error> {
        get async {
            start()
            return await outcome.value(onCancel: { cancel() })
        }
    }

    /// Adds a handler for the outcome, and starts the transfer unless ``Session/startRequestsImmediately`` is false.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. The default is the main queue.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public final func response(queue: DispatchQueue = .main, completionHandler: @escaping Handler) -> Self {
        let result = state.withLock { state in
            if state.result == nil { state.handlers.append((queue, completionHandler)) }
            return state.result
        }
        if let result { queue.async { completionHandler(result) } }
        if session.startRequestsImmediately { start() }
        return self
    }

    // MARK: Life cycle

    /// Starts or resumes the transfer. Does nothing if the transfer has ended.
    @discardableResult
    public final func resume() -> Self {
        setSuspended(false)
        start()
        return self
    }

    /// Suspends the requests of the transfer and sends no other requests until ``resume()`` is called. See
    /// ``Request/suspend()``.
    @discardableResult
    public final func suspend() -> Self {
        setSuspended(true)
        return self
    }

    /// Cancels the transfer. It fails with ``AFError/explicitlyCancelled``. Does nothing if the transfer has ended.
    @discardableResult
    public final func cancel() -> Self {
        end(with: .explicitlyCancelled)
        return self
    }

    /// The state of the transfer.
    public final var transferState: Request.State {
        state.withLock { state in
            if state.end != nil { return .cancelled }
            if state.result != nil { return .finished }
            if state.isSuspended { return .suspended }
            return state.hasStarted ? .resumed : .initialized
        }
    }

    /// Whether the transfer has started, isn't suspended and hasn't ended.
    public final var isResumed: Bool { transferState == .resumed }
    /// Whether the transfer is suspended.
    public final var isSuspended: Bool { transferState == .suspended }
    /// Whether the transfer was canceled, or its time has passed.
    public final var isCancelled: Bool { transferState == .cancelled }
    /// Whether the transfer has ended without being canceled.
    public final var isFinished: Bool { transferState == .finished }

    private func start() {
        let isNew = state.withLock { state in
            defer { state.hasStarted = true }
            return !state.hasStarted
        }
        guard isNew else { return }
        let limit = session.configuration.timeoutIntervalForResource
        // A separate queue, because users' cancellation handlers run on it.
        let timer = DelayedCall(after: Duration(timeout: limit), on: DispatchQueue(label: "afar.deadline")) {
            [weak self] in self?.end(with: .transferTimedOut(after: limit))
        }
        let task = Task(executorPreference: QueueExecutor.global) { [self] in
            // The transfer can have been canceled before its start.
            if state.withLock({ $0.end != nil }) { withUnsafeCurrentTask { $0?.cancel() } }
            let result: Result<Success, any Error>
            do {
                result = .success(try await run())
            } catch {
                result = .failure(state.withLock { $0.end } ?? error)
            }
            await reporter.flush()
            complete(with: result)
        }
        let isEnded = state.withLock { state in
            if state.result == nil { (state.task, state.timer) = (task, timer) }
            return state.end != nil
        }
        if isEnded { task.cancel() }
    }

    private func end(with error: AFError) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard state.end == nil, state.result == nil else { return nil }
            state.end = error
            return state.task
        }
        task?.cancel()
        // Resumes requests that aren't canceled, such as one that removes an upload.
        setSuspended(false)
    }

    private func complete(with result: Result<Success, any Error>) {
        // The task and the handlers are released outside the lock, because they can reference this object.
        let (handlers, timer, task) = state.withLock { state in
            state.result = result
            if case .success = result { state.end = nil }
            defer { (state.handlers, state.timer, state.task, state.requests) = ([], nil, nil, []) }
            return (state.handlers, state.timer, state.task)
        }
        timer?.cancel()
        outcome.fulfill(result)
        for handler in handlers { handler.queue.async { handler.call(result) } }
        withExtendedLifetime(task) {}
    }

    // MARK: Requests

    /// Starts a request of this transfer. While the transfer is suspended, the request is suspended too.
    ///
    /// - Parameter request: A request that already has its handlers and was created with `shouldAutomaticallyResume: false`.
    ///   Canceling the transfer cancels the task of ``run()``, and `run()` must then cancel the request.
    public final func start(_ request: Request) {
        state.withLock { _ = $0.requests.insert(request) }
        applySuspension(to: request)
    }

    /// Releases a request that has finished.
    public final func finish(_ request: Request) {
        // Released outside the lock, because users' objects can be released with it.
        _ = state.withLock { $0.requests.remove(request) }
    }

    /// Runs work that continues even if the transfer is canceled, such as a request that removes an incomplete upload.
    public final func withoutCancellation<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await Task(executorPreference: QueueExecutor.global) { try await work() }.value
    }

    /// Waits for work that could ignore its cancellation, such as a caller's sequence. If the transfer is canceled, the wait ends.
    ///
    /// - Throws: `CancellationError` after a cancellation, or the error of the work.
    public final func untilCancelled<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let result = await withCancellableTask(ifCancelled: Result<Value, any Error>.failure(CancellationError())) {
            do { return .success(try await work()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func setSuspended(_ isSuspended: Bool) {
        let requests = state.withLock { state in
            state.isSuspended = isSuspended
            return state.requests
        }
        for request in requests { applySuspension(to: request) }
    }

    /// Suspends or resumes a request. Concurrent calls can overtake each other, so each call checks the state again.
    private func applySuspension(to request: Request) {
        while true {
            let isSuspended = state.withLock { $0.isSuspended }
            if isSuspended { request.suspend() } else { request.resume() }
            guard state.withLock({ $0.isSuspended }) != isSuspended else { return }
        }
    }

    // MARK: Progress

    /// The progress of all requests together, in bytes. The total is −1 until it is known.
    public final var progress: Progress { reporter.progress }

    /// Sets a closure that is called with the progress of all requests together. A later call replaces the closure.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue.
    ///   - closure: Called after the progress has changed. Several changes can lead to one call.
    @preconcurrency
    @discardableResult
    public final func progress(queue: DispatchQueue = .main, closure: @escaping Request.ProgressHandler) -> Self {
        reporter.setHandler(on: queue, closure)
        return self
    }

    /// Changes the progress.
    ///
    /// - Parameter change: Changes the number of completed bytes and the total, which is nil while it is unknown. Called under a lock.
    public final func updateProgress(_ change: (_ completed: inout Int64, _ total: inout Int64?) -> Void) {
        reporter.update(change)
    }
}

extension AFError {
    fileprivate static func transferTimedOut(after limit: TimeInterval) -> AFError {
        let cause = TransportError(
            .timedOut, phase: .queued, url: nil,
            message: "the transfer took longer than timeoutIntervalForResource (\(limit.formatted()) s)")
        return .sessionTaskFailed(error: cause.urlError)
    }
}

/// Reports the combined progress of several requests. At most one report is pending at a time.
private final class ProgressReporter: Sendable {
    private struct State {
        var completed: Int64 = 0
        var total: Int64?
        var isPending = false
        var handler: (queue: DispatchQueue, call: Request.ProgressHandler)?
    }

    let progress = Progress.discreteProgress(totalUnitCount: -1)
    /// `progress` is only changed on this queue.
    private let queue = DispatchQueue(label: "afar.transfer.progress")
    private let state = InlineLocked(State())

    func setHandler(on queue: DispatchQueue, _ handler: @escaping Request.ProgressHandler) {
        state.release { Swift.exchange(&$0.handler, with: (queue, handler)) }
    }

    func update(_ change: (inout Int64, inout Int64?) -> Void) {
        let isPending = state.withLock { state in
            change(&state.completed, &state.total)
            defer { state.isPending = true }
            return state.isPending
        }
        guard !isPending else { return }
        queue.async { [self] in
            let (completed, total, handler) = state.withLock { state in
                state.isPending = false
                return (state.completed, state.total, state.handler)
            }
            // On Linux, changing a known total to 0 traps.
            if let total, total != progress.totalUnitCount, total > 0 || progress.totalUnitCount < 0 {
                progress.totalUnitCount = total
            }
            progress.completedUnitCount = completed
            if let handler { handler.queue.async { [progress] in handler.call(progress) } }
        }
    }

    /// Waits until `progress` has its last value.
    func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}

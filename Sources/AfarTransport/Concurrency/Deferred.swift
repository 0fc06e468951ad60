package import Dispatch

/// A job of a task (its code up to the next suspension), which another task or a thread runs.
package struct InlineJob: Sendable {
    private let job: UnownedJob
    private let executor: any TaskExecutor

    package init(_ job: UnownedJob, of executor: any TaskExecutor) {
        self.job = job
        self.executor = executor
    }

    package func run() { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
}

/// The part of ``Deferred`` that doesn't depend on the value's type: the waiters. A waiter can run another task's jobs while it waits.
package class AnyDeferred: @unchecked Sendable {
    // Sendable because the lock protects all mutable state.
    //
    // This class isn't generic, because a generic class would slow down each wait. Continuations resume without a value. Each waiter takes
    // the lock and then reads the value. The thread sanitizer recognizes this synchronization.
    fileprivate typealias Waiter = UnsafeContinuation<Void, Never>

    private struct State {
        var isFulfilled = false
        /// Whether any task has started to wait. Each waiter checks for a job before it suspends and before it returns.
        var isAwaited = false
        var job: InlineJob?
        var firstWaiter: Waiter?
        var otherWaiters: [Waiter] = []
        /// The task that is suspended in ``waitForWaiter()``.
        var attendant: Attendant?
    }

    private let state = InlineLocked(State())

    fileprivate init() {}

    /// Passes the job to a waiter, which runs it. Returns false if there is no waiter.
    package func runInline(_ job: InlineJob) -> Bool {
        let (isTaken, waiter) = state.withLock { state -> (Bool, Waiter?) in
            guard state.isAwaited, !state.isFulfilled, state.job == nil else { return (false, nil) }
            state.job = job
            return (true, state.firstWaiter.take())
        }
        waiter?.resume()
        return isTaken
    }

    /// Waits until a task waits for the value, for at most a millisecond. The limit is necessary because possibly no task ever waits. This
    /// method can return without suspending the calling task.
    package func waitForWaiter() async {
        await withUnsafeContinuation { continuation in
            let attendant = Attendant(continuation)
            let mustWait = state.withLock { state in
                if !state.isAwaited { state.attendant = attendant }
                return !state.isAwaited
            }
            if mustWait { attendant.limitWait() } else { attendant.resume() }
        }
    }

    /// Ends the wait. Only the first call has an effect.
    ///
    /// - Parameter settle: A closure that only the first call of this method runs, under the lock.
    fileprivate func end(_ settle: () -> Void) {
        let (first, others) = state.withLock { state -> (Waiter?, [Waiter]) in
            guard !state.isFulfilled else { return (nil, []) }
            state.isFulfilled = true
            settle()
            return (state.firstWaiter.take(), Swift.exchange(&state.otherWaiters, with: []))
        }
        first?.resume()
        for waiter in others { waiter.resume() }
    }

    /// Returns whether the wait has ended, and the job to run while waiting, if any. Called by each waiter before it waits.
    fileprivate func takeJob() -> (isFulfilled: Bool, job: InlineJob?) {
        let (isFulfilled, job, attendant) = state.withLock { state in
            state.isAwaited = true
            return (state.isFulfilled, state.job.take(), state.attendant.take())
        }
        attendant?.resume()
        return (isFulfilled, job)
    }

    fileprivate func add(_ waiter: Waiter) {
        let mustWait = state.withLock { state in
            guard !state.isFulfilled, state.job == nil else { return false }
            if state.firstWaiter == nil { state.firstWaiter = waiter } else { state.otherWaiters.append(waiter) }
            return true
        }
        if !mustWait { waiter.resume() }
    }
}

/// A task that waits until another task waits for a value. It doesn't retain the value, which can contain user objects.
private final class Attendant: Sendable {
    /// The attendants whose wait the timer hasn't ended yet. One timer serves all of them.
    private static let waiting = Locked<[Attendant]>([])

    private let continuation: InlineLocked<UnsafeContinuation<Void, Never>?>

    init(_ continuation: UnsafeContinuation<Void, Never>) { self.continuation = InlineLocked(continuation) }

    /// Ends the wait. Only the first call has an effect.
    func resume() { continuation.withLock { $0.take() }?.resume() }

    /// Ends the wait after a millisecond.
    func limitWait() {
        let isFirst = Self.waiting.withLock { waiting in
            waiting.append(self)
            return waiting.count == 1
        }
        guard isFirst else { return }
        DelayedCall.queue.asyncAfter(deadline: .now() + .milliseconds(1)) {
            for attendant in Self.waiting.withLock({ Swift.exchange(&$0, with: []) }) { attendant.resume() }
        }
    }
}

/// A value that is set once, at a later time. Any number of tasks can wait for it.
package final class Deferred<Value: Sendable>: AnyDeferred, @unchecked Sendable {
    // Sendable because the value is written once, under the lock, and read only when `isFulfilled` is true.
    //
    // This is a pointer, because each access to an optional of a generic type looks up the type at run time.
    @exclusivity(unchecked) private var settled: UnsafeMutablePointer<Value>?

    package override init() {}

    deinit {
        settled?.deinitialize(count: 1)
        settled?.deallocate()
    }

    /// Sets the value. Only the first call has an effect.
    package func fulfill(_ value: Value) {
        end {
            let settled = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            settled.initialize(to: value)
            self.settled = settled
        }
    }

    /// Sets the value after a delay, unless the returned call is canceled or released first.
    package func fulfill(_ value: Value, after delay: Duration, of time: TimeSource = .system) -> DelayedCall {
        DelayedCall(after: delay, of: time) { [self] in fulfill(value) }
    }

    /// The value. The getter waits until the value has been set. Canceling the waiting task doesn't end the wait.
    package var value: Value {
        get async {
            while true {
                let (isFulfilled, job) = takeJob()
                if let job {
                    job.run()
                } else if isFulfilled, let settled {
                    return settled.pointee
                } else {
                    await withUnsafeContinuation { add($0) }
                }
            }
        }
    }

    /// The value. If the waiting task is canceled, calls a closure, and continues to wait.
    package nonisolated(nonsending) func value(onCancel cancel: @Sendable () -> Void) async -> Value {
        await withTaskCancellationHandler(operation: { await value }, onCancel: cancel)
    }

    /// The value. If the waiting task is canceled first, sets another value, which ends the wait of all tasks.
    package nonisolated(nonsending) func value(
        ifCancelled cancelled: @autoclosure @Sendable () -> Value
    ) async -> Value {
        await value(onCancel: { fulfill(cancelled()) })
    }
}

// MARK: - Timers

/// Calls a closure once, after a delay, on a Dispatch queue.
///
/// Unlike `Task.sleep`, it fires even while every thread of the task pool is blocked. Releasing this object cancels the call.
package final class DelayedCall: @unchecked Sendable {
    // Sendable because a Dispatch source and a task can be used from any thread.
    private let stop: () -> Void

    /// The queue is serial, because Dispatch provides a thread for a serial queue even when other threads are blocked.
    package static let queue = DispatchQueue(label: "afar.timers")

    /// Schedules the call.
    ///
    /// - Parameters:
    ///   - delay: The delay; at most 1e9 seconds.
    ///   - time: Measures the delay.
    ///   - queue: The queue that calls the closure. Use the default only for closures that return immediately and run no user code.
    ///   - call: The closure.
    package init(
        after delay: Duration, of time: TimeSource = .system, on queue: DispatchQueue = DelayedCall.queue,
        _ call: @escaping @Sendable () -> Void
    ) {
        if time.isSystem {
            let source = DispatchSource.makeTimerSource(queue: queue)
            source.setEventHandler(handler: DispatchWorkItem(block: call))
            source.schedule(deadline: .now() + max(0, min(delay / .seconds(1), 1e9)))
            source.resume()
            stop = source.cancel
        } else {
            let task = Task(executorPreference: QueueExecutor(queue)) {
                // If a custom clock fails, the delay ends, because a request must not wait forever.
                try? await time.sleep(for: delay)
                if !Task.isCancelled { call() }
            }
            stop = task.cancel
        }
    }

    package func cancel() { stop() }

    deinit { stop() }
}

// MARK: - Cancellable tasks

/// Runs user code in a new task and waits for it. Canceling the calling task cancels the new task and ends the wait.
///
/// - Parameters:
///   - executor: Runs the task. The default doesn't depend on free threads of the task pool.
///   - cancelled: The value to return if the calling task is canceled.
///   - timeout: The time limit, and the value to return when it passes; nil for no limit.
///   - work: The code to run.
package func withCancellableTask<Answer: Sendable>(
    on executor: QueueExecutor = .global,
    ifCancelled cancelled: @autoclosure @escaping @Sendable () -> Answer,
    timeout: (limit: Duration, answer: @Sendable () -> Answer)? = nil,
    _ work: @escaping @Sendable () async -> Answer
) async -> Answer {
    let outcome = Deferred<Answer>()
    let task = Task(executorPreference: executor) { outcome.fulfill(await work()) }
    let timer = timeout.map { limit, answer in
        DelayedCall(after: limit) {
            outcome.fulfill(answer())
            task.cancel()
        }
    }
    defer { timer?.cancel() }
    return await outcome.value(onCancel: {
        task.cancel()
        outcome.fulfill(cancelled())
    })
}

/// Runs throwing user code in a new task and waits for it. Canceling the calling task cancels the new task and ends the wait.
package func withCancellableTask(
    on executor: QueueExecutor = .global, _ work: @escaping @Sendable () async throws -> Void
) async throws {
    let result = await withCancellableTask(on: executor, ifCancelled: .failure(CancellationError())) {
        await Result(catching: work)
    }
    try result.get()
}

extension Result where Failure == any Error {
    fileprivate init(catching work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

// MARK: - Tasks on a queue

/// Runs tasks on a Dispatch queue instead of on Swift's task pool, whose threads a program can block.
public final class QueueExecutor: TaskExecutor {
    /// Runs tasks on Dispatch's own threads. If some threads are blocked, Dispatch starts more threads than there are processors.
    public static let global = QueueExecutor(.global())

    private let queue: DispatchQueue

    package init(_ queue: DispatchQueue) { self.queue = queue }

    /// Runs a job of a task.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

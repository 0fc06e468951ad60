/// A job of one task that another task or thread runs.
package struct InlineJob: Sendable {
    private let job: UnownedJob
    private let executor: any TaskExecutor

    package init(_ job: UnownedJob, of executor: any TaskExecutor) {
        self.job = job
        self.executor = executor
    }

    package func run() { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
}

/// A waiting task or thread that can run another task's jobs while it waits.
package protocol InlineJobRunner: AnyObject, Sendable {
    /// Passes the job to a waiter, which runs it. Returns false if there is no waiter.
    func runInline(_ job: InlineJob) -> Bool
}

/// The part of ``Deferred`` that doesn't depend on the value's type: the waiters.
package class AnyDeferred: InlineJobRunner, @unchecked Sendable {
    // Sendable because all mutable state is protected by the lock.
    //
    // Not generic, because looking up the value's type would cost time on each wait. Continuations resume without a value:
    // waiters read the value after holding the lock, a handover that the thread sanitizer recognizes.
    fileprivate typealias Waiter = UnsafeContinuation<Void, Never>

    private struct State {
        var isOver = false
        var job: InlineJob?
        var firstWaiter: Waiter?
        var otherWaiters: [Waiter] = []
    }

    private let state = InlineLocked(State())

    fileprivate init() {}

    package func runInline(_ job: InlineJob) -> Bool {
        let waiter = state.withLock { state -> Waiter? in
            guard state.job == nil, let waiter = state.firstWaiter.take() else { return nil }
            state.job = job
            return waiter
        }
        waiter?.resume()
        return waiter != nil
    }

    /// Ends the wait. Only the first call has an effect.
    ///
    /// - Parameter settle: Called under the lock, on the first call only.
    fileprivate func end(_ settle: () -> Void) {
        let (first, others) = state.withLock { state -> (Waiter?, [Waiter]) in
            guard !state.isOver else { return (nil, []) }
            state.isOver = true
            settle()
            return (state.firstWaiter.take(), Swift.exchange(&state.otherWaiters, with: []))
        }
        first?.resume()
        for waiter in others { waiter.resume() }
    }

    /// Returns whether the wait has ended, and the job to run while waiting, if any.
    fileprivate func takeJob() -> (isOver: Bool, job: InlineJob?) {
        state.withLock { ($0.isOver, $0.job.take()) }
    }

    fileprivate func add(_ waiter: Waiter) {
        let mustWait = state.withLock { state in
            guard !state.isOver, state.job == nil else { return false }
            if state.firstWaiter == nil { state.firstWaiter = waiter } else { state.otherWaiters.append(waiter) }
            return true
        }
        if !mustWait { waiter.resume() }
    }
}

/// A value that is set once, later. Any number of tasks can wait for it.
package final class Deferred<Value: Sendable>: AnyDeferred, @unchecked Sendable {
    // Sendable because the value is written once, under the lock, and read only after `isOver` was found to be true.
    @exclusivity(unchecked) private var settled: Value?

    package override init() {}

    /// Sets the value; only the first call counts.
    package func fulfill(_ value: Value) { end { settled = value } }

    /// Sets the value after a delay, unless the returned call is cancelled or released before.
    package func fulfill(_ value: Value, after delay: Duration) -> DelayedCall {
        DelayedCall(after: delay) { [self] in fulfill(value) }
    }

    /// The value, as soon as it has been set. Cancelling the waiting task doesn't end the wait.
    package var value: Value {
        get async {
            while true {
                let (isOver, job) = takeJob()
                if let job {
                    job.run()
                } else if isOver, let settled {
                    return settled
                } else {
                    await withUnsafeContinuation { add($0) }
                }
            }
        }
    }
}

/// A step of a task, for another task or thread to carry out.
package struct InlineJob: Sendable {
    private let job: UnownedJob
    private let executor: any TaskExecutor

    package init(_ job: UnownedJob, of executor: any TaskExecutor) {
        self.job = job
        self.executor = executor
    }

    package func run() { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
}

/// A waiting task or thread that can run the steps of another meanwhile.
package protocol InlineJobRunner: AnyObject, Sendable {
    /// Returns whether there is a waiter, which then runs the job.
    func runInline(_ job: InlineJob) -> Bool
}

/// What all ``Deferred`` values have in common, whatever their type: those who wait.
package class AnyDeferred: InlineJobRunner, @unchecked Sendable {
    // Sendable because everything that changes is touched under the lock only.
    //
    // It knows no type of a value, which would be looked up at each turn. Continuations carry nothing: a value that is
    // fetched after the lock was held has been handed over in a way that the thread sanitizer understands.
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

    /// Ends the waiting, once.
    ///
    /// - Parameter settle: Called by the first call only, under the lock.
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

    /// Whether the waiting is over, and what there is to be done meanwhile.
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

/// A value that comes later, once. Any number of tasks may wait for it.
package final class Deferred<Value: Sendable>: AnyDeferred, @unchecked Sendable {
    // Sendable because the value is written under the lock, once, and read when that was seen.
    @exclusivity(unchecked) private var settled: Value?

    package override init() {}

    /// Sets the value; only the first call counts.
    package func fulfil(_ value: Value) { end { settled = value } }

    /// Sets the value after a delay, unless the returned call is cancelled or released before.
    package func fulfil(_ value: Value, after delay: Duration) -> DelayedCall {
        DelayedCall(after: delay) { [self] in fulfil(value) }
    }

    /// The value, once it is there. Waiting does not end when the task is cancelled.
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

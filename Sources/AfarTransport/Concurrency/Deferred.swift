/// A waiting task or thread that can run work meanwhile.
package protocol WorkBorrower: AnyObject, Sendable {
    /// Returns whether there is a waiter, which then runs the work.
    func lend(_ work: @escaping @Sendable () -> Void) -> Bool
}

/// What all ``Deferred`` values have in common, whatever their type: those who wait.
package class AnyDeferred: WorkBorrower, @unchecked Sendable {
    // Sendable because everything that changes is touched under the lock only.
    //
    // It knows no type of a value, which would be looked up at each turn. Continuations carry nothing: a value that is
    // fetched after the lock was held has been handed over in a way that the thread sanitizer understands.
    fileprivate typealias Waiter = UnsafeContinuation<Void, Never>

    private let lock = Lock()
    @exclusivity(unchecked) private var isOver = false
    @exclusivity(unchecked) private var lent: (@Sendable () -> Void)?
    @exclusivity(unchecked) private var firstWaiter: Waiter?
    @exclusivity(unchecked) private var otherWaiters: [Waiter] = []

    fileprivate init() {}

    package func lend(_ work: @escaping @Sendable () -> Void) -> Bool {
        lock.lock()
        guard lent == nil, let borrower = firstWaiter else {
            lock.unlock()
            return false
        }
        lent = work
        firstWaiter = nil
        lock.unlock()
        borrower.resume()
        return true
    }

    /// Ends the waiting, once.
    ///
    /// - Parameter settle: Called by the first call only, under the lock.
    fileprivate func end(_ settle: () -> Void) {
        lock.lock()
        guard !isOver else { return lock.unlock() }
        isOver = true
        settle()
        let first = firstWaiter
        let others = otherWaiters
        firstWaiter = nil
        otherWaiters = []
        lock.unlock()
        first?.resume()
        for waiter in others { waiter.resume() }
    }

    /// Whether the waiting is over, and what there is to be done meanwhile.
    fileprivate func takeWork() -> (isOver: Bool, work: (@Sendable () -> Void)?) {
        lock.lock()
        defer { lock.unlock() }
        defer { lent = nil }
        return (isOver, lent)
    }

    fileprivate func add(_ waiter: Waiter) {
        lock.lock()
        let mustWait = !isOver && lent == nil
        if mustWait, firstWaiter == nil {
            firstWaiter = waiter
        } else if mustWait {
            otherWaiters.append(waiter)
        }
        lock.unlock()
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

    /// The value, once it is there. Waiting does not end when the task is cancelled.
    package var value: Value {
        get async {
            while true {
                let (isOver, work) = takeWork()
                if let work {
                    work()
                } else if isOver, let settled {
                    return settled
                } else {
                    await withUnsafeContinuation { add($0) }
                }
            }
        }
    }
}

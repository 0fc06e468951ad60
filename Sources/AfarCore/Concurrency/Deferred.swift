/// Somebody who waits and could as well do some work meanwhile.
package protocol WorkBorrower: AnyObject, Sendable {
    /// Returns whether somebody is waiting, who then does the work.
    func lend(_ work: @escaping @Sendable () -> Void) -> Bool
}

/// A value that comes later, once. Any number of tasks may wait for it.
package final class Deferred<Value: Sendable>: WorkBorrower, @unchecked Sendable {
    // Sendable because everything that changes is touched under the lock only.
    //
    // A lock around generic state would look up that state's type at each turn, and so would continuations of `Value`.
    private typealias Waiting = UnsafeContinuation<(@Sendable () -> Void)?, Never>

    private let lock = Lock()
    private var settled: Value?
    private var firstWaiting: Waiting?
    private var othersWaiting: [Waiting] = []

    package init() {}

    /// Sets the value; only the first call counts.
    package func fulfil(_ value: Value) {
        lock.lock()
        guard settled == nil else { return lock.unlock() }
        settled = value
        let first = firstWaiting
        let others = othersWaiting
        firstWaiting = nil
        othersWaiting = []
        lock.unlock()
        first?.resume(returning: nil)
        for continuation in others { continuation.resume(returning: nil) }
    }

    package func lend(_ work: @escaping @Sendable () -> Void) -> Bool {
        lock.lock()
        let borrower = firstWaiting
        firstWaiting = nil
        lock.unlock()
        borrower?.resume(returning: work)
        return borrower != nil
    }

    /// The value, once it is there. Waiting does not end when the task is cancelled.
    package var value: Value {
        get async {
            while true {
                if let settled = lookUp() { return settled }
                let work = await withUnsafeContinuation { continuation in
                    lock.lock()
                    let isSettled = settled != nil
                    if !isSettled, firstWaiting == nil {
                        firstWaiting = continuation
                    } else if !isSettled {
                        othersWaiting.append(continuation)
                    }
                    lock.unlock()
                    if isSettled { continuation.resume(returning: nil) }
                }
                work?()
            }
        }
    }

    private func lookUp() -> Value? {
        lock.lock()
        defer { lock.unlock() }
        return settled
    }
}

/// Somebody who waits and could as well do some work meanwhile.
package protocol WorkBorrower: AnyObject, Sendable {
    /// Returns whether somebody is waiting, who then does the work.
    func lend(_ work: @escaping @Sendable () -> Void) -> Bool
}

/// A value that comes later, once. Any number of tasks may wait for it.
package final class Deferred<Value: Sendable>: WorkBorrower, @unchecked Sendable {
    // Sendable because everything that changes is touched under the lock only.
    //
    // A lock around generic state would look up that state's type at each turn. Continuations carry nothing: a value that
    // is fetched under the lock has been handed over in a way that the thread sanitizer understands.
    private typealias Waiting = UnsafeContinuation<Void, Never>

    private let lock = Lock()
    private var settled: Value?
    private var lent: (@Sendable () -> Void)?
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
        first?.resume()
        for continuation in others { continuation.resume() }
    }

    package func lend(_ work: @escaping @Sendable () -> Void) -> Bool {
        lock.lock()
        guard lent == nil, let borrower = firstWaiting else {
            lock.unlock()
            return false
        }
        lent = work
        firstWaiting = nil
        lock.unlock()
        borrower.resume()
        return true
    }

    /// The value, once it is there. Waiting does not end when the task is cancelled.
    package var value: Value {
        get async {
            while true {
                let (value, work) = lookUp()
                if let value { return value }
                if let work {
                    work()
                } else {
                    await withUnsafeContinuation { wait($0) }
                }
            }
        }
    }

    private func lookUp() -> (Value?, work: (@Sendable () -> Void)?) {
        lock.lock()
        defer { lock.unlock() }
        return (settled, lent.take())
    }

    private func wait(_ continuation: Waiting) {
        lock.lock()
        let mustWait = settled == nil && lent == nil
        if mustWait, firstWaiting == nil {
            firstWaiting = continuation
        } else if mustWait {
            othersWaiting.append(continuation)
        }
        lock.unlock()
        if !mustWait { continuation.resume() }
    }
}

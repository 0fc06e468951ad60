/// A value that comes later, once. Any number of tasks may wait for it.
package final class Deferred<Value: Sendable>: @unchecked Sendable {
    // Sendable because everything that changes is touched under the lock only.
    //
    // A lock around generic state would look up that state's type at each turn.
    private let lock = Lock()
    private var settled: Value?
    private var firstWaiting: UnsafeContinuation<Value, Never>?
    private var othersWaiting: [UnsafeContinuation<Value, Never>] = []

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
        first?.resume(returning: value)
        for continuation in others { continuation.resume(returning: value) }
    }

    /// The value, once it is there. Waiting does not end when the task is cancelled.
    package var value: Value {
        get async {
            await withUnsafeContinuation { continuation in
                lock.lock()
                if let settled {
                    lock.unlock()
                    return continuation.resume(returning: settled)
                }
                if firstWaiting == nil { firstWaiting = continuation } else { othersWaiting.append(continuation) }
                lock.unlock()
            }
        }
    }
}

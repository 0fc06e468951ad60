/// A lock that calls a closure instead of blocking: first come, first served. Waiting doesn't occupy a thread.
final class CallbackLock: Sendable {
    private typealias Waiting = @Sendable () -> Void

    private struct State {
        var isLocked = false
        var waiting: [Waiting] = []
        /// The closures that came before those in `waiting`, in reverse order: the last one is next.
        var first: [Waiting] = []

        mutating func next() -> Waiting? {
            if first.isEmpty { (first, waiting) = (waiting.reversed(), []) }
            isLocked = !first.isEmpty
            return first.popLast()
        }
    }

    private let state = Locked(State())

    /// Calls a closure once the lock is acquired: immediately, or from the call to ``unlock()`` that releases it.
    func lock(_ proceed: @escaping @Sendable () -> Void) {
        let mustWait = state.withLock { state in
            if state.isLocked { state.waiting.append(proceed) }
            return Swift.exchange(&state.isLocked, with: true)
        }
        if !mustWait { proceed() }
    }

    /// Waits until the lock is acquired.
    func acquire() async { await withUnsafeContinuation { acquired in lock { acquired.resume() } } }

    func unlock() { state.withLock { $0.next() }?() }
}

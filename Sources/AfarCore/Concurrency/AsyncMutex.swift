/// Lets tasks do something one at a time, in the order in which they come. A task that waits holds no thread.
final class AsyncMutex: Sendable {
    private typealias Waiting = UnsafeContinuation<Void, Never>

    private struct State {
        var isLocked = false
        var waiting: [Waiting] = []
        /// How many of `waiting` have been resumed.
        var resumed = 0

        mutating func next() -> Waiting? {
            guard resumed < waiting.count else {
                (isLocked, waiting, resumed) = (false, [], 0)
                return nil
            }
            resumed += 1
            return waiting[resumed - 1]
        }
    }

    private let state = Locked(State())

    /// Runs `body` when nobody else's is running. Waiting does not end when the task is cancelled.
    func withLock<Value: Sendable>(_ body: @Sendable () async -> Value) async -> Value {
        await lock()
        defer { unlock() }
        return await body()
    }

    private func lock() async {
        let mustWait = state.withLock { state in
            defer { state.isLocked = true }
            return state.isLocked
        }
        guard mustWait else { return }
        await withUnsafeContinuation { (continuation: Waiting) in
            let mustWait = state.withLock { state in
                if state.isLocked { state.waiting.append(continuation) }
                defer { state.isLocked = true }
                return state.isLocked
            }
            if !mustWait { continuation.resume() }
        }
    }

    private func unlock() { state.withLock { $0.next() }?.resume() }
}

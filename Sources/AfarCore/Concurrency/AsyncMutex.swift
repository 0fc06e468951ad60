/// Lets tasks do something one at a time, in the order in which they come. A task that waits holds no thread.
final class AsyncMutex: Sendable {
    private typealias Waiting = UnsafeContinuation<Void, Never>

    private struct State {
        var isLocked = false
        var waiting: [Waiting] = []
        /// Those who came before the ones in `waiting`; the last one is the first in the line.
        var first: [Waiting] = []

        mutating func next() -> Waiting? {
            if first.isEmpty { (first, waiting) = (waiting.reversed(), []) }
            isLocked = !first.isEmpty
            return first.popLast()
        }
    }

    private let state = Locked(State())

    /// Waits for the caller's turn, which lasts until ``unlock()``; also when the task is cancelled.
    func lock() async {
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

    func unlock() { state.withLock { $0.next() }?.resume() }
}

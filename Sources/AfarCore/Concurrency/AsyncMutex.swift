/// Lets tasks do something one at a time, in the order in which they come. Who waits holds no thread.
final class AsyncMutex: Sendable {
    private typealias Waiting = @Sendable () -> Void

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

    /// Calls a closure when it is the caller's turn, which lasts until ``unlock()``: at once, or by whoever unlocks.
    func lock(_ proceed: @escaping @Sendable () -> Void) {
        let mustWait = state.withLock { state in
            if state.isLocked { state.waiting.append(proceed) }
            return Swift.exchange(&state.isLocked, with: true)
        }
        if !mustWait { proceed() }
    }

    func unlock() { state.withLock { $0.next() }?() }
}

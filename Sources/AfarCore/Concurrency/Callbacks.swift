/// A lock that calls a closure when it is acquired, instead of blocking a thread. Closures are called in the order of the calls
/// to ``lock(_:)``.
final class CallbackLock: Sendable {
    private typealias Waiting = @Sendable () -> Void

    private struct State {
        var isLocked = false
        var waiting: [Waiting] = []
        /// The closures to call before the closures in `waiting`. The last one is called next.
        var first: [Waiting] = []

        mutating func next() -> Waiting? {
            if first.isEmpty { (first, waiting) = (waiting.reversed(), []) }
            isLocked = !first.isEmpty
            return first.popLast()
        }
    }

    private let state = Locked(State())

    /// Calls a closure after acquiring the lock. If the lock is free, the call is immediate. Otherwise, a later ``unlock()``
    /// makes the call.
    func lock(_ proceed: @escaping @Sendable () -> Void) {
        let mustWait = state.withLock { state in
            if state.isLocked { state.waiting.append(proceed) }
            return Swift.exchange(&state.isLocked, with: true)
        }
        if !mustWait { proceed() }
    }

    func acquire() async { await withUnsafeContinuation { acquired in lock { acquired.resume() } } }

    func unlock() { state.withLock { $0.next() }?() }
}

/// Waits until user code calls a callback, and returns the first call's argument. If the task is canceled first, returns
/// `cancelled` instead.
func withCancellableCallback<Answer: Sendable>(
    ifCancelled cancelled: @autoclosure @escaping @Sendable () -> Answer,
    _ ask: @Sendable (@escaping @Sendable (Answer) -> Void) async -> Void
) async -> Answer {
    let deferred = Deferred<Answer>()
    return await withTaskCancellationHandler {
        await ask { deferred.fulfill($0) }
        return await deferred.value
    } onCancel: {
        deferred.fulfill(cancelled())
    }
}

/// Returns a callback that ignores every call after the first.
func once<Answer>(_ callback: @escaping @Sendable (Answer) -> Void) -> @Sendable (Answer) -> Void {
    let wasCalled = Locked(false)
    return { answer in
        let isFirst = wasCalled.withLock { !Swift.exchange(&$0, with: true) }
        if isFirst { callback(answer) }
    }
}

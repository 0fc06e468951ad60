/// A value that comes later, once. Any number of tasks may wait for it.
package final class Deferred<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [UnsafeContinuation<Value, Never>] = []
    }

    private let state = Locked(State())

    package init() {}

    /// Sets the value; only the first call counts.
    package func fulfil(_ value: Value) {
        let waiting = state.withLock { state -> [UnsafeContinuation<Value, Never>] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// The value, once it is there. Waiting does not end when the task is cancelled.
    package var value: Value {
        get async {
            await withUnsafeContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    if state.value == nil { state.waiting.append(continuation) }
                    return state.value
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }
}

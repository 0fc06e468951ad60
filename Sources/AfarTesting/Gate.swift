import AfarCore

/// A gate that one task at a time waits at while it is closed.
struct Gate: Sendable {
    private struct State {
        var isClosed = false
        var isRemoved = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    func close() {
        state.withLock { $0.isClosed = true }
    }

    func open() {
        state.withLock { state in
            state.isClosed = false
            return state.waiting.take()
        }?.resume()
    }

    /// Opens for good.
    func remove() {
        state.withLock { $0.isRemoved = true }
        open()
    }

    /// Waits until the gate is open.
    func pass() async {
        await withCheckedContinuation { continuation in
            let mayPass = state.withLock { state in
                guard state.isClosed, !state.isRemoved else { return true }
                state.waiting = continuation
                return false
            }
            if mayPass { continuation.resume() }
        }
    }
}

import AfarCore

/// A semaphore for tasks. It admits a limited number of tasks at a time, and all other tasks wait in order.
final class Turnstile: Sendable {
    private struct State {
        var places: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    init(places: Int) {
        state = Locked(State(places: places))
    }

    func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                if state.places == 0 {
                    state.waiting.append(continuation)
                    return false
                }
                state.places -= 1
                return true
            }
            if mayEnter { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.places += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

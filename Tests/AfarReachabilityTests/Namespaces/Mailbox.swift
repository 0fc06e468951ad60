@testable import AfarReachability

/// A queue of values from one thread to one task.
final class Mailbox<Value: Sendable>: Sendable {
    struct TimedOut: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var values: [Value] = []
        var waiter: (number: Int, continuation: CheckedContinuation<Value?, Never>)?
        var number = 0
    }

    private let state = Locked(State())

    func put(_ value: Value) {
        let continuation = state.withLock { state -> CheckedContinuation<Value?, Never>? in
            if let waiter = state.waiter {
                state.waiter = nil
                return waiter.continuation
            }
            state.values.append(value)
            return nil
        }
        continuation?.resume(returning: value)
    }

    /// Returns the next value. The test fails if none arrives before the deadline.
    func take(_ what: String, within deadline: Duration = .seconds(10)) async throws -> Value {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let timeout = Task {
            try await Task.sleep(for: deadline)
            self.giveUp(number)
        }
        defer { timeout.cancel() }
        let value = await withCheckedContinuation { continuation in
            let value = state.withLock { state -> Value? in
                if !state.values.isEmpty { return state.values.removeFirst() }
                state.waiter = (number, continuation)
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
        guard let value else { throw TimedOut(description: "\(what): nothing for \(deadline)") }
        return value
    }

    /// Removes and returns all current values.
    func takeAll() -> [Value] {
        state.withLock { state in
            defer { state.values = [] }
            return state.values
        }
    }

    private func giveUp(_ number: Int) {
        let continuation = state.withLock { state -> CheckedContinuation<Value?, Never>? in
            guard let waiter = state.waiter, waiter.number == number else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        continuation?.resume(returning: nil)
    }
}

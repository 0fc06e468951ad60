import AfarTransport
import Dispatch
import Foundation

/// Calls closures after delays. One task serves all pending calls, because most calls are canceled.
final class DelayedCalls: Sendable {
    struct ID: Sendable { fileprivate let number: Int }

    fileprivate struct State {
        var calls: [Int: @Sendable () -> Void] = [:]
        /// The calls in the order of their time, including canceled ones.
        var order: [(time: Duration, number: Int)] = []
        var lastNumber = 0
        /// The task that waits for the first call.
        var waiting: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// Schedules a call. The closure must return immediately and run no user code.
    func schedule(after delay: Duration, by time: TimeSource, _ call: @escaping @Sendable () -> Void) -> ID {
        let end = time.uptime + min(max(delay, .zero), .seconds(1e9))
        return state.withLock { state in
            state.lastNumber += 1
            state.calls[state.lastNumber] = call
            let index = (state.order.lastIndex { $0.time <= end } ?? -1) + 1
            state.order.insert((end, state.lastNumber), at: index)
            if state.waiting == nil || index == 0 { state.wait(until: end, by: time, calling: self) }
            return ID(number: state.lastNumber)
        }
    }

    func cancel(_ id: ID) {
        // The closure is released outside the lock.
        _ = state.withLock { state in
            defer { state.discardCanceledCalls() }
            return state.calls.removeValue(forKey: id.number)
        }
    }

    /// Performs the calls that are due, and waits for the next one.
    private func performDueCalls(by time: TimeSource) {
        let now = time.uptime
        let calls = state.withLock { state in
            let dueCount = state.order.firstIndex { $0.time > now } ?? state.order.count
            let calls = state.order.prefix(dueCount).compactMap { state.calls.removeValue(forKey: $0.number) }
            state.order.removeFirst(dueCount)
            // Skip the canceled calls that come next.
            let canceledCount = state.order.firstIndex { state.calls[$0.number] != nil } ?? state.order.count
            state.order.removeFirst(canceledCount)
            state.waiting = nil
            if let next = state.order.first { state.wait(until: next.time, by: time, calling: self) }
            return calls
        }
        for call in calls { call() }
    }
}

extension DelayedCalls.State {
    /// Most calls are canceled long before their time.
    fileprivate mutating func discardCanceledCalls() {
        if calls.isEmpty {
            waiting?.cancel()
            (waiting, order) = (nil, [])
        } else if order.count > 2 * calls.count + 16 {
            order.removeAll { calls[$0.number] == nil }
        }
    }

    /// Replaces the task that waits.
    fileprivate mutating func wait(until end: Duration, by time: TimeSource, calling calls: DelayedCalls) {
        waiting?.cancel()
        waiting = Task(executorPreference: QueueExecutor.global) {
            do { try await time.sleep(for: end - time.uptime) } catch { return }
            calls.performDueCalls(by: time)
        }
    }
}

import Foundation

/// Runs synchronous trust evaluators, which are user code that can block.
///
/// Each one runs in a task of the request, so it has the request's task-local values, on its own serial queue: Dispatch provides
/// a thread for such a queue even if all its other threads and those of the task pool are blocked. The number of evaluators that
/// run at a time is limited. The others wait in order of arrival.
final class EvaluatorThreads: Sendable {
    static let shared = EvaluatorThreads(limit: 16, queueLimit: 1_024)

    private enum Outcome {
        case admitted
        case cancelled
        case timedOut
    }

    private struct State {
        var runningCount = 0
        var waiting: [Deferred<Outcome>] = []
    }

    private let limit: Int
    private let queueLimit: Int
    private let state = Locked(State())

    init(limit: Int, queueLimit: Int) { (self.limit, self.queueLimit) = (limit, queueLimit) }

    /// Runs an evaluator. If the task is cancelled, returns immediately, although the evaluator may still be running.
    ///
    /// - Throws: The evaluator's error, ``NoTrustDecision`` if it couldn't run, or `CancellationError`.
    func run(waitingAtMost longestWait: Duration, _ evaluate: @escaping @Sendable () throws -> Void) async throws {
        try await waitForTurn(atMost: longestWait)
        try await withCancellableTask(on: QueueExecutor(DispatchQueue(label: "afar.evaluator"))) { [self] in
            defer { endTurn() }
            try Task.checkCancellation()
            try evaluate()
        }
    }

    private func waitForTurn(atMost longestWait: Duration) async throws {
        let turn = Deferred<Outcome>()
        let mustWait = try state.withLock { state in
            guard state.runningCount == limit else {
                state.runningCount += 1
                return false
            }
            guard state.waiting.count < queueLimit else {
                throw NoTrustDecision(
                    .outOfResources,
                    "the server's certificates can't be evaluated: \(limit) evaluators are running and "
                        + "\(queueLimit) requests wait for one of them to return")
            }
            state.waiting.append(turn)
            return true
        }
        guard mustWait else { return }
        let timer = DelayedCall(after: longestWait) { [self] in leave(turn, .timedOut) }
        defer { timer.cancel() }
        let outcome = await withTaskCancellationHandler {
            await turn.value
        } onCancel: {
            leave(turn, .cancelled)
        }
        switch outcome {
        case .admitted: return
        case .cancelled: throw CancellationError()
        case .timedOut:
            throw NoTrustDecision(
                .timedOut,
                "the server's certificates were not evaluated within \(longestWait.formatted(.units())), because "
                    + "\(limit) other evaluators have not returned")
        }
    }

    /// Ends a wait, unless its turn has come.
    private func leave(_ turn: Deferred<Outcome>, _ outcome: Outcome) {
        let hasLeft = state.withLock { state in
            let index = state.waiting.firstIndex { $0 === turn }
            if let index { state.waiting.remove(at: index) }
            return index != nil
        }
        if hasLeft { turn.fulfill(outcome) }
    }

    private func endTurn() {
        let next = state.withLock { state -> Deferred<Outcome>? in
            guard !state.waiting.isEmpty else {
                state.runningCount -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.fulfill(.admitted)
    }
}

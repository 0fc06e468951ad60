import Foundation

/// Reports the progress of all parts as one. At most one report is pending at a time.
final class DownloadProgress: @unchecked Sendable {
    // Sendable because `progress` is only changed on `queue`, and the lock protects the state.

    typealias Handler = @Sendable (Progress) -> Void

    private struct State {
        var completed: Int64 = 0
        var total: Int64?
        var isPending = false
        var handlers: [(queue: DispatchQueue, call: Handler)] = []
    }

    let progress = Progress.discreteProgress(totalUnitCount: -1)
    private let queue = DispatchQueue(label: "afar.parallel.progress")
    private let state = Guarded(State())

    func append(on queue: DispatchQueue, _ handler: @escaping Handler) {
        state.withLock { $0.handlers.append((queue, handler)) }
    }

    func begin(total: Int64?) {
        state.withLock { ($0.completed, $0.total) = (0, total) }
        report()
    }

    func add(_ bytes: Int64) {
        state.withLock { $0.completed += bytes }
        report()
    }

    /// Waits until `progress` has its last value.
    func finish() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private func report() {
        let isPending = state.withLock { state in
            defer { state.isPending = true }
            return state.isPending
        }
        guard !isPending else { return }
        queue.async { [self] in
            let (completed, total, handlers) = state.withLock { state in
                state.isPending = false
                return (state.completed, state.total, state.handlers)
            }
            // On Linux, a total of 0 traps.
            if let total, total > 0, progress.totalUnitCount != total { progress.totalUnitCount = total }
            progress.completedUnitCount = completed
            for handler in handlers { handler.queue.async { [progress] in handler.call(progress) } }
        }
    }
}

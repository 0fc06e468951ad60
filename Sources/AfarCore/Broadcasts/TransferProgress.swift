import Foundation

/// The progress of one direction of a request's transfer: its values as they are broadcast, and Foundation's object.
final class TransferProgress: Sendable {
    let figures: Broadcast<ByteProgress>
    private let shown = ShownProgress()

    init(_ figures: Broadcast<ByteProgress>) {
        self.figures = figures
    }

    var last: ByteProgress? { figures.last }

    /// The one object that shows the figures.
    var progress: Progress { shown.progress }

    func update(completed: Int64, total: Int64?) {
        guard completed > 0 else { return }
        let newest = ByteProgress(completed: completed, total: total)
        // First, since a handler that is told may look at once.
        shown.show(newest)
        figures.send(newest)
    }

    /// Another attempt begins at nothing.
    func forget() {
        figures.forget()
        shown.show(ByteProgress())
    }

    /// Sets the handler, in place of the one before. Calls that a slow queue has not made yet are not piled up.
    func setHandler(on queue: DispatchQueue, _ handler: @escaping Request.ProgressHandler) {
        let isCallDue = Locked(false)
        figures.setHandler(
            Broadcast.Listener { [shown] _ in
                let wasDue = isCallDue.withLock { Swift.exchange(&$0, with: true) }
                guard !wasDue else { return }
                shown.callBegins()
                queue.async {
                    isCallDue.withLock { $0 = false }
                    handler(shown.progress)
                    shown.callEnded()
                }
            })
    }

    /// Whether the handler is still to be called, or runs.
    var owesCalls: Bool { shown.owesCalls }

    /// Returns when the handler has been called for all that happened; when the task is cancelled, at once; after 5 seconds
    /// in any case.
    func waitForCalls() async { await shown.waitForCalls() }
}

/// Foundation's object, and the calls that are made with it.
private final class ShownProgress: Sendable {
    private struct State {
        var figures = ByteProgress()
        var progress: Progress?
        var calls = 0
        /// Who is to be told when there are no calls.
        var waiting: [Deferred<Void>] = []
    }

    /// For a queue that never comes to its calls, like the main queue of a blocked main thread.
    private static let longestWait = Duration.seconds(5)

    private let state = Locked(State())

    var progress: Progress {
        state.withLock { state in
            let progress = state.progress ?? state.figures.progress
            state.progress = progress
            return progress
        }
    }

    func show(_ figures: ByteProgress) {
        let progress = state.withLock { state in
            state.figures = figures
            return state.progress
        }
        // Without the lock: on Apple's platforms somebody may observe it.
        guard let progress else { return }
        if figures.total == 0 {
            // More than nothing of nothing would be the end.
            progress.completedUnitCount = figures.completed
            // On Linux, a total that is known traps when it becomes nothing.
            if progress.totalUnitCount > 0 { progress.totalUnitCount = -1 }
        }
        if progress.totalUnitCount != figures.total { progress.totalUnitCount = figures.total }
        progress.completedUnitCount = figures.completed
    }

    func callBegins() { state.withLock { $0.calls += 1 } }

    func callEnded() {
        let waiting = state.withLock { state in
            state.calls -= 1
            guard state.calls == 0 else { return [] as [Deferred<Void>] }
            return Swift.exchange(&state.waiting, with: [])
        }
        for deferred in waiting { deferred.fulfil(()) }
    }

    var owesCalls: Bool { state.withLock { $0.calls > 0 } }

    func waitForCalls() async {
        guard owesCalls else { return }
        let deferred = Deferred<Void>()
        // People may block the threads that there are for tasks.
        let limit = Task(executorPreference: QueueExecutor.global) {
            try? await Task.sleep(for: Self.longestWait)
            deferred.fulfil(())
        }
        await withTaskCancellationHandler {
            let isIdle = state.withLock { state in
                if state.calls > 0 { state.waiting.append(deferred) }
                return state.calls == 0
            }
            if !isIdle { await deferred.value }
        } onCancel: {
            deferred.fulfil(())
        }
        limit.cancel()
    }
}

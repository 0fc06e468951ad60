import Foundation

/// How far one direction of a transfer has come, and who wants to know.
///
/// Calls that a slow queue has not made yet are not piled up: the next call tells the newest figures.
final class TransferProgress: Sendable {
    typealias Handler = @Sendable (Progress) -> Void

    private struct State {
        var completed: Int64 = 0
        var total: Int64 = 0
        var listener: (queue: DispatchQueue, handler: Handler)?
        var isCallPending = false
    }

    private let state = Locked(State())
    /// Foundation's form. Its counts are set on the listener's queue, and when it is asked for.
    private let shown = Progress(totalUnitCount: 0)

    /// Foundation's form, up to date.
    var progress: Progress {
        let (completed, total) = state.withLock { ($0.completed, $0.total) }
        shown.totalUnitCount = total
        shown.completedUnitCount = completed
        return shown
    }

    /// Sets who is told, in place of who was told before.
    func listen(on queue: DispatchQueue, _ handler: @escaping Handler) {
        state.withLock { $0.listener = (queue, handler) }
    }

    /// - Parameter total: Nil when it is not known.
    func update(completed: Int64, total: Int64?) {
        let queue = state.withLock { state -> DispatchQueue? in
            state.completed = completed
            state.total = total ?? -1
            guard !state.isCallPending, completed > 0, let listener = state.listener else { return nil }
            state.isCallPending = true
            return listener.queue
        }
        queue?.async { [self] in
            let handler = state.withLock { state in
                state.isCallPending = false
                return state.listener?.handler
            }
            handler?(progress)
        }
    }
}

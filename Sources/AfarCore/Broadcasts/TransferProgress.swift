import Foundation

/// The progress of one direction of a request's transfer: the figures, Foundation's object that shows them, and those who
/// want to know of each change.
final class TransferProgress: Sendable {
    /// Who is called with the progress.
    struct Handler {
        fileprivate let number: Int
        fileprivate let queue: DispatchQueue
        fileprivate let call: @Sendable (Progress) -> Void
    }

    private struct State {
        /// Nil as long as nothing has moved in this attempt.
        var figures: ByteProgress?
        var progress: Progress?
        /// Nil as long as nobody iterates.
        var broadcast: Broadcast<ByteProgress>?
        var handler: Handler?
        var handlerCount = 0
        /// Whether a call of the handler waits in its queue.
        var isCallDue = false
        /// Calls that wait or run, also of handlers before.
        var callCount = 0
        /// Who is to be told when there are no calls.
        var waiting: [Deferred<Void>] = []

        /// The handler, if it is to be called, which has to be done.
        mutating func beginCall() -> Handler? {
            guard let handler, !isCallDue else { return nil }
            isCallDue = true
            callCount += 1
            return handler
        }
    }

    /// For a queue that never comes to its calls, like the main queue of a blocked main thread.
    private static let longestWait = Duration.seconds(5)

    private let state = InlineLocked(State())

    var last: ByteProgress? { state.withLock { $0.figures } }

    /// Foundation's object, the same one each time.
    var progress: Progress {
        state.withLock { state in
            let progress = state.progress ?? (state.figures ?? ByteProgress()).progress
            state.progress = progress
            return progress
        }
    }

    /// The figures as they are broadcast.
    ///
    /// - Parameter make: Makes a broadcast that begins with what happened last.
    func broadcast(make: (_ last: ByteProgress?) -> Broadcast<ByteProgress>) -> Broadcast<ByteProgress> {
        state.withLock { state in
            let broadcast = state.broadcast ?? make(state.figures)
            state.broadcast = broadcast
            return broadcast
        }
    }

    func update(completed: Int64, total: Int64?) {
        guard completed > 0 else { return }
        let newest = ByteProgress(completed: completed, total: total)
        let (progress, broadcast, handler) = state.withLock { state in
            state.figures = newest
            return (state.progress, state.broadcast, state.beginCall())
        }
        // First, since a handler may look at once. Without the lock: on Apple's platforms somebody may observe it.
        progress?.show(newest)
        broadcast?.send(newest)
        if let handler { call(handler) }
    }

    /// Another attempt begins at nothing.
    func forget() {
        let (progress, broadcast) = state.withLock { state in
            state.figures = nil
            return (state.progress, state.broadcast)
        }
        progress?.show(ByteProgress())
        broadcast?.forget()
    }

    // MARK: The handler

    /// Sets the handler. Calls that a slow queue has not made yet are not piled up.
    ///
    /// - Returns: The handler before, to be released when no lock is held.
    func setHandler(on queue: DispatchQueue, _ call: @escaping @Sendable (Progress) -> Void) -> Handler? {
        state.withLock { state in
            state.handlerCount += 1
            state.isCallDue = false
            let handler = Handler(number: state.handlerCount, queue: queue, call: call)
            return Swift.exchange(&state.handler, with: handler)
        }
    }

    /// Calls no handler any more, but for what is due already.
    ///
    /// - Returns: The handler, to be released when no lock is held.
    func takeHandler() -> Handler? { state.withLock { $0.handler.take() } }

    private func call(_ handler: Handler) {
        handler.queue.async { [self] in
            state.withLock { if $0.handlerCount == handler.number { $0.isCallDue = false } }
            handler.call(progress)
            let waiting = state.withLock { state in
                state.callCount -= 1
                guard state.callCount == 0 else { return [] as [Deferred<Void>] }
                return Swift.exchange(&state.waiting, with: [])
            }
            for deferred in waiting { deferred.fulfil(()) }
        }
    }

    /// Whether a handler is still to be called, or runs.
    var owesCalls: Bool { state.withLock { $0.callCount > 0 } }

    /// Returns when the handler has been called for all that happened; when the task is cancelled, at once; after 5 seconds
    /// in any case.
    func waitForCalls() async {
        guard owesCalls else { return }
        let deferred = Deferred<Void>()
        let limit = deferred.fulfil((), after: Self.longestWait)
        await withTaskCancellationHandler {
            let isIdle = state.withLock { state in
                if state.callCount > 0 { state.waiting.append(deferred) }
                return state.callCount == 0
            }
            if !isIdle { await deferred.value }
        } onCancel: {
            deferred.fulfil(())
        }
        limit.cancel()
    }
}

extension Progress {
    fileprivate func show(_ figures: ByteProgress) {
        if figures.total == 0 {
            // More than nothing of nothing would be the end.
            completedUnitCount = figures.completed
            // On Linux, a total that is known traps when it becomes nothing.
            if totalUnitCount > 0 { totalUnitCount = -1 }
        }
        if totalUnitCount != figures.total { totalUnitCount = figures.total }
        completedUnitCount = figures.completed
    }
}

/// How far one direction of a transfer has come, in bytes.
struct ByteProgress: Sendable {
    var completed: Int64
    /// −1 when it is not known.
    var total: Int64

    init(completed: Int64 = 0, total: Int64? = 0) {
        self.completed = completed
        self.total = total ?? -1
    }

    /// Foundation's form, in an object of its own.
    var progress: Progress {
        // Unlike `init(totalUnitCount:)`, this does not make it a part of whatever the thread's current progress is.
        let progress = Progress.discreteProgress(totalUnitCount: total)
        progress.completedUnitCount = completed
        return progress
    }
}

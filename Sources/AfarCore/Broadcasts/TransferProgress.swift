import Foundation

/// The progress of one direction of a request's transfer: the byte counts, the `Progress` object that shows them, and the handler
/// and streams to notify.
final class TransferProgress: Sendable {
    /// A progress handler.
    struct Handler {
        fileprivate let number: Int
        fileprivate let queue: DispatchQueue
        fileprivate let call: @Sendable (Progress) -> Void
    }

    private struct State {
        /// Nil until bytes have moved in this attempt.
        var figures: ByteProgress?
        var progress: Progress?
        /// Nil until an iteration starts.
        var broadcast: Broadcast<ByteProgress>?
        var handler: Handler?
        var handlerCount = 0
        /// Whether a call of the handler is pending in its queue.
        var isCallDue = false
        /// The number of pending and running calls, including those of previous handlers.
        var callCount = 0
        /// Fulfilled when no calls are left.
        var waiting: [Deferred<Void>] = []

        /// Returns the handler if it must be called, and counts the call. The caller must make the call.
        mutating func beginCall() -> Handler? {
            guard let handler, !isCallDue else { return nil }
            isCallDue = true
            callCount += 1
            return handler
        }
    }

    /// For queues that never run the calls, such as the main queue of a blocked main thread.
    private static let longestWait = Duration.seconds(5)

    private let state = InlineLocked(State())

    var last: ByteProgress? { state.withLock { $0.figures } }

    /// Foundation's object, always the same one.
    var progress: Progress {
        state.withLock { state in
            let progress = state.progress ?? (state.figures ?? ByteProgress()).progress
            state.progress = progress
            return progress
        }
    }

    /// Returns the broadcast of the byte counts.
    ///
    /// - Parameter make: Creates a broadcast that begins with the last value.
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
        // First, because a handler may read it. Outside the lock, because on Apple platforms it may have observers.
        progress?.show(newest)
        broadcast?.send(newest)
        if let handler { call(handler) }
    }

    /// Resets the progress for a new attempt.
    func forget() {
        let (progress, broadcast) = state.withLock { state in
            state.figures = nil
            return (state.progress, state.broadcast)
        }
        progress?.show(ByteProgress())
        broadcast?.forget()
    }

    // MARK: Handler

    /// Sets the handler. At most one call of it is pending at a time, even if its queue is slow.
    ///
    /// - Returns: The previous handler, which must be released outside all locks.
    func setHandler(on queue: DispatchQueue, _ call: @escaping @Sendable (Progress) -> Void) -> Handler? {
        state.withLock { state in
            state.handlerCount += 1
            state.isCallDue = false
            let handler = Handler(number: state.handlerCount, queue: queue, call: call)
            return Swift.exchange(&state.handler, with: handler)
        }
    }

    /// Removes the handler. Pending calls are still made.
    ///
    /// - Returns: The handler, which must be released outside all locks.
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
            for deferred in waiting { deferred.fulfill(()) }
        }
    }

    /// Whether a call of a handler is pending or running.
    var hasPendingCalls: Bool { state.withLock { $0.callCount > 0 } }

    /// Waits until the handler has been called for all changes, the task is cancelled, or 5 seconds have passed.
    func waitForCalls() async {
        guard hasPendingCalls else { return }
        let deferred = Deferred<Void>()
        let limit = deferred.fulfill((), after: Self.longestWait)
        await withTaskCancellationHandler {
            let isIdle = state.withLock { state in
                if state.callCount > 0 { state.waiting.append(deferred) }
                return state.callCount == 0
            }
            if !isIdle { await deferred.value }
        } onCancel: {
            deferred.fulfill(())
        }
        limit.cancel()
    }
}

extension Progress {
    fileprivate func show(_ figures: ByteProgress) {
        if figures.total == 0 {
            // A completed count above a total of 0 would mean finished.
            completedUnitCount = figures.completed
            // On Linux, changing a known total to 0 traps.
            if totalUnitCount > 0 { totalUnitCount = -1 }
        }
        if totalUnitCount != figures.total { totalUnitCount = figures.total }
        completedUnitCount = figures.completed
    }
}

/// The progress of one direction of a transfer, in bytes.
struct ByteProgress: Sendable {
    var completed: Int64
    /// −1 if unknown.
    var total: Int64

    init(completed: Int64 = 0, total: Int64? = 0) {
        self.completed = completed
        self.total = total ?? -1
    }

    /// A new Foundation object with these values.
    var progress: Progress {
        // Unlike `init(totalUnitCount:)`, this doesn't attach it to the thread's current progress.
        let progress = Progress.discreteProgress(totalUnitCount: total)
        progress.completedUnitCount = completed
        return progress
    }
}

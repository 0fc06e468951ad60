public import Foundation

extension Request {
    /// A closure that is called with the progress of a transfer.
    public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void

    /// The progress of the upload, in bytes. The request always returns the same object and resets it for each attempt.
    public var uploadProgress: Progress { mutable.withLock { $0.makeObservers().progress(\.sending) }.progress }

    /// The progress of the download, in decoded bytes. The request always returns the same object and resets it for each attempt.
    /// The total is −1 if the server didn't send the length.
    public var downloadProgress: Progress { mutable.withLock { $0.makeObservers().progress(\.receiving) }.progress }

    /// Sets a closure that is called with the progress of the upload. A later call replaces the closure.
    ///
    /// A plain ``DataRequest`` counts bytes only if the closure is set before the request starts. Other kinds of requests
    /// always count bytes.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue. If the queue is slow, intermediate
    ///     values are skipped, but the last value is always delivered. Response handlers are called after the last progress call
    ///     has returned. If the queue is blocked, for example because the main thread is blocked, the request waits at most 5
    ///     seconds for that call. A canceled request doesn't wait.
    ///   - closure: Called each time more bytes have been sent.
    @preconcurrency
    @discardableResult
    public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        setHandler(on: queue, closure, of: \.sending)
        return self
    }

    /// Sets a closure that is called with the progress of the download. A later call replaces the closure. See
    /// ``uploadProgress(queue:closure:)``.
    @preconcurrency
    @discardableResult
    public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        setHandler(on: queue, closure, of: \.receiving)
        return self
    }

    /// Returns a sequence of the progress of the upload. If a progress closure is set, it is called as well.
    ///
    /// A plain ``DataRequest`` counts bytes only if this method is called before the request starts. Other kinds of requests
    /// always count bytes. An iteration that starts late begins with the current values. The iteration ends when the request
    /// finishes or is canceled. Ending the iteration doesn't affect the request.
    ///
    /// - Parameter bufferingPolicy: The policy for buffering values until the loop receives them. The default is `.unbounded`.
    ///   For long transfers, use `.bufferingNewest(1)`, which keeps only the newest value.
    public func uploadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        stream(of: broadcast(of: \.sending), bufferingPolicy: bufferingPolicy) { $0.progress }
    }

    /// Returns a sequence of the progress of the download. If a progress closure is set, it is called as well. See
    /// ``uploadProgress(bufferingPolicy:)``.
    public func downloadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        stream(of: broadcast(of: \.receiving), bufferingPolicy: bufferingPolicy) { $0.progress }
    }

    private func setHandler(
        on queue: DispatchQueue, _ handler: @escaping ProgressHandler, of direction: Observers.Direction
    ) {
        mutable.release { state in
            state.handlers.isDrained ? nil : state.makeObservers().progress(direction).setHandler(on: queue, handler)
        }
    }

    private func broadcast(of direction: Observers.Direction) -> Broadcast<ByteProgress> {
        mutable.withLock { state in
            state.makeObservers().progress(direction).broadcast { state.makeBroadcast(after: $0) }
        }
    }

    /// Enables byte counting for exchanges that begin later.
    func countBytes() {
        mutable.withLock { state in
            let observers = state.makeObservers()
            _ = (observers.progress(\.sending), observers.progress(\.receiving))
        }
    }

    var reportsProgress: Bool {
        mutable.withLock { $0.observers?.sending != nil || $0.observers?.receiving != nil }
    }

    /// The number of bytes that a resumed download already had before the current attempt's body.
    package var bytesBefore: Int64 { mutable.withLock { $0.attempt.bytesBefore } }

    func didSend(bytes: Int64, expected: Int64?) {
        mutable.withLock { $0.observers?.sending }?.update(completed: bytes, total: expected)
    }

    func didReceive(bytes: Int64, expected: Int64?) {
        let (receiving, before) = mutable.withLock { ($0.observers?.receiving, $0.attempt.bytesBefore) }
        receiving?.update(completed: before + bytes, total: expected.map { before + $0 })
    }

    /// Whether a call to a progress handler is pending or running.
    var hasPendingProgress: Bool {
        let (sending, receiving) = mutable.withLock { ($0.observers?.sending, $0.observers?.receiving) }
        return sending?.hasPendingCalls == true || receiving?.hasPendingCalls == true
    }

    /// Waits until the progress handlers have been called for all changes, or the task is canceled.
    func waitForProgress() async {
        let (sending, receiving) = mutable.withLock { ($0.observers?.sending, $0.observers?.receiving) }
        await sending?.waitForCalls()
        await receiving?.waitForCalls()
    }
}

extension Observers {
    fileprivate typealias Direction = ReferenceWritableKeyPath<Observers, TransferProgress?>

    /// Returns the progress of one direction, creating it on first use.
    fileprivate func progress(_ direction: Direction) -> TransferProgress {
        if let progress = self[keyPath: direction] { return progress }
        let progress = TransferProgress()
        self[keyPath: direction] = progress
        return progress
    }
}

/// The progress of one direction of a request's transfer: the byte counts, their `Progress` object, and the handler and streams
/// to notify.
final class TransferProgress: Sendable {
    struct Handler {
        fileprivate let number: Int
        fileprivate let queue: DispatchQueue
        fileprivate let call: @Sendable (Progress) -> Void
    }

    private struct State {
        /// Nil until the attempt has transferred bytes.
        var byteProgress: ByteProgress?
        var progress: Progress?
        /// Nil until an iteration starts.
        var broadcast: Broadcast<ByteProgress>?
        var handler: Handler?
        var handlerCount = 0
        /// Whether a call to the handler is pending in its queue.
        var isCallPending = false
        /// The number of pending and running calls, including calls to previous handlers.
        var callCount = 0
        /// Fulfilled when no calls are left.
        var waiting: [Deferred<Void>] = []

        /// Returns the handler if it must be called, and counts the call. The caller must then call the handler.
        mutating func beginCall() -> Handler? {
            guard let handler, !isCallPending else { return nil }
            isCallPending = true
            callCount += 1
            return handler
        }
    }

    /// Limits the wait for queues that never run the calls, such as the main queue while the main thread is blocked.
    private static let longestWait = Duration.seconds(5)

    private let state = InlineLocked(State())

    var last: ByteProgress? { state.withLock { $0.byteProgress } }

    /// The Foundation object that shows the progress, created on first access.
    var progress: Progress {
        state.withLock { state in
            let progress = state.progress ?? (state.byteProgress ?? ByteProgress()).progress
            state.progress = progress
            return progress
        }
    }

    /// Returns the broadcast of the byte counts.
    ///
    /// - Parameter make: Creates a broadcast that begins with the last value.
    func broadcast(make: (_ last: ByteProgress?) -> Broadcast<ByteProgress>) -> Broadcast<ByteProgress> {
        state.withLock { state in
            let broadcast = state.broadcast ?? make(state.byteProgress)
            state.broadcast = broadcast
            return broadcast
        }
    }

    func update(completed: Int64, total: Int64?) {
        guard completed > 0 else { return }
        let newest = ByteProgress(completed: completed, total: total)
        let (progress, broadcast, handler) = state.withLock { state in
            state.byteProgress = newest
            return (state.progress, state.broadcast, state.beginCall())
        }
        // Update the object first, because handlers can read it. Update it outside the lock, because it can have observers.
        progress?.apply(newest)
        broadcast?.send(newest)
        if let handler { call(handler) }
    }

    func reset() {
        let (progress, broadcast) = state.withLock { state in
            state.byteProgress = nil
            return (state.progress, state.broadcast)
        }
        progress?.apply(ByteProgress())
        broadcast?.discardLast()
    }

    /// Sets the handler. At most one call to the handler is pending at a time, even if its queue is slow.
    ///
    /// - Returns: The previous handler, which must be released outside all locks.
    func setHandler(on queue: DispatchQueue, _ call: @escaping @Sendable (Progress) -> Void) -> Handler? {
        state.withLock { state in
            state.handlerCount += 1
            state.isCallPending = false
            let handler = Handler(number: state.handlerCount, queue: queue, call: call)
            return Swift.exchange(&state.handler, with: handler)
        }
    }

    /// Removes the handler. Calls that are already pending are still made.
    ///
    /// - Returns: The handler, which must be released outside all locks.
    func takeHandler() -> Handler? { state.withLock { $0.handler.take() } }

    private func call(_ handler: Handler) {
        handler.queue.async { [self] in
            state.withLock { if $0.handlerCount == handler.number { $0.isCallPending = false } }
            handler.call(progress)
            let waiting = state.withLock { state in
                state.callCount -= 1
                guard state.callCount == 0 else { return [] as [Deferred<Void>] }
                return Swift.exchange(&state.waiting, with: [])
            }
            for deferred in waiting { deferred.fulfill(()) }
        }
    }

    /// Whether a call to a handler is pending or running.
    var hasPendingCalls: Bool { state.withLock { $0.callCount > 0 } }

    /// Waits until the handler has been called for all changes, the task is canceled, or 5 seconds have passed.
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
    fileprivate func apply(_ byteProgress: ByteProgress) {
        if byteProgress.total == 0 {
            // Set the count first: Foundation treats a count above a total of 0 as finished.
            completedUnitCount = byteProgress.completed
            // On Linux, changing a known total to 0 traps.
            if totalUnitCount > 0 { totalUnitCount = -1 }
        }
        if totalUnitCount != byteProgress.total { totalUnitCount = byteProgress.total }
        completedUnitCount = byteProgress.completed
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

    var progress: Progress {
        // `init(totalUnitCount:)` would attach the object to the thread's current progress.
        let progress = Progress.discreteProgress(totalUnitCount: total)
        progress.completedUnitCount = completed
        return progress
    }
}

public import Foundation

extension Request {
    /// A closure that is called with the progress of a transfer.
    public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void

    /// The progress of the upload, in bytes. This is always the same object; it starts over with each attempt.
    public var uploadProgress: Progress { mutable.withLock { $0.makeObservers().makeSending() }.progress }

    /// The progress of the download, in decoded bytes. This is always the same object; it starts over with each attempt. The
    /// total is −1 if the server didn't send it.
    public var downloadProgress: Progress { mutable.withLock { $0.makeObservers().makeReceiving() }.progress }

    /// Sets a closure that is called with the progress of the upload. A later call replaces the closure.
    ///
    /// For a plain ``DataRequest``, set it before the request starts; other kinds of requests always count bytes.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue. A slow queue skips values, but never
    ///     the last ones. The request's handlers are called after the last of these calls has returned, unless the request was
    ///     cancelled. If the queue is blocked, such as the main queue of a blocked main thread, the request waits up to 5
    ///     seconds.
    ///   - closure: Called each time more bytes have been sent.
    @preconcurrency
    @discardableResult
    public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        setHandler(on: queue, closure) { $0.makeSending() }
        return self
    }

    /// Sets a closure that is called with the progress of the download. A later call replaces the closure.
    ///
    /// For a plain ``DataRequest``, set it before the request starts; other kinds of requests always count bytes.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue. A slow queue skips values, but never
    ///     the last ones. The request's handlers are called after the last of these calls has returned, unless the request was
    ///     cancelled. If the queue is blocked, such as the main queue of a blocked main thread, the request waits up to 5
    ///     seconds.
    ///   - closure: Called each time more bytes have arrived.
    @preconcurrency
    @discardableResult
    public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        setHandler(on: queue, closure) { $0.makeReceiving() }
        return self
    }

    /// Returns a sequence of the progress of the upload. A closure set for it is called as well.
    ///
    /// For a plain ``DataRequest``, call this before the request starts; other kinds of requests always count bytes. An iteration
    /// that starts late first receives the last values. It ends when the request finishes or is cancelled. Ending the iteration
    /// doesn't affect the request.
    ///
    /// - Parameter bufferingPolicy: How values are buffered for a slow loop. The default is `.unbounded`; `.bufferingNewest(1)`
    ///   keeps only the newest and suits long transfers.
    public func uploadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        stream(of: broadcast { $0.makeSending() }, bufferingPolicy: bufferingPolicy) { $0.progress }
    }

    /// Returns a sequence of the progress of the download. A closure set for it is called as well.
    ///
    /// For a plain ``DataRequest``, call this before the request starts; other kinds of requests always count bytes. An iteration
    /// that starts late first receives the last values. It ends when the request finishes or is cancelled. Ending the iteration
    /// doesn't affect the request.
    ///
    /// - Parameter bufferingPolicy: How values are buffered for a slow loop. The default is `.unbounded`; `.bufferingNewest(1)`
    ///   keeps only the newest and suits long transfers.
    public func downloadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        stream(of: broadcast { $0.makeReceiving() }, bufferingPolicy: bufferingPolicy) { $0.progress }
    }

    private func setHandler(
        on queue: DispatchQueue, _ handler: @escaping ProgressHandler, of make: (Observers) -> TransferProgress
    ) {
        mutable.release { state in
            state.handlers.isOver ? nil : make(state.makeObservers()).setHandler(on: queue, handler)
        }
    }

    private func broadcast(of make: (Observers) -> TransferProgress) -> Broadcast<ByteProgress> {
        mutable.withLock { state in make(state.makeObservers()).broadcast { state.makeBroadcast(after: $0) } }
    }

    /// Enables byte counting for exchanges that begin later.
    func countBytes() {
        mutable.withLock { state in
            let observers = state.makeObservers()
            _ = (observers.makeSending(), observers.makeReceiving())
        }
    }

    /// Whether the request's exchanges must report their progress.
    var showsProgress: Bool {
        mutable.withLock { $0.observers?.sending != nil || $0.observers?.receiving != nil }
    }

    /// The number of bytes received before the current attempt's body.
    package var bytesBefore: Int64 { mutable.withLock { $0.attempt.bytesBefore } }

    func didSend(bytes: Int64, expected: Int64?) {
        mutable.withLock { $0.observers?.sending }?.update(completed: bytes, total: expected)
    }

    func didReceive(bytes: Int64, expected: Int64?) {
        let (receiving, before) = mutable.withLock { ($0.observers?.receiving, $0.attempt.bytesBefore) }
        receiving?.update(completed: before + bytes, total: expected.map { before + $0 })
    }

    /// Whether a call of a progress handler is pending or running.
    var hasPendingProgress: Bool {
        let (sending, receiving) = mutable.withLock { ($0.observers?.sending, $0.observers?.receiving) }
        return sending?.hasPendingCalls == true || receiving?.hasPendingCalls == true
    }

    /// Waits until the progress handlers have been called for all changes, or the task is cancelled.
    func waitForProgress() async {
        let (sending, receiving) = mutable.withLock { ($0.observers?.sending, $0.observers?.receiving) }
        await sending?.waitForCalls()
        await receiving?.waitForCalls()
    }
}

extension Observers {
    fileprivate func makeSending() -> TransferProgress {
        let progress = sending ?? TransferProgress()
        sending = progress
        return progress
    }

    fileprivate func makeReceiving() -> TransferProgress {
        let progress = receiving ?? TransferProgress()
        receiving = progress
        return progress
    }
}

public import Foundation

extension Request {
    /// Called with the progress of a transfer.
    public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void

    /// The progress of the upload, in bytes: one object, which moves with the transfer and begins again with
    /// each attempt.
    public var uploadProgress: Progress { mutable.withLock { $0.makeObservers().makeSending() }.progress }

    /// The progress of the download, in decoded bytes: one object, which moves with the transfer and begins
    /// again with each attempt. The total is −1 when the server has not said it.
    public var downloadProgress: Progress { mutable.withLock { $0.makeObservers().makeReceiving() }.progress }

    /// Sets a closure that is called with the progress of the upload. Only the last one set is called.
    ///
    /// On a plain ``DataRequest``, set it before the request starts; other kinds always count.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called. The default is the main queue. A queue that falls behind skips values,
    ///     never the last ones. The request's handlers are called after the last of these calls has returned, unless the
    ///     request was cancelled; on a queue that does not come to it, like the main queue of a blocked main thread, the
    ///     request waits 5 seconds.
    ///   - closure: Called each time that more has been sent.
    @preconcurrency
    @discardableResult
    public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        setHandler(on: queue, closure) { $0.makeSending() }
        return self
    }

    /// Sets a closure that is called with the progress of the download. Only the last one set is called.
    ///
    /// On a plain ``DataRequest``, set it before the request starts; other kinds always count.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called. The default is the main queue. A queue that falls behind skips values,
    ///     never the last ones. The request's handlers are called after the last of these calls has returned, unless the
    ///     request was cancelled; on a queue that does not come to it, like the main queue of a blocked main thread, the
    ///     request waits 5 seconds.
    ///   - closure: Called each time that more has arrived.
    @preconcurrency
    @discardableResult
    public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        setHandler(on: queue, closure) { $0.makeReceiving() }
        return self
    }

    /// The progress of the upload, to await; the closure, if there is one, is called as well.
    ///
    /// On a plain ``DataRequest``, call this before the request starts; other kinds always count. An iteration that
    /// begins late gets the last values first. It ends when the request is finished, cancelled too; ending the
    /// iteration leaves the request alone.
    ///
    /// - Parameter bufferingPolicy: Which values are kept for a loop that falls behind. The default is `.unbounded`;
    ///   `.bufferingNewest(1)` keeps the newest only, and suits long transfers.
    public func uploadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        stream(of: broadcast { $0.makeSending() }, bufferingPolicy: bufferingPolicy) { $0.progress }
    }

    /// The progress of the download, to await; the closure, if there is one, is called as well.
    ///
    /// On a plain ``DataRequest``, call this before the request starts; other kinds always count. An iteration that
    /// begins late gets the last values first. It ends when the request is finished, cancelled too; ending the
    /// iteration leaves the request alone.
    ///
    /// - Parameter bufferingPolicy: Which values are kept for a loop that falls behind. The default is `.unbounded`;
    ///   `.bufferingNewest(1)` keeps the newest only, and suits long transfers.
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

    /// Has the bytes counted of an exchange that begins after this.
    func countBytes() {
        mutable.withLock { state in
            let observers = state.makeObservers()
            _ = (observers.makeSending(), observers.makeReceiving())
        }
    }

    /// Whether an exchange of this request has to tell how far it is.
    var showsProgress: Bool {
        mutable.withLock { $0.observers?.sending != nil || $0.observers?.receiving != nil }
    }

    /// How many bytes of the whole were there before the body that the attempt brings.
    package var bytesBefore: Int64 { mutable.withLock { $0.attempt.bytesBefore } }

    func didSend(bytes: Int64, expected: Int64?) {
        mutable.withLock { $0.observers?.sending }?.update(completed: bytes, total: expected)
    }

    func didReceive(bytes: Int64, expected: Int64?) {
        let (receiving, before) = mutable.withLock { ($0.observers?.receiving, $0.attempt.bytesBefore) }
        receiving?.update(completed: before + bytes, total: expected.map { before + $0 })
    }

    /// Whether a progress handler is still to be called, or runs.
    var owesProgress: Bool {
        let (sending, receiving) = mutable.withLock { ($0.observers?.sending, $0.observers?.receiving) }
        return sending?.owesCalls == true || receiving?.owesCalls == true
    }

    /// Waits until the progress handlers have been called for all that happened; not when the task is cancelled.
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

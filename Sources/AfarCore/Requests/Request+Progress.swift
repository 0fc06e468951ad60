public import Foundation

extension Request {
    /// Told how far a transfer has come.
    public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void

    /// How far the sending of the body has come, in bytes.
    public var uploadProgress: Progress { sendingProgress.progress }

    /// How far the receiving of the body has come, in decoded bytes. The total is −1 when the server has not said it.
    public var downloadProgress: Progress { receivingProgress.progress }

    /// Sets a closure that is told how far the sending of the body has come. Only the last one set is called.
    ///
    /// Set it before the request starts; on an ``UploadRequest`` it may also be set later.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called. The default is the main queue. A queue that falls behind skips figures,
    ///     never the last ones.
    ///   - closure: Called each time that more has been sent.
    @preconcurrency
    @discardableResult
    public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        sendingProgress.listen(on: queue, closure)
        return self
    }

    /// Sets a closure that is told how far the receiving of the body has come. Only the last one set is called.
    ///
    /// Set it before the request starts; on a ``DownloadRequest`` it may also be set later.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called. The default is the main queue. A queue that falls behind skips figures,
    ///     never the last ones.
    ///   - closure: Called each time that more has arrived.
    @preconcurrency
    @discardableResult
    public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        receivingProgress.listen(on: queue, closure)
        return self
    }

    private var sendingProgress: TransferProgress { progress(\.sending) }
    private var receivingProgress: TransferProgress { progress(\.receiving) }

    /// One of the two, made when somebody asks for it first.
    private func progress(_ direction: WritableKeyPath<Mutable, TransferProgress?>) -> TransferProgress {
        mutable.withLock { state in
            let progress = state[keyPath: direction] ?? TransferProgress()
            state[keyPath: direction] = progress
            return progress
        }
    }

    /// Whether an exchange of this request has to tell how far it is.
    var showsProgress: Bool {
        mayShowProgressLate || mutable.withLock { $0.sending != nil || $0.receiving != nil }
    }

    func didSend(bytes: Int64, expected: Int64?) {
        mutable.withLock { $0.sending }?.update(completed: bytes, total: expected)
    }

    func didReceive(bytes: Int64, expected: Int64?) {
        guard let receiving = mutable.withLock({ $0.receiving }) else { return }
        let before = bytesBefore
        receiving.update(completed: before + bytes, total: expected.map { before + $0 })
    }
}

public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A download that requests several parts of a file at the same time. ``AfarCore/Session/download(_:parallel:interceptor:prepare:to:)``
/// creates it.
///
/// The download starts when you call ``resume()`` or read ``value`` or ``result``. You can use all members from any thread.
public final class ParallelDownload: Sendable {
    private struct State {
        var task: Task<URL, any Error>?
        var isCancelled = false
    }

    private let job: ParallelDownloadJob
    private let state = Guarded(State())

    init(
        _ convertible: any URLRequestConvertible, _ parallel: Int, session: Session,
        _ interceptor: (any RequestInterceptor)?, _ prepare: @escaping @Sendable (DataStreamRequest) -> Void,
        to file: URL
    ) {
        job = ParallelDownloadJob(
            convertible: convertible, workers: parallel, session: session, interceptor: interceptor, prepare: prepare,
            destination: file)
    }

    // MARK: Result

    /// The location of the complete file. Canceling the task that reads this value cancels the download.
    ///
    /// - Throws: A ``ParallelDownloadError``, a ``AfarCore/DigestError``, or the ``AfarCore/AFError`` of a request.
    public var value: URL {
        get async throws {
            let task = start()
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                cancel()
            }
        }
    }

    /// The location of the complete file, or the error. See ``value``.
    public var result: Result<URL, any Error> {
        get async {
            do { return .success(try await value) } catch { return .failure(error) }
        }
    }

    /// The head of the first successful response, or nil if it hasn't arrived. Its status is 206 if the server supports ranges.
    public var response: HTTPURLResponse? { job.head?.httpURLResponse }

    /// Starts the download. Does nothing if it has started.
    @discardableResult
    public func resume() -> Self {
        _ = start()
        return self
    }

    /// Cancels the download and removes its temporary file. It fails with ``AfarCore/AFError/explicitlyCancelled``.
    @discardableResult
    public func cancel() -> Self {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
        return self
    }

    private func start() -> Task<URL, any Error> {
        state.withLock { state in
            if let task = state.task { return task }
            let task = Task(executorPreference: DispatchExecutor()) { [job] in try await job.run() }
            if state.isCancelled { task.cancel() }
            state.task = task
            return task
        }
    }

    // MARK: Progress

    /// The progress of all parts together, in bytes. The total is −1 until it is known.
    public var downloadProgress: Progress { job.progress.progress }

    /// Adds a handler for the progress of all parts together. Call this method before the download starts.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. The default is the main queue.
    ///   - handler: Called after bytes have arrived. Several changes can lead to one call.
    @preconcurrency
    @discardableResult
    public func downloadProgress(
        queue: DispatchQueue = .main, closure handler: @escaping @Sendable (_ progress: Progress) -> Void
    ) -> Self {
        job.progress.append(on: queue, handler)
        return self
    }

    // MARK: Digests

    /// Verifies the digest of the complete file before it is moved. Call this method before the download starts. If the digest doesn't
    /// match, the download fails with a ``AfarCore/DigestError``.
    @discardableResult
    public func verify(_ digest: FileDigest) -> Self {
        job.add(digest)
        return self
    }

    /// Verifies the digest of the file that the server sends in `Repr-Digest` (RFC 9530). Call this method before the download starts.
    ///
    /// - Parameter isRequired: Whether the download fails if the server sends no digest. The default is true.
    @discardableResult
    public func verifyDigest(isRequired: Bool = true) -> Self {
        job.requestDigest(isRequired: isRequired)
        return self
    }
}

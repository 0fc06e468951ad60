public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A download that requests several parts of a file at the same time. ``AfarCore/Session/download(_:parallel:interceptor:prepare:to:)``
/// creates it.
///
/// The download starts when you call `resume()`, add a handler with `response(queue:completionHandler:)`, or read `value` or `result`. Its
/// value is the location of the complete file. It fails with a ``ParallelDownloadError``, a ``AfarCore/DigestError``, or the
/// ``AfarCore/AFError`` of a request. If it fails, its temporary file is removed, unless ``keepPartialFile()`` was called. You can use all
/// members from any thread.
public final class ParallelDownload: Transfer<URL>, @unchecked Sendable {
    // Sendable because the locks protect all state.

    private struct State {
        var head: ResponseHead?
        var checks = DigestChecks()
        var earlier: Data?
        var keepsPartialFile = false
        var resumeData: Data?
    }

    let convertible: any URLRequestConvertible
    let interceptor: (any RequestInterceptor)?
    let prepare: @Sendable (DataStreamRequest) -> Void
    private let parallel: Int
    private let destination: URL
    private let state = Locked(State())

    init(
        _ convertible: any URLRequestConvertible, _ parallel: Int, session: Session,
        _ interceptor: (any RequestInterceptor)?, _ prepare: @escaping @Sendable (DataStreamRequest) -> Void,
        to file: URL
    ) {
        self.convertible = convertible
        self.interceptor = interceptor
        self.prepare = prepare
        self.parallel = parallel
        destination = file
        super.init(session: session)
    }

    /// The head of the first successful response, or nil if it hasn't arrived. Its status is 206 if the server supports ranges.
    public var response: HTTPURLResponse? { head?.httpURLResponse }

    var head: ResponseHead? { state.withLock { $0.head } }
    var checks: DigestChecks { state.withLock { $0.checks } }

    func didReceive(_ head: ResponseHead) { state.withLock { $0.head = head } }

    // MARK: Resuming

    /// Keeps the partial file if the download fails or is canceled, so that another download can continue with ``resumeData``. Call this
    /// method before the download starts.
    @discardableResult
    public func keepPartialFile() -> Self {
        state.withLock { $0.keepsPartialFile = true }
        return self
    }

    /// The data that another download requires to continue, even in another process. It is available after a failure or cancellation if
    /// ``keepPartialFile()`` was called and the server supports ranges with a strong validator. Otherwise, it is nil, and the file was
    /// removed.
    ///
    /// It contains the location of the partial file and the ranges that are missing, but no URL and no headers.
    public var resumeData: Data? { state.withLock { $0.resumeData } }

    /// Continues an earlier download of the same file. Call this method before the download starts.
    ///
    /// The download fails with a ``AfarCore/ResumeDataError`` if the data or the file can't be used, and with
    /// ``ParallelDownloadError/changedOnServer`` if the server has another version of the file. In these cases, start again without
    /// the data.
    ///
    /// - Parameter data: The ``resumeData`` of the earlier download. Its file must be on the file system of the destination.
    @discardableResult
    public func resume(with data: Data) -> Self {
        state.withLock { $0.earlier = data }
        return self
    }

    func earlier() throws -> PartialDownload? {
        try state.withLock { $0.earlier }.map { try PartialDownload(decoding: $0) }
    }

    var keepsPartialFile: Bool { state.withLock { $0.keepsPartialFile } }

    func didKeep(_ partial: PartialDownload) { state.withLock { $0.resumeData = partial.encoded() } }

    /// Performs the download. Called by the superclass.
    public override func run() async throws -> URL {
        // A request that waits for a connection could time out.
        let workers = max(1, min(parallel, session.configuration.httpMaximumConnectionsPerHost))
        do {
            return try await ParallelDownloadJob(download: self, workers: workers, destination: destination).run()
        } catch {
            throw error.ownError ?? error
        }
    }

    // MARK: Progress

    /// The progress of all parts together, in bytes. The total is −1 until it is known.
    public var downloadProgress: Progress { progress }

    /// Sets a closure that is called with the progress of all parts together. A later call replaces the closure.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue.
    ///   - closure: Called after bytes have arrived. Several changes can lead to one call.
    @preconcurrency
    @discardableResult
    public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping Request.ProgressHandler) -> Self {
        progress(queue: queue, closure: closure)
    }

    // MARK: Digests

    /// Verifies the digest of the complete file before it is moved. Call this method before the download starts. If the digest doesn't
    /// match, the download fails with a ``AfarCore/DigestError``.
    @discardableResult
    public func verify(_ digest: FileDigest) -> Self {
        state.withLock { $0.checks.expected.append(digest) }
        return self
    }

    /// Verifies the digest of the file that the server sends in `Repr-Digest` (RFC 9530). Call this method before the download starts.
    ///
    /// - Parameter isRequired: Whether the download fails if the server sends no digest. The default is true.
    @discardableResult
    public func verifyDigest(isRequired: Bool = true) -> Self {
        state.withLock { $0.checks.isRequired = isRequired || $0.checks.isRequired == true }
        return self
    }
}

struct DigestChecks: Sendable {
    var expected: [FileDigest] = []
    /// Whether the server must send a digest. Nil if its digest isn't verified.
    var isRequired: Bool?

    func verify(_ file: URL, head: ResponseHead?) async throws {
        var digests = expected
        if let isRequired, let head {
            do {
                digests += try FileDigest.digests(in: head)
            } catch DigestError.missing where !isRequired {}
        }
        guard !digests.isEmpty else { return }
        let isCancelled = Locked(false)
        try await withTaskCancellationHandler {
            for digest in digests { try digest.verify(file, shouldStop: { isCancelled.withLock { $0 } }) }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }
}

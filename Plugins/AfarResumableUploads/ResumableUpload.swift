public import AfarCore
import AfarTransport
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An upload that continues after interruptions.
///
/// The upload starts when you call `resume()`, add a handler with `response(queue:completionHandler:)`, or read `value` or `result`. It
/// fails with a ``ResumableUploadError`` or the ``AfarCore/AFError`` of a request. You can use all members from any thread.
///
/// ```swift
/// let upload = AF.uploadResumable(file, to: "https://uploads.example.com/files", protocol: .tus)
/// print(try await upload.value.url)
/// ```
public final class ResumableUpload: Transfer<ResumableUploadResponse>, @unchecked Sendable {
    // Sendable because the lock protects all state.

    private struct State {
        var deletesUpload = false
        var expirationDate: Date?
        var url: URL?
        /// The progress of each part.
        var bytes: [Int: Int64] = [:]
    }

    private let makeJob: @Sendable (ResumableUpload) throws -> UploadJob
    private let state = Locked(State())

    /// - Parameter makeJob: Opens the file and its record. Called when the upload starts.
    init(session: Session, makeJob: @escaping @Sendable (ResumableUpload) throws -> UploadJob) {
        self.makeJob = makeJob
        super.init(session: session)
    }

    /// Performs the upload. Called by the superclass.
    public override func run() async throws -> ResumableUploadResponse { try await makeJob(self).run() }

    /// The URL of the upload, without user name and password, or nil if the server hasn't announced it. It is also nil for parallel parts.
    ///
    /// After a failure, the upload can be continued with this URL.
    public var uploadURL: URL? { state.withLock { $0.url } }

    func didReceive(uploadURL: URL?) { state.withLock { $0.url = uploadURL } }

    /// When the server removes the upload if it is incomplete, or nil if the server hasn't announced it.
    public var expirationDate: Date? { state.withLock { $0.expirationDate } }

    /// Cancels the upload and, if requested, deletes the bytes that the server has received.
    ///
    /// - Parameter deletingPartialUpload: Whether to delete the record, and the upload on the server. The upload's result is then available
    ///   after the server has responded to the deletion. A failed deletion is ignored. If the server is still creating the upload, the
    ///   deletion waits at most 5 seconds for the server's response. If this parameter is false, a later upload can resume from the record,
    ///   as after `cancel()`.
    @discardableResult
    public func cancel(deletingPartialUpload: Bool) -> Self {
        if deletingPartialUpload { state.withLock { $0.deletesUpload = true } }
        return cancel()
    }

    var deletesUpload: Bool { state.withLock { $0.deletesUpload } }

    func didReceive(expirationDate: Date?) {
        guard let expirationDate else { return }
        state.withLock { $0.expirationDate = expirationDate }
    }

    // MARK: Progress

    /// The number of bytes sent so far. When the server reports how many bytes it has received, the reported number replaces the
    /// number of sent bytes. The progress decreases if the server has lost bytes. The total is −1 while the length is unknown.
    public var uploadProgress: Progress { progress }

    /// Sets a closure that is called with the progress of the upload. A later call replaces the closure.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue.
    ///   - closure: Called after bytes have been sent. Several changes can lead to one call.
    @preconcurrency
    @discardableResult
    public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping Request.ProgressHandler) -> Self {
        progress(queue: queue, closure: closure)
    }

    func didProgress(to bytes: Int64, of part: Int) {
        updateProgress { completed, _ in
            completed = state.withLock { state in
                state.bytes[part] = bytes
                return state.bytes.values.reduce(0, +)
            }
        }
    }

    func setTotal(_ count: Int64) { updateProgress { $1 = count } }
}

/// The response to a complete upload.
public struct ResumableUploadResponse: Sendable {
    /// The URL of the upload, without user name and password. It is nil if the server completed the upload without a URL.
    public let url: URL?
    /// The response that completed the upload. If the response to the last bytes was lost, this is the response to a request for the
    /// upload's state.
    public let response: HTTPURLResponse
    /// The body of the response.
    public let data: Data
}

public import AfarCore
import AfarTransport
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An upload that continues after interruptions.
///
/// The upload starts when it is created. It continues if this object is released, and it retains its session. All methods can be called from
/// any thread.
///
/// ```swift
/// let upload = AF.uploadResumable(file, to: "https://uploads.example.com/files", protocol: .tus)
/// print(try await upload.value.url)
/// ```
public final class ResumableUpload: Sendable {
    /// The outcome of a complete upload.
    public struct Value: Sendable {
        /// The URL of the upload, without user name and password. It is nil if the server completed the upload without one.
        public let url: URL?
        /// The response that completed the upload. If the response to the last bytes was lost, this is the response to a request for the
        /// upload's state.
        public let response: HTTPURLResponse
        /// The body of the response.
        public let data: Data
    }

    /// The number of bytes that the server has received or that have been sent. It decreases if the server has lost bytes. The total is −1 while
    /// the length is unknown.
    public let progress: Progress

    private let state = Guarded(State())

    private struct State {
        var task: Task<Result<Value, ResumableUploadError>, Never>?
        var deletesUpload = false
        var isCancelled = false
        var expirationDate: Date?
        /// The progress of each part.
        var bytes: [Int: Int64] = [:]
    }

    init(
        session: Session, endpoint: any URLConvertible, body: UploadJob.Body, uploadProtocol: ResumableUploadProtocol,
        headers: HTTPHeaders, interceptor: (any RequestInterceptor)?, options: ResumableUploadOptions
    ) {
        progress = Progress(totalUnitCount: -1)
        let task = Task(executorPreference: DispatchExecutor.shared) {
            [self] () -> Result<Value, ResumableUploadError> in
            do throws(ResumableUploadError) {
                let job = try UploadJob(
                    session: session, endpoint: endpoint, body: body, uploadProtocol: uploadProtocol, headers: headers,
                    interceptor: interceptor, options: options, upload: self)
                return .success(try await job.run())
            } catch {
                return .failure(error)
            }
        }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// The upload's outcome. Canceling the task that awaits it doesn't cancel the upload.
    ///
    /// - Throws: A ``ResumableUploadError``.
    public var value: Value {
        get async throws(ResumableUploadError) { try await result.get() }
    }

    /// The upload's outcome, as a result.
    public var result: Result<Value, ResumableUploadError> {
        get async {
            guard let task = state.withLock({ $0.task }) else { return .failure(.cancelled) }
            return await task.value
        }
    }

    /// When the server removes the upload if it is incomplete, or nil if the server hasn't announced it.
    public var expirationDate: Date? { state.withLock { $0.expirationDate } }

    /// Cancels the upload. Its value is then ``ResumableUploadError/cancelled``, unless it was already complete.
    ///
    /// - Parameter deletingPartialUpload: Whether the server is requested to delete the bytes that it has received, and the record is removed.
    ///   The result is available after the server has responded; a failure of that request is ignored. The default is false: a later upload
    ///   can resume from the record.
    public func cancel(deletingPartialUpload: Bool = false) {
        let task = state.withLock { state in
            state.isCancelled = true
            state.deletesUpload = state.deletesUpload || deletingPartialUpload
            return state.task
        }
        task?.cancel()
    }

    var deletesUpload: Bool { state.withLock { $0.deletesUpload } }

    func didReceive(expirationDate: Date?) {
        guard let expirationDate else { return }
        state.withLock { $0.expirationDate = expirationDate }
    }

    func didProgress(to bytes: Int64, of part: Int) {
        state.withLock { state in
            state.bytes[part] = bytes
            progress.completedUnitCount = state.bytes.values.reduce(0, +)
        }
    }

    func setTotal(_ count: Int64) { progress.totalUnitCount = count }
}

extension Session {
    /// Uploads a file. After a lost connection, the upload continues with the bytes that the server doesn't have.
    ///
    /// All requests use this session's configuration and its interceptor. The upload's own retries come in addition to those of an
    /// interceptor.
    ///
    /// - Parameters:
    ///   - file: The URL of a regular file. The upload fails if the file changes before its end.
    ///   - url: The URL that creates uploads.
    ///   - uploadProtocol: The protocol of the server.
    ///   - headers: Headers of all requests, for example `Authorization`. They aren't stored. The default is none.
    ///   - interceptor: Adapts and retries each request. The default is nil.
    ///   - options: The record on disk, limits and extensions. The default has no record.
    @preconcurrency
    public func uploadResumable(
        _ file: URL, to url: any URLConvertible, protocol uploadProtocol: ResumableUploadProtocol,
        headers: HTTPHeaders = [:], interceptor: (any RequestInterceptor)? = nil,
        options: ResumableUploadOptions = ResumableUploadOptions()
    ) -> ResumableUpload {
        ResumableUpload(
            session: self, endpoint: url, body: .file(file), uploadProtocol: uploadProtocol, headers: headers,
            interceptor: interceptor, options: options)
    }

    /// Uploads a sequence of chunks whose length is unknown until it ends. After a lost connection, the upload continues with the bytes that the
    /// server doesn't have.
    ///
    /// The bytes of the current request stay in memory, by default at most 4 MiB and one chunk. See
    /// ``ResumableUploadOptions/chunkSize``. For the other parameters, see
    /// ``uploadResumable(_:to:protocol:headers:interceptor:options:)-(URL,_,_,_,_,_)``.
    ///
    /// - Parameter chunks: The sequence, which is iterated once.
    @preconcurrency
    public func uploadResumable<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, to url: any URLConvertible, protocol uploadProtocol: ResumableUploadProtocol,
        headers: HTTPHeaders = [:], interceptor: (any RequestInterceptor)? = nil,
        options: ResumableUploadOptions = ResumableUploadOptions()
    ) -> ResumableUpload where Chunks.Element == Data {
        ResumableUpload(
            session: self, endpoint: url, body: .chunks(RequestBodyStream(chunks)), uploadProtocol: uploadProtocol,
            headers: headers, interceptor: interceptor, options: options)
    }
}

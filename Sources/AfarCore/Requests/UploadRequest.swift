public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request that sends a body from memory, a file or a stream, and stores the response in memory.
public final class UploadRequest: DataRequest, @unchecked Sendable {
    // Sendable: adds only constants.

    /// The source of the body.
    public enum Uploadable: @unchecked Sendable {
        // Sendable: only the upload reads an input stream.

        /// Bytes in memory.
        case data(Data)
        /// A complete file, which is read while it is sent. If `shouldRemove` is true, the file is removed after the request has
        /// finished.
        case file(URL, shouldRemove: Bool)
        /// A stream that the upload opens, reads to its end and closes. It can be sent only once. The request's
        /// `Content-Length` header determines the body's length. Without this header, the body is sent with chunked transfer
        /// coding.
        case stream(InputStream)

        /// Returns a body whose chunks are requested while it is sent. The body is a ``stream(_:)`` that other code can't read.
        public static func chunks(_ chunks: RequestBodyStream) -> Self { .stream(ChunkedInputStream(chunks)) }
    }

    private let body: UploadBody

    init(
        convertible: any UploadConvertible,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        fileManager: FileManager
    ) {
        body = UploadBody(convertible, fileManager)
        super.init(
            convertible: convertible, uploadBody: body, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// The value that creates the body.
    public var upload: any UploadableConvertible { body.upload }
    /// The file manager that removes the body's file if necessary.
    public var fileManager: FileManager { body.fileManager }
    /// The source of the body, or nil until it has been created. The source is created after the first `URLRequest` has been
    /// adapted.
    public var uploadable: Uploadable? { body.uploadable }
}

/// The body of an upload. It is created in the first attempt, sent in each attempt, and removed when the request finishes.
final class UploadBody: Sendable {
    private struct State {
        var uploadable: UploadRequest.Uploadable?
        var isCleanedUp = false
    }

    let upload: any UploadableConvertible
    let fileManager: FileManager
    private let state = Locked(State())

    init(_ upload: any UploadableConvertible, _ fileManager: FileManager) {
        self.upload = upload
        self.fileManager = fileManager
    }

    var uploadable: UploadRequest.Uploadable? { state.withLock { $0.uploadable } }

    func make(for request: Request) async throws(AFError) {
        guard uploadable == nil else { return }
        // Encoding a form is slow, because it reads files and streams.
        let formEncodingQueue =
            upload is MultipartUpload ? DispatchQueue(label: "afar.upload.form", qos: .utility) : nil
        try await request.onQueue(request.session.queues.request ?? formEncodingQueue) { () throws(AFError) in
            do {
                let uploadable = try makeUploadable(for: request)
                state.withLock { $0.uploadable = uploadable }
                request.notify(UploadRequest.self) { .requestDidCreateUploadable($0, uploadable) }
            } catch {
                let failure = request.fail(with: error.asAFError(or: .createUploadableFailed(error: error)))
                request.notify(UploadRequest.self) { .requestDidFailToCreateUploadable($0, failure) }
                throw failure
            }
        }
    }

    private func makeUploadable(for request: Request) throws -> UploadRequest.Uploadable {
        guard let form = upload as? MultipartUpload else {
            let uploadable = try upload.createUploadable()
            if case .file(let url, _) = uploadable, !url.isFileURL {
                let text = Redaction.standard.url(url.absoluteString)
                throw Problem("\(text) is not a file URL. Create one with URL(filePath:).")
            }
            return uploadable
        }
        return try form.createUploadable { try request.checkEnd() }
    }

    func body(for urlRequest: URLRequest, of request: Request) throws -> RequestBody {
        switch uploadable {
        case .data(let data): .data(data)
        case .file(let url, _): .file(url)
        case .stream(let stream as ChunkedInputStream): .stream(stream.chunks)
        case .stream(let stream): request.body(from: stream, for: urlRequest)
        case nil: throw BodyNotCreated()
        }
    }

    /// Notifies the monitors of a stream that is about to be read.
    func willSend(_ task: URLSessionTask, of request: Request) {
        guard case .stream(let stream) = uploadable, !(stream is ChunkedInputStream) else { return }
        request.events?.receive(.taskNeedsNewBodyStream(task))
        request.notify(UploadRequest.self) { .requestDidProvideInputStream($0, stream) }
    }

    /// Removes the file once, because another request could soon use the same path.
    func cleanUp() {
        let uploadable = state.withLock { Swift.exchange(&$0.isCleanedUp, with: true) ? nil : $0.uploadable }
        guard case .file(let url, shouldRemove: true) = uploadable else { return }
        try? fileManager.removeItem(at: url)
    }
}

/// A stream for a body of chunks. It can only be sent. Reading it returns no bytes.
final class ChunkedInputStream: InputStream {
    let chunks: RequestBodyStream

    init(_ chunks: RequestBodyStream) {
        self.chunks = chunks
        super.init(data: Data())
    }
}

extension RequestBodyStream {
    /// Creates a body with trailer fields from a closure that returns headers.
    init<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64?, trailers: (@Sendable () async throws -> HTTPHeaders)?
    ) where Chunks.Element == Data {
        self.init(chunks, length: length)
        if let trailers { self.trailers = { try HTTPFields(checking: try await trailers()) } }
    }
}

/// The error of a body that hasn't been created yet or couldn't be created.
struct BodyNotCreated: LocalizedError {
    var errorDescription: String? { "The body hasn't been created." }
}

/// A type that creates the body of an ``UploadRequest``.
public protocol UploadableConvertible: Sendable {
    /// Returns the body. Called once for each request, after the first `URLRequest` was created and adapted. Runs on the
    /// ``Session/requestQueue`` if one was passed to the session's initializer, otherwise in the request's own task.
    ///
    /// - Throws: Any error. An error that isn't an ``AFError`` is wrapped in ``AFError/createUploadableFailed(error:)``.
    func createUploadable() throws -> UploadRequest.Uploadable
}

extension UploadRequest.Uploadable: UploadableConvertible {
    /// Returns the value itself.
    public func createUploadable() throws -> UploadRequest.Uploadable { self }
}

/// A type that creates both a `URLRequest` and its body.
public protocol UploadConvertible: UploadableConvertible & URLRequestConvertible {}

struct Upload: UploadConvertible, WrittenURLConvertible {
    private let uploadable: UploadRequest.Uploadable
    private let request: any URLRequestConvertible

    init(_ uploadable: UploadRequest.Uploadable, with request: any URLRequestConvertible) {
        self.uploadable = uploadable
        self.request = request
    }

    var writtenURL: String? { request.writtenURL }

    func createUploadable() throws -> UploadRequest.Uploadable { uploadable }
    func asURLRequest() throws -> URLRequest { try request.asURLRequest() }
}

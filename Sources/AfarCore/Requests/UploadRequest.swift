public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request that sends a body from memory, from a file or from a stream, and whose response is held in memory.
public final class UploadRequest: DataRequest, @unchecked Sendable {
    // Sendable because what it adds never changes, or is behind a lock.

    /// Where the body comes from.
    public enum Uploadable: @unchecked Sendable {
        // Sendable because an input stream is handed over: one sending reads it, nobody else.

        /// Bytes in memory.
        case data(Data)
        /// A whole file, read while it is sent, and removed when the request is over if `shouldRemove` says so.
        case file(URL, shouldRemove: Bool)
        /// A stream, opened, read to its end and closed while it is sent; it can be sent once. The request's
        /// `Content-Length`, if it has one, is taken for its length, else the body goes out chunked.
        case stream(InputStream)
        /// Chunks that are asked for while they are sent.
        case chunks(RequestBodyStream)
    }

    /// Makes the body.
    public let upload: any UploadableConvertible
    /// Removes the body's file, if that is to be removed.
    public let fileManager: FileManager

    private struct Made {
        var uploadable: Uploadable?
        var isCleanedUp = false
    }

    private let made = Locked(Made())

    init(
        convertible: any UploadConvertible,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        fileManager: FileManager
    ) {
        upload = convertible
        self.fileManager = fileManager
        super.init(
            convertible: convertible, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, countsBytes: true)
    }

    /// Where the body comes from; nil until it has been made, after the first `URLRequest` and its adapters.
    public var uploadable: Uploadable? { made.withLock { $0.uploadable } }

    nonisolated(nonsending) override func makeBody() async throws(AFError) {
        guard uploadable == nil else { return }
        // Encoding a form reads files and streams, which may take long.
        let formQueue = upload is MultipartUpload ? DispatchQueue(label: "afar.upload.form", qos: .utility) : nil
        try await onQueue(session.queues.request ?? formQueue) { () throws(AFError) in
            do {
                let uploadable = try makeUploadable()
                made.withLock { $0.uploadable = uploadable }
                events?.request(self, didCreateUploadable: uploadable)
            } catch {
                let failure = fail(with: error.asAFError(or: .createUploadableFailed(error: error)))
                events?.request(self, didFailToCreateUploadableWithError: failure)
                throw failure
            }
        }
    }

    private func makeUploadable() throws -> Uploadable {
        guard let form = upload as? MultipartUpload else {
            let uploadable = try upload.createUploadable()
            if case .file(let url, _) = uploadable, !url.isFileURL { throw NoFileURL(url: url) }
            return uploadable
        }
        return try form.createUploadable { [self] in
            if let end = mutable.withLock({ $0.end }) { throw end }
        }
    }

    override func body(for urlRequest: URLRequest) throws -> RequestBody {
        switch uploadable {
        case .data(let data): .data(data)
        case .file(let url, _): .file(url)
        case .stream(let stream): body(from: stream, for: urlRequest)
        case .chunks(let stream): .stream(stream)
        case nil: throw BodyNotMade()
        }
    }

    override var hasSpentItsBody: Bool {
        switch uploadable {
        case .stream: mutable.withLock { $0.streamedBody?.body.isSpent } ?? false
        case .chunks(let stream): stream.isSpent
        case .data, .file, nil: false
        }
    }

    override func willSend(_ task: URLSessionTask, telling events: CompositeEventMonitor) {
        guard case .stream(let stream) = uploadable else { return }
        events.urlSession(.shared, taskNeedsNewBodyStream: task)
        events.request(self, didProvideInputStream: stream)
    }

    override func cleanUp() {
        super.cleanUp()
        // Once only: in the same place there may soon be a file that another request sends.
        let uploadable = made.withLock { Swift.exchange(&$0.isCleanedUp, with: true) ? nil : $0.uploadable }
        guard case .file(let url, shouldRemove: true) = uploadable else { return }
        try? fileManager.removeItem(at: url)
    }
}

/// The body was to be a file, and its URL names none.
private struct NoFileURL: LocalizedError {
    let url: URL

    var errorDescription: String? {
        "\(Redaction.standard.url(url.absoluteString)) is not a file URL. Make one with URL(filePath:)."
    }
}

/// The body doesn't exist yet, or could not be made.
struct BodyNotMade: LocalizedError {
    var errorDescription: String? { "The body has not been made." }
}

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request whose response goes into a file.
///
/// The body is written to a private temporary file. When it is whole and has passed the validators, the file is moved to
/// where the destination says; without a destination it stays where it is, for the caller to move or remove. A request
/// that fails leaves no file, but for the part that its ``resumeData`` owns, and for a whole file that could not be moved:
/// that stays at the error's ``AFError/sourceURL``, and is the caller's from then on.
///
/// A retry resumes where the attempt before was interrupted, by the same rules as a request made from resume data.
public final class DownloadRequest: Request, @unchecked Sendable {
    // Sendable because what it adds is behind a lock.

    /// What may be done to make room for the file.
    public struct Options: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Makes options from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Makes the directories that lead to the file.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// Puts the file in the place of one that is there already. Without it, an existing file fails the request.
        public static let removePreviousFile = Options(rawValue: 1 << 1)
    }

    /// Decides where the file goes, once it is whole: from where it is now and the response's head. It is called, and the
    /// file moved, on a queue of the download's own.
    public typealias Destination =
        @Sendable (_ temporaryURL: URL, _ response: HTTPURLResponse) -> (destinationURL: URL, options: Options)

    /// What a download begins with.
    public enum Downloadable: Sendable {
        /// What makes the request for the whole file.
        case request(any URLRequestConvertible)
        /// The resume data of an earlier download.
        case resumeData(Data)
    }

    typealias Validator = @Sendable (URLRequest?, ResponseHead, URL?) throws -> Void

    private struct Own {
        var validators: [Validator] = []
        /// Whether a cancel is to leave something to resume from.
        var cancelsResumably = false
    }

    /// What the download began with.
    public let downloadable: Downloadable
    private let destination: Destination?
    private let sink: DownloadSink
    private let own = Locked(Own())

    init(
        _ downloadable: Downloadable,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        destination: Destination?
    ) {
        self.downloadable = downloadable
        self.destination = destination
        let convertible: any URLRequestConvertible
        switch downloadable {
        case .request(let request):
            convertible = request
            sink = DownloadSink()
        case .resumeData(let data):
            let resumed = ResumedRequest(data, sensitiveHeaders: session.configuration.sensitiveHeaders)
            convertible = resumed
            sink = DownloadSink(resuming: try? resumed.data.get())
        }
        super.init(
            convertible: convertible, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, countsBytes: true)
    }

    // MARK: Files

    /// Where the file is, once it is whole; nil before, and for a response without one.
    ///
    /// When validation failed, the file is there as long as this request is. When it could not be moved, this is nil, and
    /// the whole file is at the error's ``AFError/sourceURL``, for the caller to move or remove.
    public var fileURL: URL? { sink.fileURL }

    /// Where the bytes arrive, or were before the file was moved; nil before the request is sent.
    public var temporaryURL: URL? { sink.temporaryURL }

    /// Where the file was moved to; nil before, and without a destination.
    public var destinationURL: URL? { sink.destinationURL }

    /// All of these at one moment.
    var files: DownloadFiles { sink.files }

    // MARK: Resume data

    /// What ``Session/download(resumingWith:interceptor:shouldAutomaticallyResume:to:)`` needs to resume this
    /// download; nil while it is in flight, when it has succeeded, and when it cannot be continued.
    ///
    /// It is there after the connection broke or timed out, or the disk was full, and after
    /// ``cancel(producingResumeData:)``. A download can be continued when it is a GET without a `Range`, and the response
    /// had status 200, no content coding, and a validator that identifies its bytes: a strong `ETag`, or without any
    /// `ETag` a `Last-Modified` at least a minute older than the response (RFC 9110, sections 8.8 and 13.1.5). Ask with
    /// `Accept-Encoding: identity` for what a server would compress.
    ///
    /// The part that has arrived is a file among the temporary ones, and belongs to the resume data. Nobody removes it
    /// when the data is dropped: resume the download, or leave it to the system that clears temporary files.
    ///
    /// The data holds the URL and the request's headers, but no credentials: no user name and password, no
    /// `Authorization`, `Cookie` or `Proxy-Authorization`, and no header whose name contains words such as token, key,
    /// secret or password. Let an interceptor or the session's own headers add them again. A URL that is itself a
    /// secret (a signed one, say) is in the data, so keep that as you would keep the URL.
    public var resumeData: Data? { sink.resumeData }

    /// What the download could be resumed from if the process ended now. For the tool, which keeps it on disk.
    package var resumableInFlight: ResumeData? { sink.resumableInFlight }

    /// Lets the download begin with a part, as resume data would. To be called before it starts.
    package func resume(from data: ResumeData) { sink.resume(from: data) }

    /// Ends the download for good, and drops what has arrived of it.
    @discardableResult
    public override func cancel() -> Self { cancel(producingResumeData: false) }

    /// Ends the download for good.
    ///
    /// - Parameter shouldProduceResumeData: Whether ``resumeData`` is to be there afterwards, once the request has
    ///   finished, if there is something to go on with.
    @discardableResult
    public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
        if shouldProduceResumeData { own.withLock { $0.cancelsResumably = true } }
        super.cancel()
        return self
    }

    /// Ends the download for good, and hands over what is needed to resume it later.
    ///
    /// - Parameter completionHandler: Called once, on the session's ``Session/rootQueue``, when nothing more is written
    ///   to the part's file; with nil when there is nothing to go on with.
    @preconcurrency
    @discardableResult
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (_ data: Data?) -> Void) -> Self {
        cancel(producingResumeData: true)
        if !sink.whenSettled(completionHandler) {
            session.queues.root.async { [self] in completionHandler(resumeData) }
        }
        return self
    }

    // MARK: One attempt

    override func prepareForAttempt() {
        super.prepareForAttempt()
        sink.begin()
    }

    override func complete(_ urlRequest: inout URLRequest) throws {
        try sink.prepare(for: urlRequest, hiding: session.configuration.sensitiveHeaders)
    }

    override var stages: [any ExchangeStage] {
        let stages = super.stages
        return sink.resumeStage.map { [$0] + stages } ?? stages
    }

    override func openDelivery() throws -> ResponseDelivery {
        do throws(TransportError) {
            return try sink.open()
        } catch {
            throw failure(after: error)
        }
    }

    override func judge(_ head: ResponseHead) -> (HeadVerdict, asking: HopDriver.Work?) {
        let verdict = sink.verdict(at: head, sent: lastRequest)
        guard case .take = verdict else { return (verdict, nil) }
        let offset = sink.offset
        mutable.withLock { $0.attempt.bytesBefore = offset }
        if offset > 0 { didResume(at: offset, expected: head.contentLength) }
        return (verdict, receiveHead(head))
    }

    override func receive(_ response: TransportResponse) throws {
        try super.receive(response)
        do throws(TransportError) {
            guard let file = try sink.finish(), let events, let task = lastTask as? URLSessionDownloadTask
            else { return }
            events.urlSession(.shared, downloadTask: task, didFinishDownloadingTo: file)
        } catch {
            throw failure(after: error)
        }
    }

    nonisolated(nonsending) override func keepResponse() async throws(AFError) {
        if session.delegate.takesFiles, let file = sink.wholeFile {
            await onQueue(session.queues.root) { session.delegate.show(file, of: self) }
        }
        try runValidators()
        // To another file system a file is copied, which may take long.
        let queue = destination == nil ? nil : DispatchQueue(label: "afar.download.move", qos: .utility)
        try await onQueue(queue) { () throws(AFError) in try keepFile() }
    }

    private func didResume(at offset: Int64, expected: Int64?) {
        didReceive(bytes: 0, expected: expected)
        guard let events, let task = lastTask as? URLSessionDownloadTask else { return }
        events.urlSession(
            .shared, downloadTask: task, didResumeAtOffset: offset,
            expectedTotalBytes: expected.map { offset + $0 } ?? -1)
    }

    private func runValidators() throws(AFError) {
        let validators = own.withLock { $0.validators }
        guard !validators.isEmpty, let head = responseHead else { return }
        let (request, fileURL) = (self.request, sink.fileURL)
        for validator in validators {
            try validate(head, with: { try validator(request, head, fileURL) }) { events, response, result in
                events.request(
                    self, didValidateRequest: request, response: response, fileURL: fileURL, withResult: result)
            }
        }
    }

    private func keepFile() throws(AFError) {
        guard let file = sink.wholeFile else { return }
        if let destination, let response {
            let (url, options) = destination(file, response)
            events?.request(self, didCreateDestinationURL: url)
            do {
                try sink.move(
                    to: url, createsDirectories: options.contains(.createIntermediateDirectories),
                    replacesFile: options.contains(.removePreviousFile))
            } catch {
                let failure = fail(with: .downloadedFileMoveFailed(error: error, source: file, destination: url))
                didFinish(with: .failure(failure))
                throw failure
            }
        } else {
            sink.keep()
            events?.request(self, didCreateDestinationURL: file)
        }
        if let fileURL { didFinish(with: .success(fileURL)) }
        tellWaiting()
    }

    private func didFinish(with result: Result<URL, AFError>) {
        guard let events, let task = lastTask else { return }
        events.request(self, didFinishDownloadingUsing: task, with: result)
    }

    // MARK: Interruption

    override func failure(after error: TransportError) -> AFError {
        sink.interrupt(keeping: mayKeepPart)
        if let refusal = error.trustFailure { return refusal }
        // What the judge found wrong says more than that the head was refused.
        return .sessionTaskFailed(
            error: (error.underlying as? TransportError ?? error).urlError(resumeData: resumeData))
    }

    override func abandonAttempt() {
        sink.interrupt(keeping: mayKeepPart)
        tellWaiting()
    }

    /// Whether what there is to go on with is kept: not when the owner of the request wants nothing more.
    private var mayKeepPart: Bool {
        if case .explicitlyCancelled = mutable.withLock({ $0.end }) {
            own.withLock { $0.cancelsResumably }
        } else {
            true
        }
    }

    private func tellWaiting() {
        let waiting = sink.takeWaiting()
        guard !waiting.isEmpty else { return }
        session.queues.root.async { [self] in
            let data = resumeData
            for handler in waiting { handler(data) }
        }
    }

    override func append(_ rule: @escaping Rule) {
        append { request, head, fileURL in try rule(request, head) { !Self.isEmpty(fileURL) } }
    }

    private static func isEmpty(_ file: URL?) -> Bool {
        guard let path = file?.path, let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] else {
            return true
        }
        return (size as? NSNumber)?.int64Value == 0
    }

    func append(_ validator: @escaping Validator) {
        own.withLock { $0.validators.append(validator) }
    }
}

/// Makes the request that resume data describes.
private struct ResumedRequest: URLRequestConvertible {
    let data: Result<ResumeData, ResumeDataError>
    let sensitiveHeaders: Set<String>

    init(_ data: Data, sensitiveHeaders: Set<String>) {
        self.sensitiveHeaders = sensitiveHeaders
        self.data = Result { () throws(ResumeDataError) in try ResumeData(decoding: data) }
    }

    func asURLRequest() throws -> URLRequest { try data.get().urlRequest(without: sensitiveHeaders) }
}

extension TransportError {
    /// `urlError`, with what a download needs to be resumed.
    fileprivate func urlError(resumeData: Data?) -> URLError {
        let error = urlError
        guard let resumeData else { return error }
        return URLError(
            error.code, userInfo: error.userInfo.merging([AFError.resumeDataKey: resumeData]) { _, new in new })
    }
}

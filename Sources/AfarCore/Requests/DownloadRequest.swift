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

    /// What the download began with.
    public let downloadable: Downloadable
    private let file: FileSink

    init(
        _ downloadable: Downloadable,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        destination: Destination?
    ) {
        self.downloadable = downloadable
        let convertible: any URLRequestConvertible
        switch downloadable {
        case .request(let request):
            convertible = request
            file = FileSink(to: destination)
        case .resumeData(let data):
            let resumed = ResumedRequest(data, sensitiveHeaders: session.configuration.sensitiveHeaders)
            convertible = resumed
            file = FileSink(to: destination, resuming: try? resumed.data.get())
        }
        super.init(
            convertible: convertible, sink: file, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, countsBytes: true)
    }

    // MARK: Files

    /// Where the file is, once it is whole; nil before, and for a response without one.
    ///
    /// When validation failed, the file is there as long as this request is. When it could not be moved, this is nil, and
    /// the whole file is at the error's ``AFError/sourceURL``, for the caller to move or remove.
    public var fileURL: URL? { file.storage.fileURL }

    /// Where the bytes arrive, or were before the file was moved; nil before the request is sent.
    public var temporaryURL: URL? { file.storage.temporaryURL }

    /// Where the file was moved to; nil before, and without a destination.
    public var destinationURL: URL? { file.storage.destinationURL }

    /// All of these at one moment.
    var files: DownloadFiles { file.storage.files }

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
    public var resumeData: Data? { file.storage.resumeData }

    /// What the download could be resumed from if the process ended now. For the tool, which keeps it on disk.
    package var resumableInFlight: ResumeData? { file.storage.resumableInFlight }

    /// Lets the download begin with a part, as resume data would. To be called before it starts.
    package func resume(from data: ResumeData) { file.storage.resume(from: data) }

    /// Ends the download for good, and drops what has arrived of it.
    @discardableResult
    public override func cancel() -> Self { cancel(producingResumeData: false) }

    /// Ends the download for good.
    ///
    /// - Parameter shouldProduceResumeData: Whether ``resumeData`` is to be there afterwards, once the request has
    ///   finished, if there is something to go on with.
    @discardableResult
    public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
        if shouldProduceResumeData { file.keepPartWhenCancelled() }
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
        if !file.storage.whenSettled(completionHandler) {
            session.queues.root.async { [self] in completionHandler(resumeData) }
        }
        return self
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

extension DownloadRequest {
    /// A destination in one of the user's directories, under the name that the server suggests: that of
    /// `Content-Disposition` (RFC 6266, with `filename*` of RFC 8187), else the last part of the URL's path, else
    /// "download".
    ///
    /// A name never leads out of the directory: what comes before its last slash or backslash is cut off, as are control
    /// characters and leading dots, dashes and tildes.
    ///
    /// - Parameters:
    ///   - directory: Which directory. The default is that for documents. On Linux it need not exist; the option
    ///     `createIntermediateDirectories` makes it.
    ///   - domain: Where to look for the directory; the first one found counts. The default is the user's home.
    ///   - options: What may be done to make room for the file. The default is nothing.
    public class func suggestedDownloadDestination(
        for directory: FileManager.SearchPathDirectory = .documentDirectory,
        in domain: FileManager.SearchPathDomainMask = .userDomainMask,
        options: Options = []
    ) -> Destination {
        { temporaryURL, response in
            guard let place = FileManager.default.urls(for: directory, in: domain).first else {
                return (temporaryURL, options)
            }
            let name = FileName.suggested(
                contentDisposition: response.headers["Content-Disposition"], url: response.url?.absoluteString ?? "")
            return (place.appendingPathComponent(name, isDirectory: false), options)
        }
    }
}

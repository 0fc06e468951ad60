public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request whose response is written to a file.
///
/// The body is written to a private temporary file. When the file is complete and the response has passed the validators, the
/// file is moved to the destination. Without a destination, the file stays in place, and the caller must move or remove it.
///
/// A failed request leaves a file in only two cases. A partial file remains if it belongs to the ``resumeData``. A complete file
/// that couldn't be moved remains at the error's ``AFError/sourceURL``, and the caller must move or remove it.
///
/// A retry resumes where the previous attempt was interrupted. The same rules apply as for a request created from resume data.
public final class DownloadRequest: Request, @unchecked Sendable {
    // Sendable: a lock protects its state.

    /// Options that determine how to resolve conflicts when the file is moved.
    public struct Options: OptionSet, Sendable {
        /// The raw value.
        public let rawValue: Int

        /// Creates options from a raw value.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Creates missing intermediate directories.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// Replaces an existing file. Without this option, the request fails if the file exists.
        public static let removePreviousFile = Options(rawValue: 1 << 1)
    }

    /// A closure that returns the destination of the complete file. It receives the file's temporary location and the
    /// response's head. The closure is called on a queue that only this download uses. The file is moved on the same queue.
    public typealias Destination =
        @Sendable (_ temporaryURL: URL, _ response: HTTPURLResponse) -> (destinationURL: URL, options: Options)

    /// The starting point of a download.
    public enum Downloadable: Sendable {
        /// Creates the request for the whole file.
        case request(any URLRequestConvertible)
        /// The resume data of an earlier download.
        case resumeData(Data)
    }

    /// The starting point of this download.
    public let downloadable: Downloadable
    let file: FileSink

    init(
        _ downloadable: Downloadable,
        movedTo location: (any URLConvertible)? = nil,
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
            let resumed = ResumedRequest(
                data, movedTo: location, sensitiveHeaders: session.configuration.sensitiveHeaders)
            convertible = resumed
            file = FileSink(to: destination, resuming: try? resumed.data.get())
        }
        super.init(
            convertible: convertible, sink: file, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, countsBytes: true)
    }

    // MARK: Files

    /// The location of the complete file, or nil if the file isn't complete or the response has no file.
    ///
    /// If validation failed, the file exists as long as this request exists. If the file couldn't be moved, the value is nil.
    /// In this case, the complete file is at the error's ``AFError/sourceURL``, and the caller must move or remove it.
    public var fileURL: URL? { file.storage.files.fileURL }

    /// The temporary location to which the body is written. The value doesn't change when the file is moved. It is nil before the
    /// request is sent.
    public var temporaryURL: URL? { file.storage.files.temporaryURL }

    /// The location to which the file was moved, or nil if it hasn't been moved.
    public var destinationURL: URL? { file.storage.files.destinationURL }

    /// A consistent snapshot of the file URLs and the resume data.
    var files: DownloadFiles { file.storage.files }

    // MARK: Resume data

    /// The data from which ``Session/download(resumingWith:interceptor:shouldAutomaticallyResume:to:)`` resumes this download. It
    /// is nil while the download is in progress, after the download has succeeded, and if the download can't be resumed.
    ///
    /// The data exists after the connection was lost or timed out, after the disk was full, and after
    /// ``cancel(producingResumeData:)``. A download can be resumed if it is a GET request without a `Range` header. The
    /// response must also have status 200, no content coding, and a validator that identifies its bytes (RFC 9110, sections 8.8
    /// and 13.1.5). The validator is a strong `ETag`. If the response has no `ETag`, the validator is a `Last-Modified` date
    /// that is at least a minute before the response's `Date`. To prevent the server from compressing the file, send
    /// `Accept-Encoding: identity`.
    ///
    /// The partial content is a temporary file that belongs to the resume data. Afar doesn't remove the file when the data is
    /// released. Resume the download, or let the system clear its temporary files.
    ///
    /// The data contains the URL and the request's headers, without credentials. It omits the user name and password,
    /// `Authorization`, `Cookie`, `Proxy-Authorization`, and headers whose names contain words such as token, key, secret or
    /// password. Add the credentials again with an interceptor or the session's headers. If the URL is itself a secret, such as a
    /// signed URL, protect the data like the URL.
    public var resumeData: Data? { file.storage.files.resumeData }

    /// The data that would resume the download if the process ended now. The command-line tool stores it on disk.
    package var resumableInFlight: ResumeData? { file.storage.resumableInFlight }

    /// Sets the partial file from which the download resumes. Must be called before the download starts.
    package func resume(from data: ResumeData) { file.storage.resume(from: data) }

    /// Cancels the download and discards its partial content.
    @discardableResult
    public override func cancel() -> Self { cancel(producingResumeData: false) }

    /// Cancels the download.
    ///
    /// - Parameter shouldProduceResumeData: Whether to provide ``resumeData`` after the request has finished, if the download
    ///   can be resumed.
    @discardableResult
    public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
        if shouldProduceResumeData { file.produceResumeDataWhenCancelled() }
        super.cancel()
        return self
    }

    /// Cancels the download and passes its resume data to a closure.
    ///
    /// - Parameter completionHandler: Called once, on the session's ``Session/rootQueue``, after the last write to the partial
    ///   file. Its argument is nil if the download can't be resumed.
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

/// Creates the request that resume data describes, optionally with another URL.
private struct ResumedRequest: URLRequestConvertible {
    let data: Result<ResumeData, ResumeDataError>
    let location: (any URLConvertible)?
    let sensitiveHeaders: Set<String>

    init(_ data: Data, movedTo location: (any URLConvertible)?, sensitiveHeaders: Set<String>) {
        self.location = location
        self.sensitiveHeaders = sensitiveHeaders
        self.data = Result { () throws(ResumeDataError) in
            var data = try ResumeData(decoding: data)
            if location != nil { data.isRelocated = true }
            return data
        }
    }

    func asURLRequest() throws -> URLRequest {
        var urlRequest = try data.get().urlRequest(without: sensitiveHeaders)
        if let location { urlRequest.url = try location.asURL() }
        return urlRequest
    }
}

extension DownloadRequest {
    /// Returns a destination in one of the user's directories, with the file name that the server suggests. The name comes from
    /// `Content-Disposition` (RFC 6266, with `filename*` of RFC 8187) or, without this header, from the last component of the
    /// URL's path. If both are missing, the name is "download".
    ///
    /// To keep the file in the directory, everything before the last slash or backslash is removed from the name. Control
    /// characters and leading dots, dashes and tildes are removed too.
    ///
    /// - Parameters:
    ///   - directory: The directory. The default is the documents directory. On Linux, this directory might not exist. The option
    ///     `createIntermediateDirectories` creates it.
    ///   - domain: The domain in which to search for the directory. The first result is used. The default is the user's home.
    ///   - options: Determine how to resolve conflicts in the file system. By default, no options are set.
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

// MARK: - Responses

extension DownloadRequest {
    /// Adds a handler that receives the response with the location of its file.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. Nil means the main queue, which is the default. If the program blocks
    ///     its main thread, the handler is never called.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL?>) -> Void
    ) -> Self {
        let makeResponse = Self.makeResponse(reporting: RequestEvent.ParsedValue.init(_:unserialized:)) {
            _, _, fileURL, error in
            if let error { throw error }
            return fileURL
        }
        addHandler(on: queue, makeResponse, completion: completionHandler)
        return self
    }

    /// Adds a handler that receives the location of the file. A response without a file is an error.
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// Adds a handler that receives the response with the value that a serializer creates from the file, as in
    /// `.response(.text) { … }`.
    ///
    /// The serializer runs on the session's serialization queue if there is one, otherwise in the request's task. It never runs
    /// on `queue`. See ``response(queue:completionHandler:)`` for `queue`.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        queue: DispatchQueue? = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        addHandler(on: queue, Self.makeResponse(using: serializer), completion: completionHandler)
        return self
    }

    /// Adds a handler that receives the response with the value from a serializer.
    @preconcurrency
    @discardableResult
    public func response<Serializer: DownloadResponseSerializerProtocol>(
        queue: DispatchQueue? = .main,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        addHandler(on: queue, Self.makeResponse(using: responseSerializer), completion: completionHandler)
        return self
    }

    /// Adds a handler that receives the response with the value from a serializer. This overload supports the serializers'
    /// factory methods, as in `.response(responseSerializer: .string) { … }`.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue? = .main,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        addHandler(on: queue, Self.makeResponse(using: responseSerializer), completion: completionHandler)
        return self
    }

    /// Returns a task that provides the location of the file. A response without a file is an error.
    public func serializingDownloadedFileURL(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<URL> {
        serializingDownload(using: URLResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Adds a serializer and returns a task that provides its value, as in `serializing(.text)`. This starts the request,
    /// unless automatic starting is turned off.
    public func serializing<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        downloadTask(automaticallyCancelling: shouldAutomaticallyCancel, Self.makeResponse(using: serializer))
    }

    /// Adds a serializer and returns a task that provides its value, like ``serializing(_:automaticallyCancelling:)``.
    public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        downloadTask(automaticallyCancelling: shouldAutomaticallyCancel, Self.makeResponse(using: serializer))
    }

    /// Adds a serializer and returns a task that provides its value. This overload supports the serializers' factory methods,
    /// as in `serializingDownload(using: .string)`.
    public func serializingDownload<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        downloadTask(automaticallyCancelling: shouldAutomaticallyCancel, Self.makeResponse(using: serializer))
    }

    private func downloadTask<Value: Sendable>(
        automaticallyCancelling shouldAutomaticallyCancel: Bool,
        _ makeResponse: @escaping @Sendable (Request) -> AFDownloadResponse<Value>
    ) -> DownloadTask<Value> {
        let deferred = Deferred<AFDownloadResponse<Value>>()
        addHandler(makeResponse) { deferred.fulfill($0) }
        return DownloadTask(request: self, deferred: deferred, shouldAutomaticallyCancel: shouldAutomaticallyCancel)
    }

    private static func makeResponse<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer
    ) -> @Sendable (Request) -> AFDownloadResponse<Serializer.SerializedObject> {
        makeResponse { request, head, fileURL, error in
            try serializer.serializeDownload(
                request: request, response: head?.httpURLResponse, fileURL: fileURL, error: error)
        }
    }

    private static func makeResponse<Value>(
        reporting parsedValue: (@Sendable (DownloadRequest, AFDownloadResponse<Value>) -> RequestEvent.ParsedValue)? =
            nil,
        with serialize: @escaping @Sendable (URLRequest?, ResponseHead?, URL?, AFError?) throws -> Value
    ) -> @Sendable (Request) -> AFDownloadResponse<Value> {
        { request in
            let download = request as? DownloadRequest
            let (result, details) = request.serialized { urlRequest, head, error in
                try request.withSessionDecoder { try serialize(urlRequest, head, download?.fileURL, error) }
            }
            let response = DownloadResponse(result, details, of: download?.files ?? DownloadFiles())
            request.notify(DownloadRequest.self) {
                .requestDidParse(request, parsedValue?($0, response) ?? .init($0, response))
            }
            return response
        }
    }
}

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An event of a session, of a request, or of the task of one of its attempts.
///
/// Each case corresponds to a method of ``EventMonitor``, where the event and its values are described. To observe many events in
/// one place, implement ``EventMonitor/receive(_:)`` and switch over the event. More cases can be added, so the switch needs a
/// `default`.
public enum RequestEvent: @unchecked Sendable {
    // Unchecked because of the input stream, which monitors must not use.

    // MARK: Sessions

    /// The session was invalidated or released.
    case sessionDidBecomeInvalid((any Error)?)

    // MARK: Tasks

    /// A server requested credentials.
    case taskDidReceiveChallenge(URLSessionTask, URLAuthenticationChallenge)
    /// Bytes of a body were sent.
    case taskDidSendBodyData(URLSessionTask, Int64, totalBytesSent: Int64, totalBytesExpectedToSend: Int64)
    /// The input stream that is an attempt's body is about to be read.
    case taskNeedsNewBodyStream(URLSessionTask)
    /// A redirect is about to be followed.
    case taskWillPerformHTTPRedirection(URLSessionTask, HTTPURLResponse, newRequest: URLRequest)
    /// The metrics of an attempt are complete.
    case taskDidFinishCollectingMetrics(URLSessionTask, TaskMetrics)
    /// The network activity of an attempt has ended.
    case taskDidComplete(URLSessionTask, (any Error)?)
    /// The task waits for a network.
    case taskIsWaitingForConnectivity(URLSessionTask)

    // MARK: Data tasks

    /// The head of a response has arrived.
    case dataTaskDidReceiveResponse(URLSessionDataTask, URLResponse)
    /// Bytes of a response's body have arrived.
    case dataTaskDidReceiveData(URLSessionDataTask, Data)
    /// The session's cache is about to store a response.
    case dataTaskWillCacheResponse(URLSessionDataTask, CachedURLResponse)

    // MARK: Download tasks

    /// A download resumes an earlier download.
    case downloadTaskDidResumeAtOffset(URLSessionDownloadTask, Int64, expectedTotalBytes: Int64)
    /// Bytes of a download were written.
    case downloadTaskDidWriteData(
        URLSessionDownloadTask, Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
    /// A download is complete in a temporary file.
    case downloadTaskDidFinishDownloading(URLSessionDownloadTask, to: URL)

    // MARK: All requests

    /// An attempt's `URLRequest` was created.
    case requestDidCreateInitialURLRequest(Request, URLRequest)
    /// An attempt's `URLRequest` couldn't be created.
    case requestDidFailToCreateURLRequest(Request, AFError)
    /// The adapters have changed an attempt's `URLRequest`.
    case requestDidAdaptInitialRequest(Request, URLRequest, to: URLRequest)
    /// An adapter failed.
    case requestDidFailToAdaptURLRequest(Request, URLRequest, AFError)
    /// An attempt's final `URLRequest` was created.
    case requestDidCreateURLRequest(Request, URLRequest)
    /// An attempt's task was created.
    case requestDidCreateTask(Request, URLSessionTask)
    /// The metrics of an attempt are complete.
    case requestDidGatherMetrics(Request, TaskMetrics)
    /// An attempt failed for a reason other than a network error.
    case requestDidFailTask(Request, URLSessionTask, AFError)
    /// An attempt has ended and was validated.
    case requestDidCompleteTask(Request, URLSessionTask, AFError?)
    /// The request is about to be retried.
    case requestIsRetrying(Request)
    /// The last attempt has ended.
    case requestDidFinish(Request)
    /// The request was resumed.
    case requestDidResume(Request)
    /// An attempt's task was resumed.
    case requestDidResumeTask(Request, URLSessionTask)
    /// The request was suspended.
    case requestDidSuspend(Request)
    /// An attempt's task was suspended with its request.
    case requestDidSuspendTask(Request, URLSessionTask)
    /// The request was canceled.
    case requestDidCancel(Request)
    /// An attempt's task was canceled with its request.
    case requestDidCancelTask(Request, URLSessionTask)
    /// An informational (1xx) response has arrived, for example 103 (Early Hints; RFC 8297).
    case requestDidReceiveInformationalResponse(Request, HTTPURLResponse)
    /// A validator has validated a response.
    case requestDidValidate(Request, URLRequest?, HTTPURLResponse, ValidatedBody, Request.ValidationResult)
    /// A response was created for a handler, or a value was created from a chunk of a stream.
    case requestDidParse(Request, ParsedValue)

    // MARK: Uploads

    /// The body was created.
    case requestDidCreateUploadable(UploadRequest, UploadRequest.Uploadable)
    /// The body couldn't be created.
    case requestDidFailToCreateUploadable(UploadRequest, AFError)
    /// The body is an input stream that is about to be read. Don't use the stream.
    case requestDidProvideInputStream(UploadRequest, InputStream)

    // MARK: Downloads

    /// A download's file is at its final location, or couldn't be moved there.
    case requestDidFinishDownloading(DownloadRequest, URLSessionTask, Result<URL, AFError>)
    /// The destination of a download's file was determined.
    case requestDidCreateDestinationURL(DownloadRequest, URL)

    /// The body of a validated response.
    public enum ValidatedBody: Sendable {
        /// The bytes for a ``DataRequest``.
        case data(Data?)
        /// The file of a ``DownloadRequest``.
        case file(URL?)
        /// The body of a ``DataStreamRequest``, which hasn't arrived yet.
        case stream
    }

    /// The result that was created for a handler. Its value isn't available, because the handler might be using it.
    public struct ParsedValue: Sendable {
        /// The type of the value.
        public let type: Any.Type
        /// The error, or nil if there is a value.
        public let error: AFError?
        fileprivate let notify: @Sendable (any EventMonitor) -> Void
    }
}

// MARK: - Dispatching to methods

extension EventMonitor {
    /// Calls the method that corresponds to the event.
    public func receive(_ event: RequestEvent) { callMethod(for: event) }

    /// Calls the method that corresponds to the event. Call this from your own ``receive(_:)`` if you also implement methods
    /// for single events.
    public func callMethod(for event: RequestEvent) {
        switch event {
        case .sessionDidBecomeInvalid(let error):
            urlSession(.shared, didBecomeInvalidWithError: error)

        case .taskDidReceiveChallenge(let task, let challenge):
            urlSession(.shared, task: task, didReceive: challenge)
        case .taskDidSendBodyData(let task, let bytes, let total, let expected):
            urlSession(
                .shared, task: task, didSendBodyData: bytes, totalBytesSent: total, totalBytesExpectedToSend: expected)
        case .taskNeedsNewBodyStream(let task):
            urlSession(.shared, taskNeedsNewBodyStream: task)
        case .taskWillPerformHTTPRedirection(let task, let response, let request):
            urlSession(.shared, task: task, willPerformHTTPRedirection: response, newRequest: request)
        case .taskDidFinishCollectingMetrics(let task, let metrics):
            urlSession(.shared, task: task, didFinishCollecting: metrics)
        case .taskDidComplete(let task, let error):
            urlSession(.shared, task: task, didCompleteWithError: error)
        case .taskIsWaitingForConnectivity(let task):
            urlSession(.shared, taskIsWaitingForConnectivity: task)

        case .dataTaskDidReceiveResponse(let task, let response):
            urlSession(.shared, dataTask: task, didReceive: response)
        case .dataTaskDidReceiveData(let task, let data):
            urlSession(.shared, dataTask: task, didReceive: data)
        case .dataTaskWillCacheResponse(let task, let response):
            urlSession(.shared, dataTask: task, willCacheResponse: response)

        case .downloadTaskDidResumeAtOffset(let task, let offset, let expected):
            urlSession(.shared, downloadTask: task, didResumeAtOffset: offset, expectedTotalBytes: expected)
        case .downloadTaskDidWriteData(let task, let bytes, let total, let expected):
            urlSession(
                .shared, downloadTask: task, didWriteData: bytes, totalBytesWritten: total,
                totalBytesExpectedToWrite: expected)
        case .downloadTaskDidFinishDownloading(let task, let file):
            urlSession(.shared, downloadTask: task, didFinishDownloadingTo: file)

        case .requestDidCreateInitialURLRequest(let request, let urlRequest):
            self.request(request, didCreateInitialURLRequest: urlRequest)
        case .requestDidFailToCreateURLRequest(let request, let error):
            self.request(request, didFailToCreateURLRequestWithError: error)
        case .requestDidAdaptInitialRequest(let request, let initial, let adapted):
            self.request(request, didAdaptInitialRequest: initial, to: adapted)
        case .requestDidFailToAdaptURLRequest(let request, let initial, let error):
            self.request(request, didFailToAdaptURLRequest: initial, withError: error)
        case .requestDidCreateURLRequest(let request, let urlRequest):
            self.request(request, didCreateURLRequest: urlRequest)
        case .requestDidCreateTask(let request, let task):
            self.request(request, didCreateTask: task)
        case .requestDidGatherMetrics(let request, let metrics):
            self.request(request, didGatherMetrics: metrics)
        case .requestDidFailTask(let request, let task, let error):
            self.request(request, didFailTask: task, earlyWithError: error)
        case .requestDidCompleteTask(let request, let task, let error):
            self.request(request, didCompleteTask: task, with: error)
        case .requestIsRetrying(let request):
            requestIsRetrying(request)
        case .requestDidFinish(let request):
            requestDidFinish(request)
        case .requestDidResume(let request):
            requestDidResume(request)
        case .requestDidResumeTask(let request, let task):
            self.request(request, didResumeTask: task)
        case .requestDidSuspend(let request):
            requestDidSuspend(request)
        case .requestDidSuspendTask(let request, let task):
            self.request(request, didSuspendTask: task)
        case .requestDidCancel(let request):
            requestDidCancel(request)
        case .requestDidCancelTask(let request, let task):
            self.request(request, didCancelTask: task)
        case .requestDidReceiveInformationalResponse(let request, let response):
            self.request(request, didReceiveInformationalResponse: response)
        case .requestDidValidate(let request, let urlRequest, let response, let body, let result):
            didValidate(request, urlRequest, response, body, result)
        case .requestDidParse(_, let value):
            value.notify(self)

        case .requestDidCreateUploadable(let request, let uploadable):
            self.request(request, didCreateUploadable: uploadable)
        case .requestDidFailToCreateUploadable(let request, let error):
            self.request(request, didFailToCreateUploadableWithError: error)
        case .requestDidProvideInputStream(let request, let stream):
            self.request(request, didProvideInputStream: stream)

        case .requestDidFinishDownloading(let request, let task, let result):
            self.request(request, didFinishDownloadingUsing: task, with: result)
        case .requestDidCreateDestinationURL(let request, let url):
            self.request(request, didCreateDestinationURL: url)
        }
    }

    private func didValidate(
        _ request: Request, _ urlRequest: URLRequest?, _ response: HTTPURLResponse, _ body: RequestEvent.ValidatedBody,
        _ result: Request.ValidationResult
    ) {
        switch (body, request) {
        case (.data(let data), let request as DataRequest):
            self.request(
                request, didValidateRequest: urlRequest, response: response, data: data, withResult: result)
        case (.file(let fileURL), let request as DownloadRequest):
            self.request(
                request, didValidateRequest: urlRequest, response: response, fileURL: fileURL, withResult: result)
        case (.stream, let request as DataStreamRequest):
            self.request(request, didValidateRequest: urlRequest, response: response, withResult: result)
        default: break
        }
    }
}

// MARK: - Values of any type

extension RequestEvent.ParsedValue {
    /// The response for a handler without a serializer.
    init(_ request: DataRequest, unserialized response: DataResponse<Data?, AFError>) {
        self.init(type: Data?.self, error: response.error) { $0.request(request, didParseResponse: response) }
    }

    /// The response for a handler without a serializer.
    init(_ request: DownloadRequest, unserialized response: DownloadResponse<URL?, AFError>) {
        self.init(type: URL?.self, error: response.error) { $0.request(request, didParseResponse: response) }
    }

    init<Value>(_ request: DataRequest, _ response: DataResponse<Value, AFError>) {
        func notification<Assumed: Sendable>(_ type: Assumed.Type) -> @Sendable (any EventMonitor) -> Void {
            guard let response = response as? DataResponse<Assumed, AFError> else { return { _ in } }
            return { $0.request(request, didParseResponse: response) }
        }
        self.init(type: Value.self, error: response.error, notify: notification(assumedSendable(Value.self)))
    }

    init<Value>(_ request: DownloadRequest, _ response: DownloadResponse<Value, AFError>) {
        func notification<Assumed: Sendable>(_ type: Assumed.Type) -> @Sendable (any EventMonitor) -> Void {
            guard let response = response as? DownloadResponse<Assumed, AFError> else { return { _ in } }
            return { $0.request(request, didParseResponse: response) }
        }
        self.init(type: Value.self, error: response.error, notify: notification(assumedSendable(Value.self)))
    }

    init<Value: Sendable>(_ request: DataStreamRequest, _ result: Result<Value, AFError>) {
        self.init(type: Value.self, error: result.error) { $0.request(request, didParseStream: result) }
    }
}

/// Returns a type as if it were `Sendable`.
///
/// The monitors' generic methods require `Sendable` values, but serializers produce values of any type. `Sendable` doesn't
/// exist at run time, so `Any.Type` and `any Sendable.Type` have the same representation. Therefore the cast is safe. See
/// ``EventMonitor`` for what a monitor can do with a value that isn't really sendable.
private func assumedSendable(_ type: Any.Type) -> any Sendable.Type {
    unsafeBitCast(type, to: (any Sendable.Type).self)
}

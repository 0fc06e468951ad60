public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The default implementations ignore all events.
extension EventMonitor {
    /// The main queue.
    public var queue: DispatchQueue { .main }

    // MARK: Sessions

    /// The default implementation ignores the event.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

    // MARK: Tasks

    /// The default implementation ignores the event.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {}

    /// The default implementation ignores the event.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {}

    /// The default implementation ignores the event.
    public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {}

    /// The default implementation ignores the event.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {}

    /// The default implementation ignores the event.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TaskMetrics) {}

    /// This method is never called.
    @available(*, deprecated, message: "This method is never called. Implement the one with TaskMetrics.")
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {}

    /// The default implementation ignores the event.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}

    /// The default implementation ignores the event.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}

    // MARK: Data tasks

    /// The default implementation ignores the event.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {}

    /// The default implementation ignores the event.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}

    /// The default implementation ignores the event.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) {}

    // MARK: Download tasks

    /// The default implementation ignores the event.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {}

    /// The default implementation ignores the event.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {}

    /// The default implementation ignores the event.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {}

    // MARK: All requests

    /// The default implementation ignores the event.
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {}

    /// The default implementation ignores the event.
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {}

    /// The default implementation ignores the event.
    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {}

    /// The default implementation ignores the event.
    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {}

    /// The default implementation ignores the event.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {}

    /// The default implementation ignores the event.
    public func request(_ request: Request, didCreateTask task: URLSessionTask) {}

    /// The default implementation ignores the event.
    public func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {}

    /// This method is never called.
    @available(*, deprecated, message: "This method is never called. Implement the one with TaskMetrics.")
    public func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {}

    /// The default implementation ignores the event.
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {}

    /// The default implementation ignores the event.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {}

    /// The default implementation ignores the event.
    public func requestIsRetrying(_ request: Request) {}

    /// The default implementation ignores the event.
    public func requestDidFinish(_ request: Request) {}

    /// The default implementation ignores the event.
    public func requestDidResume(_ request: Request) {}

    /// The default implementation ignores the event.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {}

    /// The default implementation ignores the event.
    public func requestDidSuspend(_ request: Request) {}

    /// The default implementation ignores the event.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {}

    /// The default implementation ignores the event.
    public func requestDidCancel(_ request: Request) {}

    /// The default implementation ignores the event.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {}

    // MARK: Data requests

    /// The default implementation ignores the event.
    public func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    ) {}

    /// The default implementation ignores the event.
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {}

    /// The default implementation ignores the event.
    public func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {}

    // MARK: Streams

    /// The default implementation ignores the event.
    public func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {}

    /// The default implementation ignores the event.
    public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {}

    // MARK: Uploads

    /// The default implementation ignores the event.
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {}

    /// The default implementation ignores the event.
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {}

    /// The default implementation ignores the event.
    public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {}

    // MARK: Downloads

    /// The default implementation ignores the event.
    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {}

    /// The default implementation ignores the event.
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {}

    /// The default implementation ignores the event.
    public func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    ) {}

    /// The default implementation ignores the event.
    public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {}

    /// The default implementation ignores the event.
    public func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {}
}

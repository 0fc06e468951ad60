// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A monitor that calls a closure for each event, if a closure is set.
///
/// Set the closures before you pass the monitor to a session or a request. To observe the results of serializers (the generic
/// events), write a subclass or a custom monitor.
open class ClosureEventMonitor: EventMonitor, @unchecked Sendable {
    // @unchecked because the closures must be set before use.

    // MARK: Sessions

    /// Called for `urlSession(_:didBecomeInvalidWithError:)`.
    open var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)?

    // MARK: Tasks

    /// Called for `urlSession(_:task:didReceive:)`.
    open var taskDidReceiveChallenge: ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> Void)?
    /// Called for `urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)`.
    open var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
    /// Called for `urlSession(_:taskNeedsNewBodyStream:)`.
    open var taskNeedNewBodyStream: ((URLSession, URLSessionTask) -> Void)?
    /// Called for `urlSession(_:task:willPerformHTTPRedirection:newRequest:)`.
    open var taskWillPerformHTTPRedirection: ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> Void)?
    /// Called for `urlSession(_:task:didFinishCollecting:)`.
    open var taskDidFinishCollectingMetrics: ((URLSession, URLSessionTask, TaskMetrics) -> Void)?
    /// Called for `urlSession(_:task:didCompleteWithError:)`.
    open var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)?
    /// Called for `urlSession(_:taskIsWaitingForConnectivity:)`.
    open var taskIsWaitingForConnectivity: ((URLSession, URLSessionTask) -> Void)?

    // MARK: Data tasks

    /// Called for `urlSession(_:dataTask:didReceive:)`.
    open var dataTaskDidReceiveResponse: ((URLSession, URLSessionDataTask, URLResponse) -> Void)?
    /// Called for `urlSession(_:dataTask:didReceive:)`.
    open var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)?
    /// Called for `urlSession(_:dataTask:willCacheResponse:)`.
    open var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> Void)?

    // MARK: Download tasks

    /// Called for `urlSession(_:downloadTask:didFinishDownloadingTo:)`.
    open var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)?
    /// Called for `urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)`.
    open var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
    /// Called for `urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)`.
    open var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?

    // MARK: All requests

    /// Called for `request(_:didCreateInitialURLRequest:)`.
    open var requestDidCreateInitialURLRequest: ((Request, URLRequest) -> Void)?
    /// Called for `request(_:didFailToCreateURLRequestWithError:)`.
    open var requestDidFailToCreateURLRequestWithError: ((Request, AFError) -> Void)?
    /// Called for `request(_:didAdaptInitialRequest:to:)`.
    open var requestDidAdaptInitialRequestToAdaptedRequest: ((Request, URLRequest, URLRequest) -> Void)?
    /// Called for `request(_:didFailToAdaptURLRequest:withError:)`.
    open var requestDidFailToAdaptURLRequestWithError: ((Request, URLRequest, AFError) -> Void)?
    /// Called for `request(_:didCreateURLRequest:)`.
    open var requestDidCreateURLRequest: ((Request, URLRequest) -> Void)?
    /// Called for `request(_:didCreateTask:)`.
    open var requestDidCreateTask: ((Request, URLSessionTask) -> Void)?
    /// Called for `request(_:didGatherMetrics:)`.
    open var requestDidGatherMetrics: ((Request, TaskMetrics) -> Void)?
    /// Called for `request(_:didFailTask:earlyWithError:)`.
    open var requestDidFailTaskEarlyWithError: ((Request, URLSessionTask, AFError) -> Void)?
    /// Called for `request(_:didCompleteTask:with:)`.
    open var requestDidCompleteTaskWithError: ((Request, URLSessionTask, AFError?) -> Void)?
    /// Called for `requestIsRetrying(_:)`.
    open var requestIsRetrying: ((Request) -> Void)?
    /// Called for `requestDidFinish(_:)`.
    open var requestDidFinish: ((Request) -> Void)?
    /// Called for `requestDidResume(_:)`.
    open var requestDidResume: ((Request) -> Void)?
    /// Called for `request(_:didResumeTask:)`.
    open var requestDidResumeTask: ((Request, URLSessionTask) -> Void)?
    /// Called for `requestDidSuspend(_:)`.
    open var requestDidSuspend: ((Request) -> Void)?
    /// Called for `request(_:didSuspendTask:)`.
    open var requestDidSuspendTask: ((Request, URLSessionTask) -> Void)?
    /// Called for `requestDidCancel(_:)`.
    open var requestDidCancel: ((Request) -> Void)?
    /// Called for `request(_:didCancelTask:)`.
    open var requestDidCancelTask: ((Request, URLSessionTask) -> Void)?
    /// Called for `request(_:didReceiveInformationalResponse:)`.
    open var requestDidReceiveInformationalResponse: ((Request, HTTPURLResponse) -> Void)?

    // MARK: Data requests

    /// Called for `request(_:didValidateRequest:response:data:withResult:)`.
    open var requestDidValidateRequestResponseDataWithResult:
        ((DataRequest, URLRequest?, HTTPURLResponse, Data?, Request.ValidationResult) -> Void)?
    /// Called for `request(_:didParseResponse:)`.
    open var requestDidParseResponse: ((DataRequest, DataResponse<Data?, AFError>) -> Void)?

    // MARK: Streams

    /// Called for `request(_:didValidateRequest:response:withResult:)`.
    open var requestDidValidateRequestResponseWithResult:
        ((DataStreamRequest, URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void)?

    // MARK: Uploads

    /// Called for `request(_:didCreateUploadable:)`.
    open var requestDidCreateUploadable: ((UploadRequest, UploadRequest.Uploadable) -> Void)?
    /// Called for `request(_:didFailToCreateUploadableWithError:)`.
    open var requestDidFailToCreateUploadableWithError: ((UploadRequest, AFError) -> Void)?
    /// Called for `request(_:didProvideInputStream:)`.
    open var requestDidProvideInputStream: ((UploadRequest, InputStream) -> Void)?

    // MARK: Downloads

    /// Called for `request(_:didFinishDownloadingUsing:with:)`.
    open var requestDidFinishDownloadingUsingTaskWithResult:
        ((DownloadRequest, URLSessionTask, Result<URL, AFError>) -> Void)?
    /// Called for `request(_:didCreateDestinationURL:)`.
    open var requestDidCreateDestinationURL: ((DownloadRequest, URL) -> Void)?
    /// Called for `request(_:didValidateRequest:response:fileURL:withResult:)`.
    open var requestDidValidateRequestResponseFileURLWithResult:
        ((DownloadRequest, URLRequest?, HTTPURLResponse, URL?, Request.ValidationResult) -> Void)?
    /// Called for `request(_:didParseResponse:)`.
    open var requestDidParseDownloadResponse: ((DownloadRequest, DownloadResponse<URL?, AFError>) -> Void)?

    /// The queue on which the closures are called.
    public let queue: DispatchQueue

    /// Creates a monitor without closures.
    ///
    /// - Parameter queue: The queue on which the closures are called. The default is the main queue.
    public init(queue: DispatchQueue = .main) {
        self.queue = queue
    }

    // MARK: EventMonitor

    /// Calls the method that corresponds to the event.
    open func receive(_ event: RequestEvent) { callMethod(for: event) }

    open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        sessionDidBecomeInvalidWithError?(session, error)
    }

    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        taskDidReceiveChallenge?(session, task, challenge)
    }

    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        taskDidSendBodyData?(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
    }

    open func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        taskNeedNewBodyStream?(session, task)
    }

    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        taskWillPerformHTTPRedirection?(session, task, response, request)
    }

    open func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TaskMetrics) {
        taskDidFinishCollectingMetrics?(session, task, metrics)
    }

    open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        taskDidComplete?(session, task, error)
    }

    open func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        taskIsWaitingForConnectivity?(session, task)
    }

    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        dataTaskDidReceiveResponse?(session, dataTask, response)
    }

    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        dataTaskDidReceiveData?(session, dataTask, data)
    }

    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) {
        dataTaskWillCacheResponse?(session, dataTask, proposedResponse)
    }

    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        downloadTaskDidFinishDownloadingToURL?(session, downloadTask, location)
    }

    open func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        downloadTaskDidWriteData?(session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
    }

    open func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        downloadTaskDidResumeAtOffset?(session, downloadTask, fileOffset, expectedTotalBytes)
    }

    open func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        requestDidCreateInitialURLRequest?(request, urlRequest)
    }

    open func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        requestDidFailToCreateURLRequestWithError?(request, error)
    }

    open func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        requestDidAdaptInitialRequestToAdaptedRequest?(request, initialRequest, adaptedRequest)
    }

    open func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        requestDidFailToAdaptURLRequestWithError?(request, initialRequest, error)
    }

    open func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        requestDidCreateURLRequest?(request, urlRequest)
    }

    open func request(_ request: Request, didCreateTask task: URLSessionTask) {
        requestDidCreateTask?(request, task)
    }

    open func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        requestDidGatherMetrics?(request, metrics)
    }

    open func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        requestDidFailTaskEarlyWithError?(request, task, error)
    }

    open func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        requestDidCompleteTaskWithError?(request, task, error)
    }

    open func requestIsRetrying(_ request: Request) {
        self.requestIsRetrying?(request)
    }

    open func requestDidFinish(_ request: Request) {
        self.requestDidFinish?(request)
    }

    open func requestDidResume(_ request: Request) {
        self.requestDidResume?(request)
    }

    open func request(_ request: Request, didResumeTask task: URLSessionTask) {
        requestDidResumeTask?(request, task)
    }

    open func requestDidSuspend(_ request: Request) {
        self.requestDidSuspend?(request)
    }

    open func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        requestDidSuspendTask?(request, task)
    }

    open func requestDidCancel(_ request: Request) {
        self.requestDidCancel?(request)
    }

    open func request(_ request: Request, didCancelTask task: URLSessionTask) {
        requestDidCancelTask?(request, task)
    }

    open func request(_ request: Request, didReceiveInformationalResponse response: HTTPURLResponse) {
        requestDidReceiveInformationalResponse?(request, response)
    }

    open func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseDataWithResult?(request, urlRequest, response, data, result)
    }

    open func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        requestDidParseResponse?(request, response)
    }

    open func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseWithResult?(request, urlRequest, response, result)
    }

    open func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        requestDidCreateUploadable?(request, uploadable)
    }

    open func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        requestDidFailToCreateUploadableWithError?(request, error)
    }

    open func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        requestDidProvideInputStream?(request, stream)
    }

    open func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        requestDidFinishDownloadingUsingTaskWithResult?(request, task, result)
    }

    open func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        requestDidCreateDestinationURL?(request, url)
    }

    open func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseFileURLWithResult?(request, urlRequest, response, fileURL, result)
    }

    open func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        requestDidParseDownloadResponse?(request, response)
    }
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A monitor that implements ``receive(_:)``. Afar's requests call only that method. Code that wraps the monitor can also call
/// the methods for single events, which pass the event to ``receive(_:)``.
protocol EventReceiver: EventMonitor {}

extension EventReceiver {
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        receive(.sessionDidBecomeInvalid(error))
    }
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        receive(.taskDidReceiveChallenge(task, challenge))
    }
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        receive(
            .taskDidSendBodyData(
                task, bytesSent, totalBytesSent: totalBytesSent, totalBytesExpectedToSend: totalBytesExpectedToSend))
    }
    public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        receive(.taskNeedsNewBodyStream(task))
    }
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        receive(.taskWillPerformHTTPRedirection(task, response, newRequest: request))
    }
    public func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TaskMetrics) {
        receive(.taskDidFinishCollectingMetrics(task, metrics))
    }
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        receive(.taskDidComplete(task, error))
    }
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        receive(.taskIsWaitingForConnectivity(task))
    }
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        receive(.dataTaskDidReceiveResponse(dataTask, response))
    }
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        receive(.dataTaskDidReceiveData(dataTask, data))
    }
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) {
        receive(.dataTaskWillCacheResponse(dataTask, proposedResponse))
    }
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        receive(.downloadTaskDidResumeAtOffset(downloadTask, fileOffset, expectedTotalBytes: expectedTotalBytes))
    }
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        receive(
            .downloadTaskDidWriteData(
                downloadTask, bytesWritten, totalBytesWritten: totalBytesWritten,
                totalBytesExpectedToWrite: totalBytesExpectedToWrite))
    }
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        receive(.downloadTaskDidFinishDownloading(downloadTask, to: location))
    }
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        receive(.requestDidCreateInitialURLRequest(request, urlRequest))
    }
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        receive(.requestDidFailToCreateURLRequest(request, error))
    }
    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        receive(.requestDidAdaptInitialRequest(request, initialRequest, to: adaptedRequest))
    }
    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        receive(.requestDidFailToAdaptURLRequest(request, initialRequest, error))
    }
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        receive(.requestDidCreateURLRequest(request, urlRequest))
    }
    public func request(_ request: Request, didCreateTask task: URLSessionTask) {
        receive(.requestDidCreateTask(request, task))
    }
    public func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        receive(.requestDidGatherMetrics(request, metrics))
    }
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        receive(.requestDidFailTask(request, task, error))
    }
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        receive(.requestDidCompleteTask(request, task, error))
    }
    public func requestIsRetrying(_ request: Request) { receive(.requestIsRetrying(request)) }
    public func requestDidFinish(_ request: Request) { receive(.requestDidFinish(request)) }
    public func requestDidResume(_ request: Request) { receive(.requestDidResume(request)) }
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        receive(.requestDidResumeTask(request, task))
    }
    public func requestDidSuspend(_ request: Request) { receive(.requestDidSuspend(request)) }
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        receive(.requestDidSuspendTask(request, task))
    }
    public func requestDidCancel(_ request: Request) { receive(.requestDidCancel(request)) }
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        receive(.requestDidCancelTask(request, task))
    }
    public func request(_ request: Request, didReceiveInformationalResponse response: HTTPURLResponse) {
        receive(.requestDidReceiveInformationalResponse(request, response))
    }
    public func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    ) {
        receive(.requestDidValidate(request, urlRequest, response, .data(data), result))
    }
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        receive(.requestDidParse(request, .init(request, unserialized: response)))
    }
    public func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {
        receive(.requestDidParse(request, .init(request, response)))
    }
    public func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        receive(.requestDidValidate(request, urlRequest, response, .stream, result))
    }
    public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
        receive(.requestDidParse(request, .init(request, result)))
    }
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        receive(.requestDidCreateUploadable(request, uploadable))
    }
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        receive(.requestDidFailToCreateUploadable(request, error))
    }
    public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        receive(.requestDidProvideInputStream(request, stream))
    }
    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        receive(.requestDidFinishDownloading(request, task, result))
    }
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        receive(.requestDidCreateDestinationURL(request, url))
    }
    public func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    ) {
        receive(.requestDidValidate(request, urlRequest, response, .file(fileURL), result))
    }
    public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        receive(.requestDidParse(request, .init(request, unserialized: response)))
    }
    public func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {
        receive(.requestDidParse(request, .init(request, response)))
    }
}

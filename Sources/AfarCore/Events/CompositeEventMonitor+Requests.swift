public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// What is told of requests.
extension CompositeEventMonitor {
    // MARK: All requests

    /// Tells all monitors.
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        perform { $0.request(request, didCreateInitialURLRequest: urlRequest) }
    }

    /// Tells all monitors.
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        perform { $0.request(request, didFailToCreateURLRequestWithError: error) }
    }

    /// Tells all monitors.
    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        perform { $0.request(request, didAdaptInitialRequest: initialRequest, to: adaptedRequest) }
    }

    /// Tells all monitors.
    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        perform { $0.request(request, didFailToAdaptURLRequest: initialRequest, withError: error) }
    }

    /// Tells all monitors.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        perform { $0.request(request, didCreateURLRequest: urlRequest) }
    }

    /// Tells all monitors.
    public func request(_ request: Request, didCreateTask task: URLSessionTask) {
        perform { $0.request(request, didCreateTask: task) }
    }

    /// Tells all monitors.
    public func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        perform { $0.request(request, didGatherMetrics: metrics) }
    }

    /// Tells all monitors.
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        perform { $0.request(request, didFailTask: task, earlyWithError: error) }
    }

    /// Tells all monitors.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        perform { $0.request(request, didCompleteTask: task, with: error) }
    }

    /// Tells all monitors.
    public func requestIsRetrying(_ request: Request) {
        perform { $0.requestIsRetrying(request) }
    }

    /// Tells all monitors.
    public func requestDidFinish(_ request: Request) {
        perform { $0.requestDidFinish(request) }
    }

    /// Tells all monitors.
    public func requestDidResume(_ request: Request) {
        perform { $0.requestDidResume(request) }
    }

    /// Tells all monitors.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        perform { $0.request(request, didResumeTask: task) }
    }

    /// Tells all monitors.
    public func requestDidSuspend(_ request: Request) {
        perform { $0.requestDidSuspend(request) }
    }

    /// Tells all monitors.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        perform { $0.request(request, didSuspendTask: task) }
    }

    /// Tells all monitors.
    public func requestDidCancel(_ request: Request) {
        perform { $0.requestDidCancel(request) }
    }

    /// Tells all monitors.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        perform { $0.request(request, didCancelTask: task) }
    }

    // MARK: Data requests

    /// Tells all monitors.
    public func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    ) {
        perform {
            $0.request(request, didValidateRequest: urlRequest, response: response, data: data, withResult: result)
        }
    }

    /// Tells all monitors.
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        perform { $0.request(request, didParseResponse: response) }
    }

    /// Tells all monitors.
    public func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {
        perform { $0.request(request, didParseResponse: response) }
    }

    // MARK: Streams

    /// Tells all monitors.
    public func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        perform { $0.request(request, didValidateRequest: urlRequest, response: response, withResult: result) }
    }

    /// Tells all monitors.
    public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
        perform { $0.request(request, didParseStream: result) }
    }

    // MARK: Uploads

    /// Tells all monitors.
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        perform { $0.request(request, didCreateUploadable: uploadable) }
    }

    /// Tells all monitors.
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        perform { $0.request(request, didFailToCreateUploadableWithError: error) }
    }

    /// Tells all monitors.
    public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        // Handed through, not used.
        nonisolated(unsafe) let stream = stream
        perform { $0.request(request, didProvideInputStream: stream) }
    }

    // MARK: Downloads

    /// Tells all monitors.
    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        perform { $0.request(request, didFinishDownloadingUsing: task, with: result) }
    }

    /// Tells all monitors.
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        perform { $0.request(request, didCreateDestinationURL: url) }
    }

    /// Tells all monitors.
    public func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    ) {
        perform {
            $0.request(
                request, didValidateRequest: urlRequest, response: response, fileURL: fileURL, withResult: result)
        }
    }

    /// Tells all monitors.
    public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        perform { $0.request(request, didParseResponse: response) }
    }

    /// Tells all monitors.
    public func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {
        perform { $0.request(request, didParseResponse: response) }
    }
}

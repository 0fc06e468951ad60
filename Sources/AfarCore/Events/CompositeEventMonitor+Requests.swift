public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The events of requests.
extension CompositeEventMonitor {
    // MARK: All requests

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        perform { $0.request(request, didCreateInitialURLRequest: urlRequest) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        perform { $0.request(request, didFailToCreateURLRequestWithError: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        perform { $0.request(request, didAdaptInitialRequest: initialRequest, to: adaptedRequest) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        perform { $0.request(request, didFailToAdaptURLRequest: initialRequest, withError: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        perform { $0.request(request, didCreateURLRequest: urlRequest) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didCreateTask task: URLSessionTask) {
        perform { $0.request(request, didCreateTask: task) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        perform { $0.request(request, didGatherMetrics: metrics) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        perform { $0.request(request, didFailTask: task, earlyWithError: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        perform { $0.request(request, didCompleteTask: task, with: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func requestIsRetrying(_ request: Request) {
        perform { $0.requestIsRetrying(request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func requestDidFinish(_ request: Request) {
        perform { $0.requestDidFinish(request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func requestDidResume(_ request: Request) {
        perform { $0.requestDidResume(request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        perform { $0.request(request, didResumeTask: task) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func requestDidSuspend(_ request: Request) {
        perform { $0.requestDidSuspend(request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        perform { $0.request(request, didSuspendTask: task) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func requestDidCancel(_ request: Request) {
        perform { $0.requestDidCancel(request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        perform { $0.request(request, didCancelTask: task) }
    }

    // MARK: Data requests

    /// Forwards the event to each monitor, on its queue.
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

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        perform { $0.request(request, didParseResponse: response) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {
        perform { $0.request(request, didParseResponse: response) }
    }

    // MARK: Streams

    /// Forwards the event to each monitor, on its queue.
    public func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        perform { $0.request(request, didValidateRequest: urlRequest, response: response, withResult: result) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
        perform { $0.request(request, didParseStream: result) }
    }

    // MARK: Uploads

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        perform { $0.request(request, didCreateUploadable: uploadable) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        perform { $0.request(request, didFailToCreateUploadableWithError: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        // Only forwarded, not used.
        nonisolated(unsafe) let stream = stream
        perform { $0.request(request, didProvideInputStream: stream) }
    }

    // MARK: Downloads

    /// Forwards the event to each monitor, on its queue.
    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        perform { $0.request(request, didFinishDownloadingUsing: task, with: result) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        perform { $0.request(request, didCreateDestinationURL: url) }
    }

    /// Forwards the event to each monitor, on its queue.
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

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        perform { $0.request(request, didParseResponse: response) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {
        perform { $0.request(request, didParseResponse: response) }
    }
}

extension CompositeEventMonitor {
    /// Forwards a serialized response with a value of any type.
    func request<Value>(_ request: DataRequest, didSerialize response: DataResponse<Value, AFError>) {
        func notify<Assumed: Sendable>(_ type: Assumed.Type) {
            guard let response = response as? DataResponse<Assumed, AFError> else { return }
            self.request(request, didParseResponse: response)
        }
        notify(assumedSendable(Value.self))
    }

    /// Forwards a serialized download with a value of any type.
    func request<Value>(_ request: DownloadRequest, didSerialize response: DownloadResponse<Value, AFError>) {
        func notify<Assumed: Sendable>(_ type: Assumed.Type) {
            guard let response = response as? DownloadResponse<Assumed, AFError> else { return }
            self.request(request, didParseResponse: response)
        }
        notify(assumedSendable(Value.self))
    }
}

/// Returns a type as if it were `Sendable`.
///
/// The monitors' generic methods require `Sendable` values, but serializers produce values of any type. `Sendable` doesn't exist
/// at run time: both types have the same representation, which makes the cast safe. See ``EventMonitor`` for what a monitor can
/// do with a value that isn't really sendable.
private func assumedSendable(_ type: Any.Type) -> any Sendable.Type {
    unsafeBitCast(type, to: (any Sendable.Type).self)
}

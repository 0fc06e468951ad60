public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The events of requests.
extension LoggingMonitor {
    // MARK: Life cycle

    /// Logs the event at ``Level/debug``.
    public func requestDidResume(_ request: Request) { note(request, "resumed") }
    /// Logs the event at ``Level/debug``.
    public func requestDidSuspend(_ request: Request) { note(request, "suspended") }
    /// Logs the event at ``Level/debug``.
    public func requestDidCancel(_ request: Request) { note(request, "cancelled") }
    /// Logs the event at ``Level/debug``.
    public func requestIsRetrying(_ request: Request) { note(request, "tried again") }
    /// Logs the outcome of the request at ``Level/info``.
    public func requestDidFinish(_ request: Request) { conclude(request) }

    // MARK: Creating the request

    /// Logs the event at ``Level/debug``.
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        note(request, "body made: \(uploadable.words)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        note(request, "no body: \(error)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        note(request, "URLRequest made: \(urlRequest.line)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        note(request, "no URLRequest: \(error)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        note(request, "adapted: \(adaptedRequest.line)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        note(request, "not adapted: \(error)")
    }

    /// Logs the `URLRequest` with its headers at ``Level/debug``.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        note(request, "sent: \(urlRequest.line)", lines(urlRequest.headers, of: request, after: ">"))
    }

    // MARK: Completion

    /// Logs the metrics at ``Level/debug``.
    public func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        note(request, "measured: \(metrics.summary)", metrics.transactionMetrics.map { "* \($0)" })
    }

    /// Logs the event at ``Level/debug``.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        note(request, error.map { "attempt over: \($0)" } ?? "attempt over")
    }

    /// Logs the event at ``Level/debug``.
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        note(request, "attempt given up: \(error)")
    }

    // MARK: Validation

    /// Logs a failed validation at ``Level/debug``.
    public func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    ) {
        noteValidation(of: request, result)
    }

    /// Logs a failed validation at ``Level/debug``.
    public func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        noteValidation(of: request, result)
    }

    /// Logs a failed validation at ``Level/debug``.
    public func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    ) {
        noteValidation(of: request, result)
    }

    private func noteValidation(of request: Request, _ result: Request.ValidationResult) {
        if case .failure(let error) = result { note(request, "not accepted: \(error.cause)") }
    }

    // MARK: Responses

    /// Logs a failed serialization at ``Level/info``, a successful one at ``Level/debug``.
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        noteSerialization(of: request, response.result)
    }

    /// Logs a failed serialization at ``Level/info``, a successful one at ``Level/debug``.
    public func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {
        noteSerialization(of: request, response.result)
    }

    /// Logs a failed serialization at ``Level/info``, a successful one at ``Level/debug``.
    public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        noteSerialization(of: request, response.result)
    }

    /// Logs a failed serialization at ``Level/info``, a successful one at ``Level/debug``.
    public func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {
        noteSerialization(of: request, response.result)
    }

    /// Logs a failed serialization at ``Level/info``.
    public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
        guard case .failure = result else { return }
        noteSerialization(of: request, result)
    }

    /// Logs only the type of the value, because the handler may be using the value.
    private func noteSerialization<Value>(of request: Request, _ result: AFResult<Value>) {
        switch result {
        case .success: note(request, "serialized as \(Value.self)")
        // Earlier errors have already been logged.
        case .failure(let error) where request.error == nil: conclude(request, failingWith: error)
        case .failure: break
        }
    }

    // MARK: Downloads

    /// Logs the event at ``Level/debug``.
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        note(request, "destination: \(url.path)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        switch result {
        case .success(let url): note(request, "file at \(url.path)")
        case .failure(let error): note(request, "no file: \(error)")
        }
    }
}

extension UploadRequest.Uploadable {
    /// A description of the body for the log.
    fileprivate var words: String {
        switch self {
        case .data(let data): Quantity.bytes(Int64(data.count))
        case .file(let url, _): "the file \(url.path)"
        case .stream, .chunks: "a stream"
        }
    }
}

/// The events of tasks.
extension LoggingMonitor {
    /// Logs the response's head at ``Level/debug``.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let request = dataTask.afarRequest
        note(
            request, "answered \(response.statusCode)",
            lines(response.headers.sorted(), of: request, after: "<"))
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        note(task.afarRequest, "redirected by \(response.statusCode) to \(request.line)")
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        note(task.afarRequest, "asked for credentials (\(challenge.protectionSpace.authenticationMethod))")
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        note(task.afarRequest, "waits for a network")
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        note(downloadTask.afarRequest, "goes on after \(Quantity.bytes(fileOffset))")
    }
}

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A type that observes the events of all requests of a session (`eventMonitors` of its initializer), or of one request
/// (``Request/eventMonitor(_:)``).
///
/// Every method has a default implementation that ignores the event. Implement the methods for the events that you want to
/// observe. The methods are called on the monitor's ``queue``, in the order of the events. The request doesn't wait for the
/// methods, so it might have progressed further by the time a method is called.
///
/// A successful attempt of a ``DataRequest`` has the following events, in this order. Events in brackets don't occur for every
/// request.
///
/// 1. `requestDidResume`, `didCreateInitialURLRequest`, [`didAdaptInitialRequest`, `didCreateUploadable`], `didCreateURLRequest`,
///   `didCreateTask`, `didResumeTask`
/// 2. [`taskIsWaitingForConnectivity`, `taskNeedsNewBodyStream`, `didProvideInputStream`, `didSendBodyData`],
///   [`didReceiveInformationalResponse`, `willPerformHTTPRedirection`, `didReceive challenge`], `dataTask:didReceive response`,
///   `dataTask:didReceive data`
/// 3. `didFinishCollecting`, `didGatherMetrics`, `task:didCompleteWithError`, [`didValidateRequest` for each validator],
///   `request:didCompleteTask`
/// 4. [`requestIsRetrying`, then the same events again from step 1, without `requestDidResume`], `requestDidFinish`,
///   `didParseResponse` for each handler
///
/// A ``DownloadRequest`` has `didResumeAtOffset`, `didWriteData` and `didFinishDownloadingTo` instead of the `dataTask:`
/// methods. It also has `didCreateDestinationURL` and `didFinishDownloadingUsing` when its file is moved.
///
/// The methods receive Foundation's tasks. With any transport, each attempt has one task. See ``Request/tasks``. The `URLSession`
/// is always `URLSession.shared`, a placeholder that the signatures require.
public protocol EventMonitor: Sendable {
    /// The queue on which the methods are called. The default is the main queue. While the main thread is blocked, no methods
    /// are called. A concurrent queue doesn't preserve the order of events.
    var queue: DispatchQueue { get }

    /// Receives every event. The default implementation calls the method that corresponds to the event. If you implement this
    /// method, the other methods are called only if you call ``callMethod(for:)``.
    func receive(_ event: RequestEvent)

    // MARK: Sessions

    /// Called when a session was invalidated or released. If it was released, the error is nil.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    // MARK: Tasks

    /// Called when a server requests credentials (401), with any scheme. Challenges by proxies and challenges about certificates
    /// aren't reported.
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)

    /// Called when bytes of a body were sent. Receives the number of bytes since the last call, the total number, and the
    /// expected total (−1 if unknown).
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)

    /// Called when an attempt is about to read the input stream that is its body.
    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask)

    /// Called when a redirect is about to be followed.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest)

    /// Called with the metrics of an attempt. Their type is ``TaskMetrics``, because only Foundation can create
    /// `URLSessionTaskMetrics`.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TaskMetrics)

    /// Never called, because only Foundation can create these metrics. Implement the method that takes ``TaskMetrics``.
    @available(*, deprecated, message: "This method is never called. Implement the one with TaskMetrics.")
    @UseTaskMetrics
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// Called when the network activity of an attempt has ended, with the network error if it failed.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)

    /// Called when a task begins to wait for a network (``SessionConfiguration/waitsForConnectivity``), before anything is sent.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    // MARK: Data tasks

    /// Called when the head of a response has arrived.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse)

    /// Called when bytes of a response's body have arrived. If the body is held in memory, this method is called once with the
    /// whole body. If the body is streamed, the method is called for each chunk.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// Called when the session's cache is about to store a response. A cached-response handler can still prevent this.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse)

    // MARK: Download tasks

    /// Called when a download resumes an earlier download. Receives the offset in bytes and the expected total (−1 if unknown).
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)

    /// Called when bytes were written. Receives the number of bytes since the last call, the total number, and the expected
    /// total (−1 if unknown). The totals include the bytes of a resumed part.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64)

    /// Called when a download is complete in a temporary file. By the time this method is called, the file might have been
    /// moved.
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    // MARK: All requests

    /// Called when an attempt's `URLRequest` was created, before the adapters run.
    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest)

    /// Called when an attempt's `URLRequest` couldn't be created.
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError)

    /// Called when the adapters have changed an attempt's `URLRequest`.
    func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest)

    /// Called when an adapter failed.
    func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)

    /// Called when an attempt's final `URLRequest` was created.
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest)

    /// Called when an attempt's task was created, right before the attempt is sent.
    func request(_ request: Request, didCreateTask task: URLSessionTask)

    /// Called with the metrics of an attempt. Their type is ``TaskMetrics``, because only Foundation can create
    /// `URLSessionTaskMetrics`.
    func request(_ request: Request, didGatherMetrics metrics: TaskMetrics)

    /// Never called, because only Foundation can create these metrics. Implement the method that takes ``TaskMetrics``.
    @available(*, deprecated, message: "This method is never called. Implement the one with TaskMetrics.")
    @UseTaskMetrics
    func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics)

    /// Called when an attempt failed for a reason other than a network error.
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError)

    /// Called when an attempt has ended and was validated.
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?)

    /// Called when the request is about to be retried.
    func requestIsRetrying(_ request: Request)

    /// Called when the last attempt has ended, before the serializers run.
    func requestDidFinish(_ request: Request)

    /// Called when the request was resumed.
    func requestDidResume(_ request: Request)

    /// Called when an attempt's task was resumed: when it is sent, and when its request is resumed.
    func request(_ request: Request, didResumeTask task: URLSessionTask)

    /// Called when the request was suspended.
    func requestDidSuspend(_ request: Request)

    /// Called when an attempt's task was suspended with its request.
    func request(_ request: Request, didSuspendTask task: URLSessionTask)

    /// Called when the request was canceled.
    func requestDidCancel(_ request: Request)

    /// Called when an attempt's task was canceled with its request.
    func request(_ request: Request, didCancelTask task: URLSessionTask)

    /// Called for each informational (1xx) response, for example 103 (Early Hints; RFC 8297).
    func request(_ request: Request, didReceiveInformationalResponse response: HTTPURLResponse)

    // MARK: Data requests

    /// Called when a validator has validated a response.
    func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult)

    /// Called when a response was created for a handler without a serializer.
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>)

    /// Called when a serializer created the response for a handler. The value can be of any type. If its type isn't `Sendable`,
    /// don't access the value's contents, because the handler might be using the value.
    func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)

    // MARK: Streams

    /// Called when a validator has validated a response's head.
    func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult)

    /// Called when a serializer has processed a chunk.
    func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)

    // MARK: Uploads

    /// Called when the body was created.
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable)

    /// Called when the body couldn't be created.
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError)

    /// Called when the body is an input stream that is about to be read. Don't use the stream.
    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream)

    // MARK: Downloads

    /// Called when a download's file is at its final location, or couldn't be moved there.
    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>)

    /// Called when the destination of a download's file was determined. Without a destination, the URL is the file's current
    /// location.
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL)

    /// Called when a validator has validated a response.
    func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult)

    /// Called when a response was created for a handler without a serializer.
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>)

    /// Called when a serializer created the response for a handler. The value can be of any type. If its type isn't `Sendable`,
    /// don't access the value's contents, because the handler might be using the value.
    func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
}

// MARK: - Warnings about unused methods

/// A result builder that makes the compiler warn about methods that are never called: the ``EventMonitor`` methods that take
/// Foundation's `URLSessionTaskMetrics`. In your implementation, replace that type with ``TaskMetrics``.
///
/// A method that implements a protocol requirement inherits the requirement's result builder. The compiler warns because the
/// methods of this builder are deprecated.
///
/// The compiler reports an error that names this type for each statement that result builders don't support: `break`,
/// `continue`, `fallthrough`, `guard`, `while`, `repeat`, `do` with `catch`, `defer`, and local types, type aliases and
/// functions.
///
/// The compiler doesn't warn about:
/// - a body with a `return` outside closures, regardless of what else it contains
/// - a body that is empty or only declares constants and variables
/// - a method outside the type or extension that declares the conformance, such as one in a subclass of ``ClosureEventMonitor``
@resultBuilder
public enum UseTaskMetrics {
    /// Allows an empty method without a warning.
    public static func buildBlock() {}

    /// Makes the compiler warn about a method that isn't empty.
    @available(*, deprecated, message: "This method is never called. Replace URLSessionTaskMetrics with TaskMetrics.")
    public static func buildBlock<each Part>(_ part: repeat each Part) {}

    /// Allows an `if` without an `else`.
    public static func buildOptional(_ part: Void?) {}

    /// Allows an `if` with an `else`, and a `switch`.
    public static func buildEither(first part: Void) {}

    /// Allows an `if` with an `else`, and a `switch`.
    public static func buildEither(second part: Void) {}

    /// Allows a `for` loop.
    public static func buildArray(_ parts: [Void]) {}

    /// Allows `#available`.
    public static func buildLimitedAvailability(_ part: Void) {}
}
